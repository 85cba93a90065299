"""A job in the queue: who asked for it, its task, its events and how it ends."""

import queue
import threading
import time
import uuid
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from duoviz.workers.messages import STOPPED
from duoviz.workers.tasks import Task


class Client(NamedTuple):
    """Who asks. session: its name; of a request that names none, the address. address: None for the machine's user."""

    session: str
    address: str | None = None


def nobody() -> Client:
    """A client that shares no bounds with any other."""
    return Client(uuid.uuid4().hex)


@dataclass(eq=False, kw_only=True)
class Job:
    """A visitor's request to run a task. Its events are read from `events`; setting `stop` ends it.

    turn: its rank in the queue (see `RequestQueue.insert`). fetching: its models are being downloaded; other jobs
    overtake it. worker: the name of the worker that has it, "" while it waits. progress: text about its models.
    sources: their files, once downloaded. load_seconds, run_seconds: limits for making the models ready, and for
    decoding. begun: it decodes. deadline: when the limit of what it does now ends, on the monotonic clock. future: done
    when the job has ended. ended: its `end` event. error: why it failed, a sentence. context: of the request.
    """

    task: Task
    client: Client = field(default_factory=nobody)
    turn: int = 0
    fetching: bool = False
    worker: str = ""
    progress: str = ""
    sources: Any = None
    load_seconds: float = inf
    run_seconds: float = inf
    begun: bool = False
    deadline: float = inf
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)
    ended: dict | None = None
    error: str | None = None

    @property
    def owner(self) -> str:
        """Who takes turns with others: an address, or on one's own machine a session."""
        return self.client.address or self.client.session

    def take(self, event: dict) -> None:
        """Handle an event from the worker: update the job, or pass the event on to the visitor."""
        if event["type"] == "begun":
            self.deadline = time.monotonic() + self.run_seconds if self.task.timed else inf
            self.begun = True
            return
        if event["type"] == "end":
            self.ended = event
        elif event["type"] == "error":
            self.error = event["message"]
        self.events.put(event)

    def fail(self, message: str) -> None:
        """Let it end with a sentence for the visitor."""
        self.take({"type": "error", "message": message})

    def end(self) -> None:
        with suppress(InvalidStateError):  # It has ended before.
            self.future.set_result(None)

    def stop_reason(self) -> dict[str, str] | None:
        """Why it is to end, see `Cancel`; None if it goes on."""
        if self.stop.is_set() or self.late():
            return STOPPED
        if time.monotonic() <= self.deadline:
            return None
        return {"stopped": "time", "message": f"Stopped: a run may take {self.run_seconds:g} seconds here."}

    def late(self) -> bool:
        """Whether its models should have been ready by now."""
        return not self.begun and time.monotonic() > self.deadline
