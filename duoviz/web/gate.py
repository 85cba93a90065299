"""The door: ASGI middleware around Gradio that lets in what the page needs, each in its turn, and minds who listens."""

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse

from duoviz.web import bounds
from duoviz.web.bounds import RateLimiter
from duoviz.web.calls import API, ENDING, POSTED, Page, read_post
from duoviz.web.heads import HEARD, IN_SCOPE, Client, Refused, address_of, believed, client_of, is_foreign, is_own

# What may be read: pages with the query that Gradio gets for each (never a visitor's own, for Gradio would keep what
# it made of the first one for all), files, and streams of events.
PAGES = {"/": b"", "/config": b"", f"{API}/info": b"page=", f"{API}/openapi.json": b""}
FILES = re.compile(
    r"/((assets|static|svelte|scripts|recordings)/.+|favicon\.ico|manifest\.json|robots\.txt|theme\.css|pwa_icon(/\d+)?)"
    rf"|{API}/(app_id|startup-events|file=(?!(?i:https?:)).+)"
)
STREAM, ANSWER = f"{API}/queue/data", re.compile(rf"{API}/call/(v2/)?[^/]+/(?P<event>\w+)")
UPLOAD = f"{API}/upload"
# What Gradio answers to a call.
EVENT = re.compile(rb'\{"event_id":\s*"([^"]+)"\}')
TOO_MANY = "Too many requests from your address: wait half a minute."
PENDING = "Too many pending requests: wait a few seconds."
NOT_FOUND = "Not found."


@dataclass(eq=False)
class Event:
    """Something that a client asked for. A run waits until `heard` is set."""

    client: Client
    heard: threading.Event = field(default_factory=threading.Event)


@dataclass
class Session:
    """A session's events by name, and its open streams. since: of the last event, or of the last stream's end."""

    events: dict[str, Event] = field(default_factory=dict)
    listeners: int = 0
    since: float = 0.0


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
        session.listeners += 1
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
        latest = self.clock() - bounds.LISTENER
        ended = [key for key, each in self.sessions.items() if not each.listeners and each.since < latest]
        for key in ended:
            del self.sessions[key]
        return ended


class Gate:
    """Refuses what `app` need not see. page: what may be called. hosts: see `heads.known_hosts`."""

    def __init__(self, app: Callable, *, page: Page, tracker: SessionTracker, hosts: Set[str], on_space: bool):
        self.app, self.page, self.tracker, self.hosts = app, page, tracker, hosts
        self.on_space = on_space
        self.under_way: Counter[str] = Counter()
        self.limiters = {kind: RateLimiter(rate, burst) for kind, (rate, burst) in bounds.RATES.items()}
        self.refusals = RateLimiter(bounds.REFUSALS)

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close"})
        try:
            scope = believed(scope, self.hosts, on_space=self.on_space)
        except Refused as refused:
            # Nothing of its body is read: what follows it is no request.
            reply = JSONResponse({"detail": refused.detail}, refused.status, {"Connection": "close"})
            return await reply(scope, receive, send)
        address = address_of(scope, on_space=self.on_space)
        self.under_way[address] += 1
        try:
            if self.under_way[address] > bounds.REQUESTS_OF_ADDRESS:
                raise Refused(429, TOO_MANY)
            await self.let_in(scope, receive, send)
        except Refused as refused:
            # At most REFUSALS a second are sent.
            delay = self.refusals.delay("", time.monotonic())
            await asyncio.sleep(self.refusals.longest if delay is None else delay)
            await JSONResponse({"detail": refused.detail}, refused.status)(scope, receive, send)
        finally:
            self.under_way -= Counter([address])

    async def let_in(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Raises Refused."""
        path, headers = scope["path"].removeprefix(scope["root_path"]), Headers(scope=scope)
        if not path:
            # Relative, for behind some proxies nobody knows the page's whole address.
            query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            return await RedirectResponse(f"{scope['path'].rpartition('/')[2]}/{query}")(scope, receive, send)
        path = path.rstrip("/") or "/"
        if scope["method"] in ("GET", "HEAD"):
            await self.read(path, scope, receive, send)
        elif scope["method"] == "POST":
            await self.post(path, headers, scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            # Gradio says which other sites may call.
            await self.app(scope, receive, send)
        else:
            raise Refused(404, NOT_FOUND)

    async def read(self, path: str, scope: dict, receive: Callable, send: Callable) -> None:
        """Let a request for a page, a file or a stream through. Raises Refused."""
        answer = ANSWER.fullmatch(path)
        if answer or path == STREAM:
            name = answer["event"] if answer else Request(scope).query_params.get("session_hash", "")
            if (session := self.tracker.of(name)) is None:
                raise Refused(404, "This run does not exist, or has already ended.")
            # No turn is needed: the call that this stream is about has had its own.
            with self.tracker.listening(session):
                return await self.app(scope, receive, unheld(send))
        if path == f"{UPLOAD}_progress" and not self.on_space or FILES.fullmatch(path):
            await self.in_turn("file", scope)
        elif path in PAGES:
            await self.in_turn("page", scope)
            scope["query_string"] = PAGES[path]
        else:
            raise Refused(404, NOT_FOUND)
        await self.app(scope, receive, send)

    async def post(self, path: str, headers: Headers, scope: dict, receive: Callable, send: Callable) -> None:
        """Let an upload, a call, or the cancelling of one through. Raises Refused."""
        if not self.on_space and is_foreign(scope, self.hosts):
            raise Refused(403, "This page takes nothing from pages of other sites.")
        if path == UPLOAD and not self.on_space:
            return await self.app(scope, receive, send)
        if path == UPLOAD:
            raise Refused(403, "Nothing can be uploaded here.")
        if not POSTED.fullmatch(path):
            raise Refused(404, NOT_FOUND)
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(415, "A call is sent as application/json.")
        content = await self.content(int(headers.get("content-length", 0)), scope, receive)
        # Checked first, so that no mistake waits.
        session = read_post(path, content, self.page)
        await self.in_turn("call", scope)
        if not ENDING.fullmatch(path):
            send = self.opening(session, scope, send)
        await self.app(scope, replayed(content, receive), send)

    def opening(self, session: str | None, scope: dict, send: Callable) -> Callable:
        """A `send` that also notes the event which Gradio's answer names.

        Raises Refused where this client has asked for too much already.
        """
        client = client_of(scope, session, on_space=self.on_space)
        events = self.tracker.undelivered()
        mine = sum(event.client.session == client.session for event in events)
        near = sum(event.client.address == client.address for event in events) if client.address else 0
        # No more than it leaves free.
        allowed = min(bounds.EVENTS_OF_ADDRESS, bounds.EVENTS - len(events))
        if mine >= bounds.EVENTS_OF_SESSION or near and near >= allowed:
            raise Refused(429, PENDING)
        event = Event(client)
        scope[IN_SCOPE], scope[HEARD] = client, event.heard

        async def note(message: dict) -> None:
            if found := EVENT.fullmatch(message.get("body", b"")):
                self.tracker.opened(session or found[1].decode(), found[1].decode(), event)
            await send(message)

        return note

    async def content(self, length: int, scope: dict, receive: Callable) -> bytes:
        """The whole body of a request, read at its address's rate; length: as its head says. Raises Refused."""
        content, too_long = bytearray(), Refused(413, f"A request may have at most {bounds.BODY:,} bytes.")
        if length > bounds.BODY:
            raise too_long
        try:
            # What does not come is not waited for here: its connection is closed.
            async for part in Request(scope, receive).stream():
                await self.in_turn("byte", scope, len(part))
                content += part
                if len(content) > bounds.BODY:
                    raise too_long
        except ClientDisconnect:
            raise Refused(400, "The request broke off.") from None
        return bytes(content)

    async def in_turn(self, kind: str, scope: dict, cost: float = 1) -> None:
        """Wait for this address's turn (see `bounds.RATES`). Raises Refused where that takes too long."""
        address = address_of(scope, on_space=self.on_space)
        if is_own(address, on_space=self.on_space):
            cost = cost / bounds.OWN
        delay = self.limiters[kind].delay(address, time.monotonic(), cost)
        if delay is None:
            raise Refused(429, TOO_MANY)
        await asyncio.sleep(delay)


def replayed(content: bytes, receive: Callable) -> Callable:
    """A `receive` that gives the body again, and then what comes after it."""
    first: Iterable = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def again() -> dict:
        return next(first, None) or await receive()

    return again


def unheld(send: Callable) -> Callable:
    """A `send` of a stream that no proxy may compress or buffer: it would hold each event back until the end."""

    async def pass_on(message: dict) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["cache-control"], headers["x-accel-buffering"] = "no-cache, no-transform", "no"
        await send(message)

    return pass_on
