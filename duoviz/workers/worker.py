"""A worker inside its process: it holds an engine and runs one assignment after another."""

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from queue import SimpleQueue

import torch

from duoviz import runner
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models.cache import measuring
from duoviz.models.files import fetch_pair
from duoviz.models.load import check_room
from duoviz.models.progress import part_of
from duoviz.workers.handlers import HANDLERS, CancelToken
from duoviz.workers.tasks import INTERNAL, Assignment, Cancel, Exclusive, Fetch, Load

# The share of a first start that goes by until the models are loaded; the rest goes into measuring them.
LOADING = 0.75
# Before that much of the whole is done, nothing can be said of how long the rest will take.
EARLIEST = 0.04
# Seconds between two looks whether a wait is to end.
GLANCE = 0.1

log = logging.getLogger(__name__)


def progress_text(text: str, fraction: float, seconds: float) -> str:
    """What is being done, how much of the whole is done after so many seconds, and how long the rest will take."""
    if fraction < EARLIEST:
        return f"{text} ({fraction:.0%})"
    left = max(1, round(seconds * (1 - fraction) / fraction))
    return f"{text} ({fraction:.0%}, about {left} s left)"


class Worker:
    """Runs its assignments on one thread, because torch binds its threads and pinning to the calling thread.

    load: called as `load_engine` is. emit: takes each event as it happens.
    """

    def __init__(self, emit: Callable[[dict], None], load: Callable[..., Engine] = load_engine):
        self.emit, self.load = emit, load
        self.engine: Engine | None = None
        self.loaded: str | None = None
        self.cancelled = CancelToken()
        self.exclusive = threading.Event()

    def tell(self, message: Cancel | Exclusive) -> None:
        """Handle a message about the running assignment; from any thread."""
        if isinstance(message, Cancel):
            self.cancelled.latest = max(self.cancelled.latest, message.number)
        elif message.number == self.cancelled.number:
            self.exclusive.set()

    def check(self) -> None:
        """Raise Stopped where the assignment is to end."""
        if self.cancelled():
            raise Stopped

    def do(self, assignment: Assignment) -> None:
        """Run an assignment; `done` is the last event, whatever happens."""
        self.cancelled.number = assignment.number
        try:
            self.check()
            self.run(assignment)
        except Stopped:
            pass  # Its decoding has not begun: the visitor has been told.
        except UserError as error:
            self.emit({"type": "error", "message": str(error)})
        except Exception:
            log.exception("a job failed")
            self.emit({"type": "error", "message": INTERNAL})
        self.emit({"type": "done"})

    def run(self, assignment: Assignment) -> None:
        task = assignment.task
        if isinstance(task, Fetch):
            return self.fetch(task)
        engine = self.ready_engine(task.pair)
        self.emit({"type": "ready", "pair": self.loaded, "memory": engine.pair.memory})
        self.check()
        if not isinstance(task, Load):
            for event in HANDLERS[type(task)](engine, task, self.cancelled):
                self.emit(event)

    def fetch(self, task: Fetch) -> None:
        """Get the files of a pair. Raises Stopped and UserError."""

        def tell(fraction: float, text: str) -> None:
            self.check()
            self.emit({"type": "loading", "text": f"{text} ({fraction:.0%})"})

        check_room(task.pair, task.spare)
        fetch_pair(task.pair, tell)

    def ready_engine(self, name: str) -> Engine:
        """The pair's engine, loaded now if it was not the last one; one that does not fit leaves that loaded.

        Raises Stopped.
        """
        begin = time.monotonic()

        def tell(fraction: float, text: str) -> None:
            self.check()
            self.emit({"type": "loading", "text": progress_text(text, fraction, time.monotonic() - begin)})

        if self.engine is None or self.loaded != name:
            check_room(name, self.engine.pair.memory if self.engine else {})
            self.release()
            self.emit({"type": "released"})
            self.engine = self.load(name, part_of(tell, 0.0, LOADING), draft=True)
            self.engine.measuring = self.measuring
            self.loaded = name
            tell(LOADING, "Starting the draft and timing both models on this machine")
            runner.prepare(self.engine, "duodecoding")
        return self.engine

    @contextmanager
    def measuring(self, *, stopped: Callable[[], bool] = bool) -> Iterator[None]:
        """While nothing else runs on the machine. Raises Stopped."""
        self.exclusive.clear()
        self.emit({"type": "exclusive"})
        try:
            while not self.exclusive.wait(GLANCE):
                if stopped() or self.cancelled():
                    raise Stopped
            with measuring(stopped=stopped):
                yield
        finally:
            self.emit({"type": "measured"})

    def release(self) -> None:
        """Close the loaded pair's draft and free its memory."""
        if self.engine:
            self.engine.close()
        self.engine = self.loaded = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def serve(pipe: Connection, worker: Worker, gone: Callable[[], object] = bool) -> None:
    """Run the assignments that arrive through a pipe, on this thread; the worker sends its events through the same one.

    gone: called by the reading thread once the pipe is closed.
    """
    assignments: SimpleQueue[Assignment | None] = SimpleQueue()

    def read() -> None:
        try:
            while True:
                message = pipe.recv()
                assignments.put(message) if isinstance(message, Assignment) else worker.tell(message)
        except (EOFError, OSError):
            gone()
            worker.tell(Cancel(2**63))
            assignments.put(None)

    threading.Thread(target=read, name="assignments", daemon=True).start()
    while (assignment := assignments.get()) is not None:
        try:
            worker.do(assignment)
        except OSError:
            break  # Nobody takes its events any more.
    worker.release()
