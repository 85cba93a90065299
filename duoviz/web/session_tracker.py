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
    """Something that a client asked for. run: whether it starts a run, which waits until `heard` is set."""

    client: Client
    run: bool
    heard: threading.Event = field(default_factory=threading.Event)


@dataclass
class Session:
    """A session's events by name, and its open streams. since: of the last event, or of the last stream's end.

    met: whether anybody has listened yet.
    """

    events: dict[str, Event] = field(default_factory=dict)
    listeners: int = 0
    since: float = 0.0
    met: bool = False


class SessionTracker:
    """Used on the server's loop alone. delivered(session, event): whether an event has ended and its end was sent."""

    def __init__(self, delivered: Callable[[str, str], bool], clock: Callable[[], float] = time.monotonic):
        self.delivered, self.clock = delivered, clock
        self.sessions: dict[str, Session] = {}

    def opened(self, session: str, name: str, event: Event) -> None:
        """Note an event that was put into Gradio's queue."""
        kept = self.sessions.setdefault(session, Session())
        kept.events[name], kept.since = event, self.clock()
        if kept.listeners:
            event.heard.set()

    def of(self, name: str) -> Session | None:
        """The session with this name, or the one that has an event with this name."""
        owners = (session for session in self.sessions.values() if name in session.events)
        return self.sessions.get(name) or next(owners, None)

    @contextmanager
    def listening(self, session: Session) -> Iterator[None]:
        """Held while a stream of this session is open."""
        session.listeners, session.met = session.listeners + 1, True
        for event in session.events.values():
            event.heard.set()
        try:
            yield
        finally:
            session.listeners, session.since = session.listeners - 1, self.clock()

    def undelivered(self) -> list[Event]:
        """All events that have not ended, or whose end nobody has fetched; the others are dropped."""
        for key, session in self.sessions.items():
            session.events = {name: event for name, event in session.events.items() if not self.delivered(key, name)}
        return [event for session in self.sessions.values() for event in session.events.values()]

    def unheard(self) -> list[str]:
        """Drop the sessions that nobody has listened to for too long; their names."""
        now = self.clock()
        patience = {False: bounds.FIRST_LISTENER, True: bounds.NEXT_LISTENER}
        ended = [key for key, s in self.sessions.items() if not s.listeners and s.since < now - patience[s.met]]
        for key in ended:
            del self.sessions[key]
        return ended
