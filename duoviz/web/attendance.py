"""Which sessions have asked for something that was not delivered yet, and who listens."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from duoviz.web.clients import Keys

# Seconds that what was asked waits for someone who listens: a client asks first, and listens then.
PATIENCE = 10.0


class Event(NamedTuple):
    """Something that was asked for. client: by whom. run: whether it asks for a place in the line."""

    client: Keys
    run: bool


@dataclass
class Session:
    """events: by their names. listeners: streams that are open. since: when the last was closed, or an event came."""

    events: dict[str, Event] = field(default_factory=dict)
    listeners: int = 0
    since: float = 0.0


class Attendance:
    """Kept by the gate, on the server's loop alone.

    delivered: whether a session's event has ended and its end was sent.
    """

    def __init__(self, delivered: Callable[[str, str], bool], clock: Callable[[], float] = time.monotonic):
        self.delivered, self.clock = delivered, clock
        self.sessions: dict[str, Session] = {}

    def opened(self, session: str, name: str, event: Event) -> None:
        """An event was put into the queue."""
        found = self.sessions.setdefault(session, Session())
        found.events[name] = event
        found.since = self.clock()

    @contextmanager
    def listening(self, name: str) -> Iterator[None]:
        """While a stream of this session, or of the session of this event, is open."""
        key = next((key for key, session in self.sessions.items() if name in session.events), name)
        session = self.sessions.setdefault(key, Session())
        session.listeners += 1
        try:
            yield
        finally:
            session.listeners -= 1
            session.since = self.clock()

    def count(self, client: Keys, *, runs: bool = False) -> int:
        """How many events (or only runs) one client, by the key with the most of them, has that were not delivered."""
        for key, session in self.sessions.items():
            session.events = {name: event for name, event in session.events.items() if not self.delivered(key, name)}
        events = [event for session in self.sessions.values() for event in session.events.values()]
        owners = [event.client for event in events if event.run or not runs]
        return max((sum(key in owner for owner in owners) for key in client), default=0)

    def unheard(self) -> list[str]:
        """The sessions to which nobody has listened for PATIENCE, whether all was delivered or not; forgotten here."""
        late = self.clock() - PATIENCE
        found = [key for key, session in self.sessions.items() if not session.listeners and session.since < late]
        for key in found:
            del self.sessions[key]
        return found
