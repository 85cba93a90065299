"""Runs methods on prompts: one run as a stream of events, and many runs in alternation."""

import platform
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple, cast

import torch

from duoviz.decoding import METHODS
from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.datastore import DatastoreError
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import Stopped
from duoviz.decoding.loop import decode
from duoviz.decoding.plan import RunPlan, make_plan, way_of
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.decoding.worker.inline import InlineDraft
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.disturbance import busy_words
from duoviz.models.cores import on_cores
from duoviz.models.progress import ModelUnavailable
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
        raise SettingsError(f"There is no method named {in_short(method)}: choose one of {', '.join(METHODS)}.")


def prepare(engine: Engine, method: str, settings: Settings = Settings()) -> None:
    """Start the draft and measure the costs, where the method needs them. Raises DraftDied."""
    if METHODS[method].draft:
        way = way_of(engine, METHODS[method], settings)
        engine.draft(beside=way.beside)
        engine.known_costs(way)


def stream(
    engine: Engine,
    method: str,
    prompt: str,
    settings: Settings,
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
    stopped: Callable[[], bool] = bool,
) -> Iterator[dict]:
    """One run as events: `header`, `iteration` … and `end`; see the trace schema.

    Closing the generator ends the run, and so does `stopped`, also in a long forward or wait. All of it happens in
    the calling thread, which must be the same from the first event to the last. A draft that dies ends the run with
    `stopped: error`. before: the conversation's earlier turns, as (what the user said, the answer).
    Raises PromptError, SettingsError, DatastoreError and DraftDied before the first event.
    """
    check_method(method)
    plan = make_plan(engine, METHODS[method], prompt, settings, raw=raw, before=before, stopped=stopped)
    yield {"type": "header", "header": header(plan)}
    iterations, reason, message = [], None, None
    recorder = Recorder(engine.pair.tokenizer, time.perf_counter())
    with on_cores(plan.way.cores):
        try:
            for iteration in decode(plan):
                iterations.append(recorder.iteration(iteration))
                reason = iteration.stop
                yield {"type": "iteration", "iteration": iterations[-1]}
        except DraftDied as error:
            reason, message = "error", str(error)
        except Stopped:
            reason = "stopped"
    for way in {plan.way, plan.other or plan.way, plan.alone}:
        engine.keep_costs(way)
    if reason not in ("error", "stopped"):
        message = busy_words(plan.costs.target)
    yield {"type": "end", "end": end(iterations, reason, message)}


def end(iterations: list[dict], stopped: str | None, message: str | None = None) -> dict:
    """The trace's last part."""
    text = "".join(token["text"] for iteration in iterations for token in iteration["committed"])
    wall = iterations[-1]["sync"] if iterations else 0.0
    return {"stopped": stopped, "wall": wall, "text": text} | ({"message": message} if message else {})


def header(plan: RunPlan) -> dict:
    """The trace's header."""
    pair, method = plan.pair, plan.method
    device = pair.target_device_label(plan.way.cores)
    return {
        "schema": SCHEMA_VERSION,
        "method": method.id,
        "about": method.described(),
        "pair": pair.name,
        "target": {"name": pair.target.label, "device": device, "precision": pair.target.precision},
        "draft": draft_header(plan, device),
        "can_overlap": plan.way.beside and pair.cores.can_overlap,
        "settings": {**asdict(plan.settings), "raw": plan.raw},
        "prompt": plan.prompt,
        "prompt_tokens": len(plan.prompt_ids),
        "calibration": calibration(plan.costs.model) if plan.draft else None,
        "versions": versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    } | ({"before": list(plan.before)} if plan.before else {})


def draft_header(plan: RunPlan, target_device: str) -> dict | None:
    """The draft's part of the header, None for methods without one."""
    if plan.draft is None:
        return None
    if plan.way.beside:
        draft = plan.pair.draft
        return {"name": draft.label, "device": plan.pair.draft_device_label(), "precision": draft.precision}
    model = cast(InlineDraft, plan.draft).model
    return {"name": model.label, "device": target_device, "precision": model.precision}


def calibration(costs: CostModel) -> dict:
    """The cost model at the shorter context, as (rows, seconds) and (k, seconds)."""
    return {
        "context": CONTEXTS[0],
        "target": [[rows, round(t, 6)] for rows, t in zip(ROW_COUNTS, costs.target[0], strict=True)],
        "draft": [[k, round(t, 6)] for k, t in enumerate(costs.draft[0], 1)],
    }


def versions() -> dict:
    """Of what a run's figures depend on."""
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


def collect(events: Iterator[dict]) -> dict:
    """The trace of a complete run."""
    trace = new_trace()
    for event in events:
        add_event(trace, event)
    return trace


def summary(trace: dict) -> dict:
    """What `--json` prints and the page's endpoint ends with: text, token ids, settings, metrics."""
    ids = [token["id"] for iteration in trace["iterations"] for token in iteration["committed"]]
    settings = {"method": trace["header"]["method"], "pair": trace["header"]["pair"], **trace["header"]["settings"]}
    result = {
        "text": "".join(token["text"] for iteration in trace["iterations"] for token in iteration["committed"]),
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
    """Both baselines of φ, vanilla at its best here and on the target's cores, and the methods asked for."""
    baselines = [Lane("vanilla", "vanilla", replace(settings, cores=cores)) for cores in ("auto", "target")]
    return baselines + [Lane(method, method, settings) for method in methods if method != "vanilla"]


def conversation(engine: Engine, lane: Lane, turns: Sequence[str], *, stopped: Callable[[], bool] = bool) -> list[dict]:
    """A lane's answers to the turns of one conversation, as traces; each turn is asked with the answers before it.

    Raises DraftDied, Stopped where `stopped` says so, and what `stream` raises.
    """
    if not turns:
        raise PromptError("The question is empty: it has no turns.")
    traces: list[dict] = []
    for turn in turns:
        before = [(said, trace["end"]["text"]) for said, trace in zip(turns, traces, strict=False)]
        trace = collect(stream(engine, lane.method, turn, lane.settings, before=before, stopped=stopped))
        if trace["end"]["stopped"] == "stopped":
            raise Stopped
        if trace["end"]["stopped"] == "error":
            raise DraftDied(trace["end"]["message"])
        traces.append(trace)
    return traces


def race(
    engine: Engine,
    prompts: Sequence[str],
    lanes: Sequence[Lane],
    *,
    repeats: int = 1,
    warmups: int = 1,
    raw: bool = False,
    stopped: Callable[[], bool] = bool,
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
            prepare(engine, lane.method, lane.settings)
    failed = set()
    rounds = [(None, prompts[0])] * warmups + [(repeat, prompt) for prompt in prompts for repeat in range(repeats)]
    for number, (repeat, prompt) in enumerate(rounds, -warmups):
        for lane in lanes if number % 2 == 0 else reversed(lanes):
            if lane.name in failed:
                continue
            settings = short(lane.settings) if repeat is None else lane.settings
            run = stream(engine, lane.method, prompt, settings, raw=raw, stopped=stopped)
            with closing(errors_as_events(run)) as events:
                for event in events:
                    yield event | {"lane": lane.name, "repeat": repeat}
            if event["type"] == "error" or event["end"]["stopped"] == "error":
                failed.add(lane.name)
            elif event["end"]["stopped"] == "stopped":
                return


def short(settings: Settings) -> Settings:
    """The settings of a warm-up."""
    return replace(settings, max_new_tokens=min(WARMUP_TOKENS, settings.max_new_tokens))


def errors_as_events(events: Iterator[dict]) -> Generator[dict]:
    """The events; what keeps a run from beginning is one too."""
    try:
        yield from events
    except USER_ERRORS as error:
        yield {"type": "error", "message": str(error)}


def compare(
    engine: Engine,
    prompts: Sequence[str],
    lanes: Sequence[Lane],
    *,
    repeats: int = 1,
    warmups: int = 1,
    raw: bool = False,
) -> Iterator[dict]:
    """The rows of a `race`, each as its run ends; warm-ups give none. Raises LaneFailed."""
    trace = new_trace()
    for event in race(engine, prompts, lanes, repeats=repeats, warmups=warmups, raw=raw):
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
