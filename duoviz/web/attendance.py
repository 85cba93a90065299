"""Which sessions have asked for something that was not delivered yet, and who listens."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from duoviz.web.clients import Client

# Seconds that what was asked waits for someone who listens: a client asks first, and listens then.
PATIENCE = 10.0


class Event(NamedTuple):
    """Something that was asked for. client: by whom. run: whether it asks for a place in the line."""

    client: Client
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
        kept = self.sessions.setdefault(session, Session())
        kept.events[name], kept.since = event, self.clock()

    def of(self, name: str) -> Session | None:
        """The session with this name, or the one that this event belongs to."""
        owners = (session for session in self.sessions.values() if name in session.events)
        return self.sessions.get(name) or next(owners, None)

    @contextmanager
    def listening(self, session: Session) -> Iterator[None]:
        """While a stream of this session is open."""
        session.listeners += 1
        try:
            yield
        finally:
            session.listeners -= 1
            session.since = self.clock()

    def heard(self, session: str | None) -> bool:
        """Whether anybody listens to this session; to be asked from any thread."""
        kept = self.sessions.get(session)
        return kept is not None and kept.listeners > 0

    def undelivered(self) -> list[Event]:
        """All events that have not ended, or whose end nobody has fetched."""
        for key, session in self.sessions.items():
            session.events = {name: event for name, event in session.events.items() if not self.delivered(key, name)}
        return [event for session in self.sessions.values() for event in session.events.values()]

    def unheard(self) -> list[str]:
        """The sessions to which nobody has listened for PATIENCE, whether all was delivered or not; forgotten here."""
        late = self.clock() - PATIENCE
        ended = [key for key, session in self.sessions.items() if not session.listeners and session.since < late]
        for key in ended:
            del self.sessions[key]
        return ended
