"""Workers on ZeroGPU: Hugging Face's `spaces` package forks them from the page's process, which holds the pair.

A GPU is lent for one task at a time, for as many seconds as were asked for. A fork goes on to the next task where it
gets the same GPU again. The page's process loads the pair once, and starts each place's draft before the first fork.
"""

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from ctypes import c_double, c_long
from dataclasses import replace
from functools import partial
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any

import torch

from duoviz.decoding.costs import CONTEXTS, ROW_COUNTS
from duoviz.decoding.engine import Engine
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.errors import first_line
from duoviz.models.cores import assign_cores, available_cores
from duoviz.models.load import load_pair
from duoviz.models.pair import Pair
from duoviz.workers.local import number_of_workers, shares
from duoviz.workers.pool import WorkerSlot
from duoviz.workers.tasks import Assignment, Cancel, Comparison, Exclusive, Load, Run, Task, WorkerDied
from duoviz.workers.worker import Worker

FORK = multiprocessing.get_context("fork")
# Seconds for a fork to have the weights on the GPU and to record its forward passes.
BEGINNING = 10
# A run is given that many times what vanilla's forward passes take: for a slow method, or a slow moment.
SLACK = 2
# As few characters as a token has on average, for the length of a prompt that nobody has tokenized yet.
CHARACTERS_A_TOKEN = 2
ONE_PAIR = "On ZeroGPU this page has one pair, {}. Choose that one, or run duoviz on your own machine."
REFUSED = "ZeroGPU lends no GPU for this run ({}): log in on huggingface.co for a larger quota, or try again later."
TAKEN = "ZeroGPU took the GPU back: a run may not take longer than it asked for"

log = logging.getLogger(__name__)


class SharedDraft(ProcessDraft):
    """A draft that this process's forks use; only this process can look after the draft's own."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.starter = os.getpid()

    def died(self) -> DraftDied:
        if self.starter == os.getpid():
            return super().died()
        self.pipe.close()
        return DraftDied("The draft process died: run again to start a new one.")

    def alive(self) -> bool:
        if self.starter == os.getpid():
            return super().alive()
        return not self.pipe.closed and (not self.owes or self.heartbeat.beats_again())

    def close(self) -> None:
        if self.starter == os.getpid():
            return super().close()
        self.pipe.close()


class Place:
    """What a place's forks inherit: its engine, whose draft runs, and memory that they share with the page's process.

    number: of the latest Cancel. granted: the assignment that may measure. process: the fork at work, or 0.
    pass_seconds, row_seconds: of the target's forward pass over one token, and for each further one; 0: not measured.
    """

    def __init__(self, pair: Pair):
        self.pair = pair
        self.number, self.granted, self.process = (FORK.RawValue(c_long, 0) for _ in range(3))
        self.pass_seconds, self.row_seconds = (FORK.RawValue(c_double, 0) for _ in range(2))
        self.start()

    def start(self) -> None:
        self.draft = SharedDraft(self.pair.draft.load, self.pair.cores)
        self.engine = Engine(self.pair, draft=self.draft)

    def learn(self) -> None:
        """Tell the page's process, from a fork, what this fork has measured."""
        known = [costs.model for costs in self.engine.kept_costs.values() if costs.target.count]
        rows, context = ROW_COUNTS[-1], CONTEXTS[-1]
        for model in known[-1:]:
            self.pass_seconds.value = model.target_time(1, context)
            self.row_seconds.value = model.target_time(rows + 1, context) - model.target_time(rows, context)

    def end(self) -> None:
        """End the fork at work and the draft, which may still owe it an answer."""
        for fork in multiprocessing.active_children():
            if fork.pid == self.process.value:
                fork.kill()
        self.process.value = 0
        self.engine.close()


PLACES: list[Place] = []


class ForkCancelToken:
    """Whether a fork's assignment is to end, and whether it may measure: as `CancelToken` and an Event are asked."""

    def __init__(self, place: Place, number: int):
        self.place, self.number = place, number

    def __call__(self) -> bool:
        return self.place.number.value >= self.number

    def clear(self) -> None:
        self.place.granted.value = 0

    def wait(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self.place.granted.value == self.number


def work(number: int, assignment: Assignment) -> Iterator[dict]:
    """An assignment's events, in a fork; `done` is the last one."""
    place, events = PLACES[number], SimpleQueue()
    place.process.value = os.getpid()
    worker = Worker(events.put)
    worker.cancelled = worker.exclusive = ForkCancelToken(place, assignment.number)  # pyright: ignore[reportAttributeAccessIssue]
    worker.engine, worker.loaded = place.engine, assignment.task.pair
    place.engine.measuring = worker.measuring
    thread = threading.Thread(target=worker.do, args=(assignment,), daemon=True)
    thread.start()
    while (event := events.get())["type"] != "done":
        yield event
    thread.join()
    place.draft.settle()
    place.learn()
    place.process.value = 0
    yield event


def seconds_for(place: Place, task: Task, longest: float) -> int:
    """For how long a GPU is asked for; longest: how long a run may decode."""
    if not place.pass_seconds.value or not isinstance(task, Run | Comparison):
        return round(BEGINNING + longest)
    lanes = [lane.settings for lane in task.lanes] if isinstance(task, Comparison) else [task.settings]
    # Each lane of a comparison runs once more, to warm up.
    runs = len(lanes) * (task.repeats + 1 if isinstance(task, Comparison) else 1)
    tokens = max(settings.max_new_tokens for settings in lanes)
    reading = len(task.prompt) / CHARACTERS_A_TOKEN * place.row_seconds.value
    return round(BEGINNING + min(longest, SLACK * runs * (reading + tokens * place.pass_seconds.value)))


class ZeroWorker:
    """A `WorkerHandle` of a place. lend: `work`, as the package wraps it. came: its events, or what ended it."""

    def __init__(self, number: int, name: str, lend: Callable[[int, Assignment], Iterator[dict]]):
        self.number, self.name, self.lend, self.lost = number, name, lend, False
        self.came: SimpleQueue[dict | WorkerDied] = SimpleQueue()
        if PLACES[number].draft.pipe.closed:
            PLACES[number].start()

    def send(self, message: Any) -> None:
        place = PLACES[self.number]
        if isinstance(message, Cancel):
            place.number.value = message.number
        elif isinstance(message, Exclusive):
            place.granted.value = message.number
        elif message.task.pair != self.name:
            self.answer({"type": "error", "message": ONE_PAIR.format(self.name)})
        elif isinstance(message.task, Load):
            place.draft.wait_until_started()
            self.answer({"type": "ready", "pair": place.pair.name, "memory": {}})
        else:
            self.came.put({"type": "loading", "text": "Waiting for a GPU of ZeroGPU"})
            # In this context the package finds who asks, whose quota it is.
            threading.Thread(target=copy_context().run, args=(self.follow, message), daemon=True).start()

    def answer(self, event: dict) -> None:
        self.came.put(event)
        self.came.put({"type": "done"})

    def follow(self, assignment: Assignment) -> None:
        """Take each event as it comes. `done` follows only once the package has the fork back, for the next task."""
        begun = False
        try:
            for event in self.lend(self.number, assignment):
                begun = True
                if event["type"] != "done":
                    self.came.put(event)
        except Exception as error:  # of many types; the package's own have a title
            # A text in quotation marks is what Gradio's own errors are as a string.
            reason = str(getattr(error, "message", "")) or first_line(error)
            log.warning("ZeroGPU: %s", reason)
            if begun or "worker" in getattr(error, "title", ""):
                self.came.put(WorkerDied(TAKEN if begun else f"ZeroGPU could not start this run ({reason})"))
                return
            return self.answer({"type": "error", "message": REFUSED.format(reason.strip().rstrip("."))})
        self.came.put({"type": "done"})

    def receive(self, seconds: float) -> dict | None:
        with suppress(Empty):
            event = self.came.get(timeout=seconds)
            if not isinstance(event, WorkerDied):
                return event
            self.close()
            raise event
        return None

    def alive(self) -> bool:
        return not self.lost

    def close(self) -> None:
        if not self.lost:
            self.lost = True
            PLACES[self.number].end()


def zero_slots(
    name: str, chosen: str | None, longest: float, load: Callable[[str], Pair] = load_pair
) -> list[WorkerSlot]:
    """The places of a Space on ZeroGPU, with the pair of this name; longest: how long a run may decode.

    Called before the page is launched: the package then packs all that was loaded. Raises UserError.
    """

    def duration(number: int, assignment: Assignment) -> int:
        return seconds_for(PLACES[number], assignment.task, longest)

    lend = import_module("spaces").GPU(duration=duration)(work)
    # A fork has none of the threads that torch would have started here.
    torch.set_num_threads(1)
    pair, cores = load(name), available_cores()
    parts = shares(cores, number_of_workers(chosen, len(cores)))
    on_gpu = pair.target.device != "cpu"
    PLACES[:] = [Place(replace(pair, cores=assign_cores(part, target_on_gpu=on_gpu), memory={})) for part in parts]
    start = partial(ZeroWorker, name=name, lend=lend)
    return [WorkerSlot(start=partial(start, number)) for number in range(len(parts))]
