"""Runs methods on prompts: one run as a stream of events, and many runs in alternation."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import cast

from duoviz.comparison import busy_words
from duoviz.decoding import METHODS
from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS, CostModel
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import Stopped
from duoviz.decoding.loop import decode
from duoviz.decoding.plan import RunPlan, make_plan, placement_of
from duoviz.decoding.sampling import NotFinite
from duoviz.decoding.settings import Settings
from duoviz.decoding.worker.protocol import DraftDied, InlineDraft
from duoviz.errors import UserError
from duoviz.runs import Lane, add_event, check_method, collect, end, new_trace, row, short, versions
from duoviz.trace.reading import SCHEMA_VERSION
from duoviz.trace.record import Recorder


def prepare(engine: Engine, method: str, settings: Settings = Settings()) -> None:
    """Start the draft and measure the costs, where the method needs them. Raises DraftDied."""
    if METHODS[method].draft:
        placement = placement_of(engine, METHODS[method], settings)
        engine.draft(beside=placement.beside)
        engine.known_costs(placement)


def stream(
    engine: Engine,
    method: str,
    prompt: str,
    settings: Settings,
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
    stopped: Callable[[], bool] = bool,
) -> Generator[dict]:
    """One run as events: `header`, `iteration` … and `end`; see the trace schema.

    Closing the generator ends the run, and so does `stopped`, also in a long forward or wait. An engine does one run
    at a time: one that begins ends another that is suspended, whose next step raises UserError; where another is
    computing, in another thread, it raises that itself. A draft that dies, or a target that computes no finite
    numbers, ends the run with `stopped: error`; after such a draft the target goes on alone, as the end's message says.
    before: the conversation's earlier turns, as (what the user said, the answer).
    What goes wrong before the first event raises UserError.
    """
    check_method(method)
    plan = partial(make_plan, engine, METHODS[method], prompt, settings, raw=raw, before=before, stopped=stopped)
    return engine.one_run(events_of(engine, plan))


def events_of(engine: Engine, planned: Callable[[], RunPlan]) -> Generator[dict]:
    """See `stream`."""
    plan = planned()
    yield {"type": "header", "header": header(plan)}
    iterations, reason, message = [], None, None
    recorder = Recorder(engine.pair.tokenizer, time.perf_counter(), plan.prompt_ids)
    try:
        for iteration in decode(plan):
            iterations.append(recorder.iteration(iteration))
            reason = iteration.stop
            yield {"type": "iteration", "iteration": iterations[-1]}
    except (DraftDied, NotFinite) as error:
        reason, message = "error", str(error)
    except Stopped:
        reason = "stopped"
    for placement in {plan.placement, plan.other or plan.placement, plan.alone}:
        engine.keep_costs(placement)
    if reason not in ("error", "stopped"):
        message = " ".join(plan.notes) or busy_words(plan.costs.target)
    yield {"type": "end", "end": end(iterations, reason, message)}
    # Here nobody waits for it; the next run measures where this one is stopped.
    if plan.draft:
        with suppress(DraftDied, Stopped):
            engine.renew_costs(plan.placement, stopped=plan.stopped)


def header(plan: RunPlan) -> dict:
    """The trace's header."""
    pair, method = plan.pair, plan.method
    device = pair.target_device_label(plan.placement.cores, plan.placement.borrowed)
    return {
        "schema": SCHEMA_VERSION,
        "method": method.id,
        "about": method.described(),
        "pair": pair.name,
        "target": {
            "name": pair.target.label,
            "device": device,
            "precision": pair.target.precision,
            "cpu": pair.target.device == "cpu",
            "borrows": bool(plan.placement.borrowed),
        },
        "draft": draft_header(plan, device),
        "can_overlap": plan.placement.beside and pair.cores.can_overlap,
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
    beside = plan.placement.beside
    draft = plan.pair.draft if beside else cast(InlineDraft, plan.draft).model
    device = plan.pair.draft_device_label() if beside else target_device
    return {"name": draft.label, "device": device, "precision": draft.precision}


def calibration(costs: CostModel) -> dict:
    """The cost model at the shorter context, as (rows, seconds) and (k, seconds)."""
    return {
        "context": CONTEXTS[0],
        "target": [[rows, round(t, 6)] for rows, t in zip(ROW_COUNTS, costs.target[0], strict=True)],
        "draft": [[k, round(t, 6)] for k, t in enumerate(costs.draft[0], 1)],
    }


def conversation(engine: Engine, lane: Lane, turns: Sequence[str], *, stopped: Callable[[], bool] = bool) -> list[dict]:
    """A lane's answers to the turns of one conversation, as traces; each turn is asked with the answers before it.

    Raises DraftDied, Stopped where `stopped` says so, and what `stream` raises.
    """
    if not turns:
        raise UserError("The question is empty: it has no turns.")
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
    run), and a run's last one has its `row`. Rounds take the lanes in alternated order, so that no method
    always runs after the same one. A lane that cannot run gives the event `error` with its `message`, one
    whose draft died ends with it; neither runs again, and the others go on. A run that is stopped is the last.
    """
    for lane in lanes:
        check_method(lane.method)
        # Where this cannot be done, the lane's first run says so.
        with suppress(UserError):
            prepare(engine, lane.method, lane.settings)
    failed = set()
    rounds = [(None, prompts[0])] * warmups + [(repeat, prompt) for prompt in prompts for repeat in range(repeats)]
    for number, (repeat, prompt) in enumerate(rounds, -warmups):
        for lane in lanes if number % 2 == 0 else reversed(lanes):
            if lane.name in failed:
                continue
            settings, trace = short(lane.settings) if repeat is None else lane.settings, new_trace()
            of_lane = {"lane": lane.name, "repeat": repeat}
            try:
                with closing(stream(engine, lane.method, prompt, settings, raw=raw, stopped=stopped)) as events:
                    for event in events:
                        add_event(trace, event)
                        measured = event["type"] == "end" and repeat is not None
                        yield event | of_lane | ({"row": row(trace, **of_lane)} if measured else {})
            except UserError as error:
                event = {"type": "error", "message": str(error)} | of_lane
                yield event
            if failure_in(event):
                failed.add(lane.name)
            elif trace["end"]["stopped"] == "stopped":
                return


def failure_in(event: dict) -> str | None:
    """Why a lane cannot go on, where this event of a `race` says so."""
    said = event["end"] if event["type"] == "end" else event
    return said["message"] if event["type"] == "error" or said.get("stopped") == "error" else None


def compare(
    engine: Engine, prompts: list[str], lanes: list[Lane], *, repeats: int = 1, warmups: int = 1, raw: bool = False
) -> Iterator[dict]:
    """The rows of a `race`, each as its run ends. Raises UserError where a lane cannot go on."""
    for event in race(engine, prompts, lanes, repeats=repeats, warmups=warmups, raw=raw):
        if failure := failure_in(event):
            raise UserError(f"{event['lane']}: {failure}")
        if "row" in event:
            yield event["row"]
