"""A job in the line: whose it is, its work, its events as they come, and how it ends."""

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

from duoviz.places.work import Work

if TYPE_CHECKING:
    from duoviz.web.clients import Client


@dataclass(eq=False, kw_only=True)
class Job:
    """One visitor's place in the line: its events come out of a queue, and it can be stopped.

    client: whose it is. turn: when it runs (see `Line.place`). fetching: whether its models are being fetched, and
    others go before it. taken: whether a place has it; place: which. progress: how far its models are. sources: their
    files, when they are here. load_seconds, ready_by: how long it may take until they are ready, and when that is over.
    seconds, deadline: how long it may decode, and when that is over; None until its decoding begins. future: done when
    the job has ended. summary: what a client gets at the end. error: why it failed, a sentence. Times are on the
    monotonic clock.
    """

    work: Work
    client: Client | None = None
    turn: int = 0
    fetching: bool = False
    taken: bool = False
    place: str = ""
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
        """Keep one of the events of its place, or put it into the queue for the visitor."""
        if event["type"] == "begun":
            self.deadline = time.monotonic() + (self.seconds if self.work.timed else inf)
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

    def halted(self) -> tuple[str, ...] | None:
        """How it is to end, None where it goes on: its visitor said so, or a time is up."""
        if self.stop.is_set() or self.late():
            return ("stopped",)
        timely = self.deadline is None or time.monotonic() <= self.deadline
        return None if timely else ("time", f"Stopped: a run may take {self.seconds:g} seconds here.")

    def late(self) -> bool:
        """Whether its models should have been ready by now."""
        # Read once: the thread that has them ready takes it away.
        ready_by = self.ready_by
        return ready_by is not None and time.monotonic() > ready_by
