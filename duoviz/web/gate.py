"""What stands before Gradio: only what the page and its documented endpoints use gets through, each in its turn."""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from duoviz.places.line import PLACES_TAKEN
from duoviz.web.attendance import Attendance, Event
from duoviz.web.calls import API, NAMED, NUMBERED, Call, Door, Function, Refused, parsed, read_call, session_of
from duoviz.web.clients import HEARD, IN_SCOPE, Client, address_of, client_of
from duoviz.web.pace import Pace

# What is read: pages that Gradio makes anew each time, files, and streams of events.
PAGES = re.compile(rf"/|/config|{API}/(info|openapi\.json)")
FILES = re.compile(
    r"/((assets|static|svelte|scripts|recordings)/.+|favicon\.ico|manifest\.json|robots\.txt|theme\.css|pwa_icon(/\d+)?)"
    rf"|{API}/(app_id|startup-events|file=(?!(?i:https?:)).+)"
)
STREAM, ANSWER = f"{API}/queue/data", re.compile(rf"{API}/call/(v2/)?[^/]+/(?P<event>\w+)")
# What is posted besides calls.
ENDINGS = (f"{API}/cancel", f"{API}/reset")
# What Gradio answers to a call.
EVENT = re.compile(rb'\{"event_id":\s*"([^"]+)"\}')
SERVER, UPLOAD = f"{API}/component_server", f"{API}/upload"

# Bytes of a request. A long prompt has some; only a few requests with more than SMALL are read at a time.
MOST = 8_000_000
SMALL = 256_000
LARGE_AT_ONCE = 2
# Seconds in which a request must have arrived.
READING = 30.0

# How many events a session, and all sessions of an address, may have that have not ended, or whose end nobody fetched.
EVENTS_OF_SESSION, EVENTS_OF_ADDRESS = 8, 128

# What an address may have each second, and at once: enough for a class behind one address that opens the page and
# starts a run, and no more, for it takes time from the runs (20 ms for a page, 40 for a new session's call).
PACES = {"page": (4, 64), "call": (4, 160), "file": (30, 4000)}
# Refusals a second, of all addresses together.
REFUSALS = 50


class Gate:
    """An ASGI application before another one.

    doors: the endpoints by name. functions: the page's, by Gradio's number. servers: the components that have
    functions of their own, as (number, function's name). session_runs: how many runs of a session may be in the line.

    On a Space no files may be sent.
    """

    def __init__(
        self,
        app: Callable,
        *,
        doors: Mapping[str, Door],
        functions: Mapping[int, Function],
        servers: frozenset[tuple[int, str]],
        attendance: Attendance,
        on_space: bool,
        session_runs: int,
    ):
        self.app, self.doors, self.functions, self.servers = app, doors, functions, servers
        self.attendance, self.on_space, self.session_runs = attendance, on_space, session_runs
        self.large = asyncio.Semaphore(LARGE_AT_ONCE)
        self.paces = {kind: Pace(rate, burst) for kind, (rate, burst) in PACES.items()}
        self.refusals = Pace(REFUSALS)

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        try:
            if scope["type"] != "http":
                raise Refused(404, "Not found.")
            # As ASGI has it: the path begins with the root path, also behind a proxy that takes it off.
            root, path = urlsplit(scope.get("root_path", "")).path.rstrip("/"), scope["path"]
            path = path.removeprefix(root) if f"{path}/".startswith(f"{root}/") else path
            scope["root_path"], scope["path"] = root, root + path
            path = path.rstrip("/") or "/"
            take = {"GET": self.read, "HEAD": self.read, "POST": self.post}.get(scope["method"], self.nothing)
            await take(path, scope, receive, send)
        except Refused as refused:
            await self.refuse(refused, scope, receive, send)

    async def nothing(self, *_: object) -> None:
        raise Refused(404, "Not found.")

    async def read(self, path: str, scope: dict, receive: Callable, send: Callable) -> None:
        """Let a request for a page, a file or a stream through. Raises Refused."""
        answer = ANSWER.fullmatch(path)
        if answer or path == STREAM:
            name = answer["event"] if answer else Request(scope).query_params.get("session_hash", "")
            if (session := self.attendance.of(name)) is None:
                raise Refused(404, "This run does not exist, or has already ended.")
            # Whoever listens has had its turn when it asked.
            with self.attendance.listening(session):
                return await self.app(scope, receive, send)
        if path == f"{UPLOAD}_progress" and not self.on_space or FILES.fullmatch(path):
            await self.in_turn("file", scope)
        elif PAGES.fullmatch(path):
            await self.in_turn("page", scope)
        else:
            await self.nothing()
        await self.app(scope, receive, send)

    async def post(self, path: str, scope: dict, receive: Callable, send: Callable) -> None:
        """Let a file, a call or what ends one through. Raises Refused."""
        if path == UPLOAD:
            if self.on_space or is_foreign(scope):
                raise Refused(403, "Nothing can be uploaded here.")
            return await self.app(scope, receive, send)
        called = NUMBERED.fullmatch(path) or NAMED.fullmatch(path)
        if not called and path not in (*ENDINGS, SERVER):
            await self.nothing()
        content = await self.content(scope, receive)
        if called:
            return await self.call(path, content, scope, receive, send)
        if path == SERVER:
            self.check_server(parsed(content))
        await self.in_turn("call", scope)
        await self.app(scope, replayed(content, receive), send)

    async def call(self, path: str, content: bytes, scope: dict, receive: Callable, send: Callable) -> None:
        """Let a call through that will not be refused, in its turn. Raises Refused."""
        call = read_call(path, parsed(content), self.functions, self.doors)
        client = client_of(scope, call.session, on_space=self.on_space)
        self.check(call, client)
        await self.in_turn("call", scope)
        self.check(call, client)
        session = call.session

        def opened(event: str) -> None:
            nonlocal session
            session = session or event
            self.attendance.opened(session, event, Event(client, run=call.endpoint is not None))

        scope[IN_SCOPE], scope[HEARD] = client, lambda: self.attendance.heard(session)

        await self.app(scope, replayed(content, receive), noting_event(send, opened))

    def check(self, call: Call, client: Client) -> None:
        """Raise Refused for a call that need not wait to be refused."""
        events = self.attendance.undelivered()
        mine = [event for event in events if event.client.session == client.session]
        if call.endpoint:
            reason = self.doors[call.endpoint].refusal(dict(call.sent), client)
            # A run that was let in just now has no place yet.
            runs = sum(event.run for event in mine)
            if not reason and runs >= self.session_runs:
                reason = PLACES_TAKEN.format(runs)
            if reason:
                # In the form of Gradio's own validators, which its clients read.
                detail = {"__type__": "validate", "is_valid": False, "parameter_name": "request", "message": reason}
                raise Refused(422, [detail])
        near = sum(event.client.address == client.address for event in events) if client.address else 0
        if len(mine) >= EVENTS_OF_SESSION or near >= EVENTS_OF_ADDRESS:
            raise Refused(429, "Too many pending requests: wait a few seconds.")

    def check_server(self, asked: dict) -> None:
        """Raise Refused for what calls no function of a component."""
        session_of(asked)
        which = (asked.get("component_id"), asked.get("fn_name"))
        if [*map(type, which)] != [int, str] or which not in self.servers or "data" not in asked:
            raise Refused(400, "The page has no such function.")

    async def content(self, scope: dict, receive: Callable) -> bytes:
        """The whole body of a request. Raises Refused."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        size = int(declared) if declared.isdigit() else MOST
        if size > MOST:
            raise Refused(413, f"A request may have at most {MOST:,} bytes.")
        async with self.large if size > SMALL else nullcontext():
            try:
                return await asyncio.wait_for(body(scope, receive), READING)
            except TimeoutError:
                raise Refused(408, f"A request must have arrived within {READING:g} seconds.") from None
            except ClientDisconnect:
                raise Refused(400, "The request broke off.") from None

    async def in_turn(self, kind: str, scope: dict) -> None:
        """Wait until this address may have something of this kind. Raises Refused where that takes too long."""
        delay = self.paces[kind].delay(address_of(scope, on_space=self.on_space), time.monotonic())
        if delay is None:
            raise Refused(429, "Too many requests from your address: wait half a minute.")
        await asyncio.sleep(delay)

    async def refuse(self, refused: Refused, scope: dict, receive: Callable, send: Callable) -> None:
        """Answer, in one's turn: at most REFUSALS a second are sent."""
        delay = self.refusals.delay("", time.monotonic())
        await asyncio.sleep(self.refusals.longest if delay is None else delay)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close"})
        await JSONResponse({"detail": refused.detail}, refused.status)(scope, receive, send)


def is_foreign(scope: Mapping) -> bool:
    """Whether a browser sends this for a page of another site."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin")
    return origin is not None and origin.partition(b"://")[2] != headers.get(b"host")


async def body(scope: dict, receive: Callable) -> bytes:
    """All of a request's body. Raises Refused where it is longer than it said."""
    content = bytearray()
    async for part in Request(scope, receive).stream():
        content += part
        if len(content) > MOST:
            raise Refused(413, f"A request may have at most {MOST:,} bytes.")
    return bytes(content)


def replayed(content: bytes, receive: Callable) -> Callable:
    """The body once more, and then what comes after it."""
    first: Iterable = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def again() -> dict:
        return next(first, None) or await receive()

    return again


def noting_event(send: Callable, opened: Callable[[str], None]) -> Callable:
    """Send on an answer, and tell the event that it names."""

    async def note(message: dict) -> None:
        if event := EVENT.fullmatch(message.get("body", b"")):
            opened(event[1].decode())
        await send(message)

    return note
