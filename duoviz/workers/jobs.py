"""A job in the queue: who asked for it, its task, its events and how it ends."""

from __future__ import annotations

import queue
import threading
import time
import uuid
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from duoviz.workers.tasks import Task

if TYPE_CHECKING:
    from duoviz.web.clients import Client


@dataclass(eq=False, kw_only=True)
class Job:
    """A visitor's request to run a task. Its events are read from `events`; setting `stop` ends it.

    client: who asked. turn: its rank in the queue (see `RequestQueue.insert`). fetching: its models are being
    downloaded; other jobs overtake it. taken: a worker has it; worker: that worker's name. progress: text about its
    models. sources: their files, once downloaded. load_seconds: limit for making the models ready; ready_by: when that
    limit ends. seconds: limit for decoding; deadline: when that limit ends, None before decoding begins. future: done
    when the job has ended. summary: what an API client gets at the end. error: why it failed, a sentence. Times are on
    the monotonic clock.
    """

    task: Task
    client: Client | None = None
    turn: int = 0
    fetching: bool = False
    taken: bool = False
    worker: str = ""
    progress: str = ""
    sources: Any = None
    load_seconds: float = inf
    ready_by: float | None = None
    seconds: float = inf
    deadline: float | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future = field(default_factory=Future)
    summary: dict | None = None
    error: str | None = None

    @property
    def owner(self) -> str:
        """Who takes turns with others: an address, or on one's own machine a session."""
        return self.id if self.client is None else self.client.address or self.client.session

    def take(self, event: dict) -> None:
        """Handle an event from the worker: update the job, or pass the event on to the visitor."""
        if event["type"] == "begun":
            self.deadline = time.monotonic() + (self.seconds if self.task.timed else inf)
        elif event["type"] == "summary":
            self.summary = event["summary"]
        else:
            if event["type"] == "error":
                self.error = event["message"]
            self.events.put(event)

    def fail(self, message: str) -> None:
        """Let it end with a sentence for the visitor."""
        self.take({"type": "error", "message": message})

    def end(self) -> None:
        with suppress(InvalidStateError):  # It has ended before.
            self.future.set_result(None)

    def stop_reason(self) -> tuple[str, ...] | None:
        """Why it is to end (`end`'s arguments): its visitor stopped it or a time limit is over; None if it goes on."""
        if self.stop.is_set() or self.late():
            return ("stopped",)
        timely = self.deadline is None or time.monotonic() <= self.deadline
        return None if timely else ("time", f"Stopped: a run may take {self.seconds:g} seconds here.")

    def late(self) -> bool:
        """Whether its models should have been ready by now."""
        # Read once: the thread that has them ready takes it away.
        ready_by = self.ready_by
        return ready_by is not None and time.monotonic() > ready_by
