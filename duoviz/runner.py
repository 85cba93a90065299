"""Runs methods on prompts: one run as a stream of events, and many runs in alternation."""

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

import torch

from duoviz.decoding import METHODS, overlap
from duoviz.decoding.budget import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.calibration import doubt_costs
from duoviz.decoding.datastore import DatastoreError
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.cores import on_cores
from duoviz.models.loading import ModelUnavailable
from duoviz.models.pair import Pair
from duoviz.models.prompt import PromptError
from duoviz.models.registry import UnknownPair
from duoviz.outside import in_short
from duoviz.trace.metrics import metrics
from duoviz.trace.record import Recorder
from duoviz.trace.schema import SCHEMA_VERSION
from duoviz.version import VERSION


class LaneFailed(RuntimeError):
    """A method of a comparison could not go on; the message is a sentence for the user."""


# What a user's mistake, a model or datastore that cannot be had or a draft that died raise; the messages are sentences.
USER_ERRORS = (DatastoreError, DraftDied, LaneFailed, ModelUnavailable, PromptError, SettingsError, UnknownPair)

# A warm-up loads and measures what the runs after it use; it need not write a whole text.
WARMUP_TOKENS = 16


def check_method(method: object) -> None:
    """Raise SettingsError unless the method exists."""
    if not isinstance(method, str) or method not in METHODS:
        raise SettingsError(f"There is no method named {in_short(method)}; there are: {', '.join(METHODS)}.")


def target_cores(pair: Pair, method: str, settings: Settings) -> tuple[int, ...]:
    """The cores that the target computes on in this run."""
    on_its_share = settings.cores == "target" or works_beside(pair, method, settings)
    return pair.cores.target if on_its_share else pair.cores.all


def works_beside(pair: Pair, method: str, settings: Settings) -> bool:
    """Whether the draft works beside the target in this run. Raises DraftDied."""
    both_ways = "overlap" in METHODS[method].settings
    return overlap.works_beside(pair, settings) if both_ways else METHODS[method].parallel


def prepare(pair: Pair, method: str, settings: Settings = Settings()) -> CostModel | None:
    """Start the draft and measure the costs, where the method needs them. Raises DraftDied."""
    if not METHODS[method].draft:
        return None
    return overlap.costs_of(pair, settings, beside=works_beside(pair, method, settings))


def refine(pair: Pair, method: str, settings: Settings = Settings(), *, stopped: Callable[[], bool] = bool) -> bool:
    """Measure a method's costs once more where they rest on too few calibrations; whether they did.

    Raises DraftDied, and Stopped where `stopped` says so.
    """
    if not METHODS[method].draft:
        return False
    ways = {works_beside(pair, method, settings)}
    if "overlap" in METHODS[method].settings and overlap.is_open(pair, settings):
        ways = {True, False}
    return any(overlap.refine(pair, settings, beside=beside, stopped=stopped) for beside in ways)


def settle(
    pair: Pair, methods: Iterable[str], settings: Settings = Settings(), *, stopped: Callable[[], bool] = bool
) -> None:
    """Refine the costs of these methods as far as they are, before runs that are compared.

    Raises DraftDied, and Stopped where `stopped` says so.
    """
    for method in methods:
        while refine(pair, method, settings, stopped=stopped):
            pass


def stream(
    pair: Pair,
    method: str,
    prompt: str,
    settings: Settings,
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
) -> Iterator[dict]:
    """One run as events: `header`, `iteration` … and `end`; see the trace schema.

    Closing the generator ends the run. All of it happens in the calling thread, which must be the
    same from the first event to the last. A draft that dies ends the run with `stopped: error`.
    before: the conversation's earlier turns, as (what the user said, the answer).
    Raises PromptError and SettingsError before the first event.
    """
    check_method(method)
    prompt_ids = pair.encode(prompt, raw=raw, before=before)
    costs = prepare(pair, method, settings)
    cores = target_cores(pair, method, settings)
    # A method that cannot run on this pair says so here, before the first event.
    run = METHODS[method].decode(pair, prompt_ids, settings)
    beside = works_beside(pair, method, settings)
    first = header(pair, method, prompt, prompt_ids, settings, raw, costs, cores, beside)
    yield {"type": "header", "header": first | ({"before": list(before)} if before else {})}
    iterations, message = [], None
    submitted = time.perf_counter()
    recorder = Recorder(pair.tokenizer, submitted)
    stopped = factors = None
    with on_cores(cores):
        try:
            for each in run:
                iterations.append(recorder.iteration(each))
                stopped, factors = each.stop, each.factors
                yield {"type": "iteration", "iteration": iterations[-1]}
            if factors:
                doubt_costs(pair, factors, in_turn=not beside)
        except DraftDied as error:
            stopped, message = "error", str(error)
        except Stopped:
            stopped = "stopped"
    yield {"type": "end", "end": end(iterations, stopped, message)}


def end(iterations: list[dict], stopped: str, message: str | None = None) -> dict:
    """The trace's last part."""
    text = "".join(token["text"] for each in iterations for token in each["committed"])
    wall = iterations[-1]["sync"] if iterations else 0.0
    return {"stopped": stopped, "wall": wall, "text": text} | ({"message": message} if message else {})


def header(
    pair: Pair,
    method: str,
    prompt: str,
    prompt_ids: list[int],
    settings: Settings,
    raw: bool,
    costs: CostModel | None,
    cores: tuple[int, ...],
    beside: bool,
) -> dict:
    """The trace's header; beside: whether the draft works beside the target."""
    target = {"name": pair.target.label, "device": pair.target_device_label(cores), "precision": pair.target.precision}
    return {
        "schema": SCHEMA_VERSION,
        "method": method,
        "about": METHODS[method].described(),
        "pair": pair.name,
        "target": target,
        "draft": draft_header(pair, method, target["device"], beside),
        "can_overlap": beside and pair.cores.can_overlap,
        "settings": {**asdict(settings), "raw": raw},
        "prompt": prompt,
        "prompt_tokens": len(prompt_ids),
        "calibration": calibration(costs) if costs else None,
        "versions": versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def draft_header(pair: Pair, method: str, target_device: str, beside: bool) -> dict | None:
    """The draft's part of the header, None for methods without one."""
    if beside:
        return {"name": pair.draft.label, "device": pair.draft_device_label(), "precision": pair.draft.precision}
    if METHODS[method].draft:
        model = draft_in_turn(pair).loop.model
        return {"name": model.label, "device": target_device, "precision": model.precision}
    return None


def calibration(costs: CostModel) -> dict:
    """The cost model at the shorter context, as (rows, seconds) and (k, seconds)."""
    return {
        "context": CONTEXTS[0],
        "target": [[rows, round(t, 6)] for rows, t in zip(ROW_COUNTS, costs.target[0], strict=True)],
        "draft": [[k, round(t, 6)] for k, t in enumerate(costs.draft[0], 1)],
    }


def versions() -> dict:
    return {
        "duoviz": VERSION,
        "torch": torch.__version__,
        "numba": version("numba"),
        "transformers": version("transformers"),
        "python": platform.python_version(),
    }


def new_trace() -> dict:
    """A trace before its first event."""
    return {"header": None, "iterations": [], "end": None}


def add_event(trace: dict, event: dict) -> None:
    """Add one event of `stream` to the trace."""
    if event["type"] == "iteration":
        trace["iterations"].append(event["iteration"])
    else:
        trace[event["type"]] = event[event["type"]]


def collect(events: Iterator[dict], *, stopped: Callable[[], bool] = bool) -> dict:
    """The trace of a whole run. Raises Stopped where `stopped` says so before its end."""
    trace = new_trace()
    with closing(events):
        for event in events:
            add_event(trace, event)
            if event["type"] != "end" and stopped():
                raise Stopped
    return trace


def summary(trace: dict) -> dict:
    """What `--json` prints and the page's endpoint ends with: text, token ids, settings, metrics."""
    ids = [token["id"] for each in trace["iterations"] for token in each["committed"]]
    settings = {"method": trace["header"]["method"], "pair": trace["header"]["pair"], **trace["header"]["settings"]}
    result = {
        "text": "".join(token["text"] for each in trace["iterations"] for token in each["committed"]),
        "token_ids": ids,
        "stopped": trace["end"]["stopped"],
        "settings": settings,
        "metrics": metrics(trace),
    }
    return result | ({"message": trace["end"]["message"]} if "message" in trace["end"] else {})


class Lane(NamedTuple):
    """What is compared: a method with its settings, under a name."""

    name: str
    method: str
    settings: Settings


def lanes(methods: Sequence[str], settings: Settings) -> list[Lane]:
    """Both baselines of φ, vanilla on all cores and on the target's, and the methods asked for."""
    baselines = [Lane("vanilla", "vanilla", replace(settings, cores=cores)) for cores in ("all", "target")]
    return baselines + [Lane(method, method, settings) for method in methods if method != "vanilla"]


def conversation(pair: Pair, lane: Lane, turns: Sequence[str], *, stopped: Callable[[], bool] = bool) -> list[dict]:
    """A lane's answers to the turns of one conversation, as traces; each turn is asked with the answers before it.

    Raises DraftDied, Stopped where `stopped` says so, and what `stream` raises.
    """
    if not turns:
        raise PromptError("The question is empty: it has no turns.")
    traces: list[dict] = []
    for turn in turns:
        before = [(said, trace["end"]["text"]) for said, trace in zip(turns, traces, strict=False)]
        trace = collect(stream(pair, lane.method, turn, lane.settings, before=before), stopped=stopped)
        if trace["end"]["stopped"] == "stopped":
            raise Stopped
        if trace["end"]["stopped"] == "error":
            raise DraftDied(trace["end"]["message"])
        traces.append(trace)
    return traces


def race(
    pair: Pair, prompts: Sequence[str], lanes: Sequence[Lane], *, repeats: int = 1, warmups: int = 1, raw: bool = False
) -> Iterator[dict]:
    """Run every lane on every prompt `repeats` times, each run alone, and yield their events (see `stream`).

    Each event also says its `lane` (the name) and its `repeat` (from 0; None in a warm-up, a short
    run). Rounds take the lanes in alternated order, so that no method always runs after the same one.
    A lane that cannot run gives the event `error` with its `message`, one whose draft died ends with it;
    neither runs again, and the others go on. A run that is stopped is the last.
    """
    for lane in lanes:
        check_method(lane.method)
        # Where this cannot be done, the lane's first run says so.
        with suppress(*USER_ERRORS):
            prepare(pair, lane.method, lane.settings)
    failed = set()
    rounds = [(None, prompts[0])] * warmups + [(repeat, prompt) for prompt in prompts for repeat in range(repeats)]
    for number, (repeat, prompt) in enumerate(rounds, -warmups):
        for lane in lanes if number % 2 == 0 else reversed(lanes):
            if lane.name in failed:
                continue
            settings = short(lane.settings) if repeat is None else lane.settings
            with closing(errors_as_events(stream(pair, lane.method, prompt, settings, raw=raw))) as events:
                for event in events:
                    yield event | {"lane": lane.name, "repeat": repeat}
            if event["type"] == "error" or event["end"]["stopped"] == "error":
                failed.add(lane.name)
            elif event["end"]["stopped"] == "stopped":
                return


def short(settings: Settings) -> Settings:
    return replace(settings, max_new_tokens=min(WARMUP_TOKENS, settings.max_new_tokens))


def errors_as_events(events: Iterator[dict]) -> Iterator[dict]:
    """The events; what keeps a run from beginning is one too."""
    try:
        yield from events
    except USER_ERRORS as error:
        yield {"type": "error", "message": str(error)}


def compare(
    pair: Pair, prompts: Sequence[str], lanes: Sequence[Lane], *, repeats: int = 1, warmups: int = 1, raw: bool = False
) -> Iterator[dict]:
    """The rows of a `race`, each as its run ends; warm-ups give none. Raises LaneFailed."""
    trace = new_trace()
    for event in race(pair, prompts, lanes, repeats=repeats, warmups=warmups, raw=raw):
        if event["type"] == "header":
            trace = new_trace()
        if event["type"] == "error":
            raise LaneFailed(f"{event['lane']}: {event['message']}")
        add_event(trace, event)
        if event["type"] == "end" and event["end"]["stopped"] == "error":
            raise LaneFailed(f"{event['lane']}: {event['end']['message']}")
        if event["type"] == "end" and event["repeat"] is not None:
            yield row(trace, event["lane"], event["repeat"])


def row(trace: dict, lane: str, repeat: int) -> dict:
    """One run of a comparison: prompt, method (the lane's name), cores, repeat, its summary and the trace."""
    header = trace["header"]
    about = {"prompt": header["prompt"], "method": lane, "cores": header["settings"]["cores"], "repeat": repeat}
    return {**about, **summary(trace), "trace": trace}
