"""The draft in its own process, fed by a pipe; or in a thread, or in the caller."""

import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Protocol

import torch

from duoviz.decoding.drafting import Drafted, Plan, draft
from duoviz.decoding.iteration import timed_forward
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel

START_TIMEOUT = 120.0


class DraftDied(RuntimeError):
    """The draft cannot answer; the message is a sentence for the user."""


@dataclass(frozen=True)
class DraftRequest:
    """Draft after a new context.

    keep: the branch of the last drafted tree whose tokens are now part of the context, or None;
    crop: without a branch, how many tokens of the old context stay; new_tokens: what comes after
    them (with a branch: after its last forwarded token).
    """

    keep: int | None
    crop: int
    new_tokens: tuple[int, ...]
    plan: Plan


@dataclass(frozen=True)
class MeasureRequest:
    """Time one draft step with 1..8 rows after a context of `context` tokens, for `seconds` at least."""

    context: int
    seconds: float


class Draft(Protocol):
    """A running draft: it works on one request at a time, apart from the caller."""

    def wait_until_started(self) -> None:
        """Wait until the model is loaded. Raises DraftDied."""
        ...

    def submit(self, request: DraftRequest | MeasureRequest) -> None:
        """Start on a request; what an earlier one would still give is dropped."""
        ...

    def ready(self) -> bool:
        """Whether `result` would answer at once."""
        ...

    def result(self) -> Drafted | dict[int, float]:
        """Wait for the answer to the last request. Raises DraftDied."""
        ...

    def alive(self) -> bool: ...

    def close(self) -> None: ...


class DraftLoop:
    """What the draft does with a request, wherever it runs."""

    def __init__(self, model: LanguageModel):
        self.model = model
        self.drafted: Drafted | None = None

    def handle(self, request: DraftRequest | MeasureRequest) -> Drafted | dict[int, float]:
        if isinstance(request, MeasureRequest):
            return measure_steps(self.model, context=request.context, seconds=request.seconds)
        self.roll_back(request)
        self.drafted = draft(self.model, request.new_tokens, request.plan)
        return self.drafted

    def roll_back(self, request: DraftRequest) -> None:
        """Leave in the cache what belongs to the new context."""
        slots = self.drafted.branches[request.keep].slots if request.keep is not None else []
        if slots:
            self.model.keep(slots)
        else:
            self.model.crop(request.crop)


def measure_steps(model: LanguageModel, *, context: int, seconds: float) -> dict[int, float]:
    """Median seconds of one draft step with k = 1..8 rows after `context` tokens; repeats for `seconds`."""
    model.crop(0)
    for begin in range(0, context, 512):
        model.forward([0] * min(512, context - begin), rows=[0])
    times: dict[int, list[float]] = {k: [] for k in range(1, 9)}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[8]) < 3:
        for k, taken in times.items():
            logits, span = timed_forward(model, [0] * k, parents=[context - 1] * k)
            logits.softmax(-1).max(-1)
            taken.append(time.perf_counter() - span.start)
            model.crop(context)
    model.crop(0)
    return {k: sorted(taken)[len(taken) // 2] for k, taken in times.items()}


class InlineDraft:
    """The draft in the caller's own thread: nothing overlaps; for tests."""

    def __init__(self, model: LanguageModel):
        self.loop = DraftLoop(model)
        self.request: DraftRequest | MeasureRequest | None = None

    def wait_until_started(self) -> None:
        pass

    def submit(self, request: DraftRequest | MeasureRequest) -> None:
        self.request = request

    def ready(self) -> bool:
        return True

    def result(self) -> Drafted | dict[int, float]:
        return self.loop.handle(self.request)

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        pass


class ThreadDraft:
    """The draft in a thread of this process, where a process cannot be started."""

    def __init__(self, load: Callable[[], LanguageModel], cores: tuple[int, ...]):
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.answers: queue.SimpleQueue = queue.SimpleQueue()
        self.submitted = self.answered = 0
        self.loaded: Future = Future()
        self.thread = threading.Thread(target=self.run, args=(load, cores), daemon=True)
        self.thread.start()

    def run(self, load: Callable[[], LanguageModel], cores: tuple[int, ...]) -> None:
        with on_cores(cores):
            try:
                loop = DraftLoop(load())
                self.loaded.set_result(None)
            except Exception as error:
                self.loaded.set_exception(error)
                return
            while (request := self.requests.get()) is not None:
                try:
                    self.answers.put(loop.handle(request))
                except Exception as error:
                    self.answers.put(error)

    def wait_until_started(self) -> None:
        try:
            self.loaded.result(START_TIMEOUT)
        except Exception as error:
            raise DraftDied(f"The draft could not be loaded: {error}.") from error

    def submit(self, request: DraftRequest | MeasureRequest) -> None:
        self.submitted += 1
        self.requests.put(request)

    def ready(self) -> bool:
        return self.answered < self.submitted <= self.answered + self.answers.qsize()

    def result(self) -> Drafted | dict[int, float]:
        while self.answered < self.submitted:
            answer = self.answers.get()
            self.answered += 1
        if isinstance(answer, Exception):
            raise DraftDied(f"The draft failed: {answer}.") from answer
        return answer

    def alive(self) -> bool:
        return self.thread.is_alive()

    def close(self) -> None:
        self.requests.put(None)


class ProcessDraft:
    """The draft in a process of its own, pinned to its own cores."""

    def __init__(self, load: Callable[[], LanguageModel], cores: tuple[int, ...]):
        """load: a picklable callable that gives the model; it is called in the new process."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.submitted = self.answered = 0
        self.process = context.Process(target=serve, args=(theirs, load, cores), daemon=True, name="duoviz-draft")
        self.process.start()
        theirs.close()
        self.started = False

    def wait_until_started(self) -> None:
        if not self.started:
            if not self.pipe.poll(START_TIMEOUT):
                self.close()
                raise DraftDied(f"The draft process did not start within {START_TIMEOUT:.0f} seconds.")
            if complaint := self.receive():
                self.close()
                raise DraftDied(f"The draft could not be loaded: {complaint}.")
            self.started = True

    def submit(self, request: DraftRequest | MeasureRequest) -> None:
        self.wait_until_started()
        try:
            self.pipe.send(request)
        except OSError as error:
            raise self.died() from error
        self.submitted += 1

    def ready(self) -> bool:
        while self.answered + 1 < self.submitted and self.pipe.poll():
            self.receive()
            self.answered += 1
        return self.answered + 1 == self.submitted and self.pipe.poll()

    def result(self) -> Drafted | dict[int, float]:
        while self.answered < self.submitted:
            answer = self.receive()
            self.answered += 1
        if isinstance(answer, str):
            raise DraftDied(f"The draft failed: {answer}.")
        return answer

    def receive(self) -> object:
        try:
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self.died() from error

    def died(self) -> DraftDied:
        self.process.join(timeout=1)
        code = self.process.exitcode
        self.close()
        return DraftDied(f"The draft process died (exit code {code}); the next run starts a new one.")

    def alive(self) -> bool:
        return self.process.is_alive()

    def close(self) -> None:
        """End the process and release its pipe; safe to call twice."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join(timeout=5)


def serve(pipe: Connection, load: Callable[[], LanguageModel], cores: tuple[int, ...]) -> None:
    """The draft process: load the model, then answer requests until the pipe closes."""
    os.environ["OMP_NUM_THREADS"] = str(len(cores))
    with on_cores(cores), torch.inference_mode():
        try:
            try:
                loop = DraftLoop(load())
            except Exception as error:
                pipe.send(str(error) or type(error).__name__)
                return
            pipe.send("")
            while True:
                request = pipe.recv()
                try:
                    pipe.send(loop.handle(request))
                except Exception as error:
                    pipe.send(str(error))
        except (EOFError, OSError, KeyboardInterrupt):
            return


def start_draft(load: Callable[[], LanguageModel], cores: tuple[int, ...]) -> Draft:
    """A draft process; in a daemonic parent, which may not have children, a thread."""
    if multiprocessing.current_process().daemon:
        return ThreadDraft(load, cores)
    return ProcessDraft(load, cores)
