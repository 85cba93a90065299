"""Which sessions have asked for something that was not delivered yet, and who listens."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from duoviz.web import bounds
from duoviz.web.clients import Client


@dataclass(eq=False)
class Event:
    """Something that was asked for. client: by whom. run: whether it starts a run.

    heard: set once somebody listens, and waited for by the run.
    """

    client: Client
    run: bool
    heard: threading.Event = field(default_factory=threading.Event)


@dataclass
class Session:
    """events: by their names. listeners: streams that are open. since: when the last was closed, or an event came."""

    events: dict[str, Event] = field(default_factory=dict)
    listeners: int = 0
    since: float = 0.0


class SessionTracker:
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
        if kept.listeners:
            event.heard.set()

    def of(self, name: str) -> Session | None:
        """The session with this name, or the one that this event belongs to."""
        owners = (session for session in self.sessions.values() if name in session.events)
        return self.sessions.get(name) or next(owners, None)

    @contextmanager
    def listening(self, session: Session) -> Iterator[None]:
        """While a stream of this session is open."""
        session.listeners += 1
        for event in session.events.values():
            event.heard.set()
        try:
            yield
        finally:
            session.listeners -= 1
            session.since = self.clock()

    def undelivered(self) -> list[Event]:
        """All events that have not ended, or whose end nobody has fetched."""
        for key, session in self.sessions.items():
            session.events = {name: event for name, event in session.events.items() if not self.delivered(key, name)}
        return [event for session in self.sessions.values() for event in session.events.values()]

    def unheard(self) -> list[str]:
        """The sessions to which nobody has listened for too long, whether all was delivered or not; forgotten here."""
        now, ended = self.clock(), []
        for key, session in self.sessions.items():
            known = any(event.heard.is_set() for event in session.events.values())
            patience = bounds.NEXT_LISTENER if known else bounds.FIRST_LISTENER
            if not session.listeners and session.since < now - patience:
                ended.append(key)
        for key in ended:
            del self.sessions[key]
        return ended
