"""Runs methods on prompts: one run as a stream of events, and many runs in alternation."""

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

import torch
import transformers

from duoviz.decoding import METHODS
from duoviz.decoding.budget import CONTEXTS, CostModel, cost_model
from duoviz.decoding.datastore import DatastoreError
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.duodecoding import running_draft
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.cores import on_cores
from duoviz.models.embedded import ModelUnavailable
from duoviz.models.linear import ROW_COUNTS
from duoviz.models.pairs import Pair, PromptError, UnknownPair
from duoviz.trace.metrics import metrics
from duoviz.trace.record import Recorder
from duoviz.trace.schema import SCHEMA_VERSION
from duoviz.version import VERSION

# What a user's mistake, a model or datastore that cannot be had or a draft that died raise; the messages are sentences.
USER_ERRORS = (DatastoreError, DraftDied, ModelUnavailable, PromptError, SettingsError, UnknownPair)

# Methods whose draft works at the same time as the target, so that the target gets its share of cores only.
PARALLEL_METHODS = {"duodecoding"}
DRAFT_METHODS = PARALLEL_METHODS | {"speculative"}


def check_method(method: str) -> None:
    """Raise SettingsError unless the method exists."""
    if method not in METHODS:
        raise SettingsError(f"There is no method named {method!r}; there are: {', '.join(METHODS)}.")


def target_cores(pair: Pair, method: str, settings: Settings) -> tuple[int, ...]:
    """The cores that the target computes on in this run."""
    if method in PARALLEL_METHODS or settings.cores == "target":
        return pair.cores.target
    return pair.cores.all


@contextmanager
def target_on(pair: Pair, cores: tuple[int, ...]) -> Iterator[None]:
    """The target on these cores, with the kernels that are fastest there."""
    with on_cores(cores):
        pair.target.tune()
        yield


def prepare(pair: Pair, method: str, settings: Settings = Settings()) -> CostModel | None:
    """Start the draft and measure the costs, where the method needs them. Raises DraftDied."""
    if method not in DRAFT_METHODS:
        return None
    with target_on(pair, target_cores(pair, method, settings)):
        if method in PARALLEL_METHODS:
            return cost_model(pair, running_draft(pair))
        return cost_model(pair, draft_in_turn(pair), in_turn=True)


def stream(pair: Pair, method: str, prompt: str, settings: Settings, *, raw: bool = False) -> Iterator[dict]:
    """One run as events: `header`, `iteration` … and `end`; see the trace schema.

    Closing the generator ends the run. All of it happens in the calling thread, which must be the
    same from the first event to the last. A draft that dies ends the run with `stopped: error`.
    Raises PromptError and SettingsError before the first event.
    """
    check_method(method)
    prompt_ids = pair.encode(prompt, raw=raw)
    costs = prepare(pair, method, settings)
    cores = target_cores(pair, method, settings)
    # A method that cannot run on this pair says so here, before the first event.
    run = METHODS[method](pair, prompt_ids, settings)
    yield {"type": "header", "header": header(pair, method, prompt, prompt_ids, settings, raw, costs, cores)}
    iterations, message = [], None
    submitted = time.perf_counter()
    recorder = Recorder(pair.tokenizer, submitted)
    stopped = None
    with target_on(pair, cores):
        try:
            for each in run:
                iterations.append(recorder.iteration(each))
                stopped = each.stop
                yield {"type": "iteration", "iteration": iterations[-1]}
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
) -> dict:
    """The trace's header."""
    target = {"name": pair.target.label, "device": pair.target_device_label(cores), "precision": pair.target.precision}
    return {
        "schema": SCHEMA_VERSION,
        "method": method,
        "pair": pair.name,
        "target": target,
        "draft": draft_header(pair, method, target["device"]),
        "can_overlap": method in PARALLEL_METHODS and pair.cores.can_overlap,
        "settings": {**asdict(settings), "raw": raw},
        "prompt": prompt,
        "prompt_tokens": len(prompt_ids),
        "calibration": calibration(costs) if costs else None,
        "versions": versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def draft_header(pair: Pair, method: str, target_device: str) -> dict | None:
    """The draft's part of the header, None for methods without one."""
    if method in PARALLEL_METHODS:
        return {"name": pair.draft_label, "device": pair.draft_device_label(), "precision": pair.draft_precision}
    if method in DRAFT_METHODS:
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
        "transformers": transformers.__version__,
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
    """The trace of a whole run."""
    trace = new_trace()
    for event in events:
        add_event(trace, event)
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


def compare(
    pair: Pair, prompts: Sequence[str], lanes: Sequence[Lane], *, repeats: int = 1, warmups: int = 1, raw: bool = False
) -> Iterator[dict]:
    """Run every lane on every prompt `repeats` times, in alternation, and yield each run's row.

    A row holds prompt, method (the lane's name), cores, repeat, token_ids, metrics and trace. The
    first `warmups` rounds are not yielded.
    """
    for lane in lanes:
        check_method(lane.method)
    rounds = [(True, prompts[0])] * warmups
    rounds += [(False, prompt) for prompt in prompts for _ in range(repeats)]
    for number, (warmup, prompt) in enumerate(rounds):
        # Alternate the order, so that no method always runs after the same one.
        for name, method, settings in lanes if number % 2 == 0 else reversed(lanes):
            trace = collect(stream(pair, method, prompt, settings, raw=raw))
            if trace["end"]["stopped"] == "error":
                raise DraftDied(trace["end"]["message"])
            if not warmup:
                yield {"prompt": prompt, "method": name, "cores": settings.cores, **summary(trace), "trace": trace}


def table(rows: Sequence[dict]) -> list[dict]:
    """Medians over the rows of each method, and φ against both baselines (median of per-round ratios)."""
    lanes: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        lanes.setdefault((row["method"], row["cores"]), []).append(row)
    return [
        {
            "method": method,
            "cores": cores,
            "runs": len(mine),
            **{name: middle(row["metrics"][name] for row in mine) for name in ("tps", "ttft", "tau", "acceptance")},
            "phi": speed_up(mine, lanes["vanilla", "all"]),
            "phi_same_cores": speed_up(mine, lanes["vanilla", "target"]),
            "same_text": sum(
                row["token_ids"] == base["token_ids"] for row, base in zip(mine, lanes["vanilla", "all"], strict=True)
            ),
        }
        for (method, cores), mine in lanes.items()
    ]


def middle(values: Iterator[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None


def speed_up(rows: Sequence[dict], baseline: Sequence[dict]) -> float:
    return median(row["metrics"]["tps"] / base["metrics"]["tps"] for row, base in zip(rows, baseline, strict=True))
