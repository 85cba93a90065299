"""What tests let run in processes of their own."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection

from duoviz import runner, runs
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.models.cores import assign_cores, available_cores
from duoviz.models.language_model import LanguageModel
from tests.tiny import change_pair, tiny_engine
from tests.weights import decoder, near_copy, tiny_weights

SETTINGS = Settings(max_new_tokens=120)


def engine_with_draft(load: Callable[[dict, dict], LanguageModel] = decoder) -> Engine:
    """The tiny engine on this machine's cores; load makes the draft of its weights, where it runs."""
    engine = tiny_engine()
    engine.draft_beside = None
    draft = replace(engine.pair.draft, load=partial(load, *near_copy(tiny_weights(0), 0.15)))
    return change_pair(engine, draft=draft, cores=assign_cores(available_cores(), target_on_gpu=False))


def stream(engine: Engine) -> Iterator[dict]:
    """A run's events. The target goes on alone until the draft has answered: here for one iteration at most."""
    for event in runner.stream(engine, "duodecoding", "hello", SETTINGS):
        yield event
        if event["type"] == "iteration" and event["iteration"]["index"] == 1:
            wait_for_draft(engine)


def wait_for_draft(engine: Engine) -> None:
    draft = engine.draft_beside
    assert draft.answered == draft.submitted or draft.poll(120)


def end_in_a_run(pipe: Connection, kind: str) -> None:
    """Send the number of the draft's process in the middle of a run; then raise an error, or wait."""
    engine = engine_with_draft()
    events = runner.stream(engine, "duodecoding", "hello", SETTINGS)
    next(events), next(events)
    pipe.send(engine.draft_beside.process.pid)
    if kind == "error":
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        raise RuntimeError("an error of the run's own")
    pipe.recv()


def send_report(pipe: Connection) -> None:
    """Vanilla and DuoDecoding on the tiny pair: texts, labels, overlap, and how the draft ran."""
    with engine_with_draft() as engine:
        vanilla = runner.collect(runner.stream(engine, "vanilla", "hello", SETTINGS))
        trace = runner.collect(stream(engine))
    report = {
        "texts": [vanilla["end"]["text"], trace["end"]["text"]],
        "tested": sum(iteration["verdict"]["tested"] for iteration in trace["iterations"]),
        "overlap": runs.summary(trace)["metrics"]["overlap"],
        "devices": [trace["header"][side]["device"] for side in ("target", "draft")],
        "cores": [len(engine.pair.cores.target), len(engine.pair.cores.draft)],
    }
    pipe.send(report)


def report_on_one_core(pipe: Connection, core: int) -> None:
    os.sched_setaffinity(0, {core})
    send_report(pipe)
