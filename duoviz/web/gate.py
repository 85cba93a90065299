"""What stands before Gradio: it refuses what can be refused before it waits, and notes who asks and who listens."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import NamedTuple
from urllib.parse import parse_qs

from duoviz.outside import in_short
from duoviz.web.attendance import Attendance, Event
from duoviz.web.calls import mistake, names_an_address
from duoviz.web.clients import IN_SCOPE, Keys, address_of, keys_of
from duoviz.web.line import PLACES, PLACES_TAKEN
from duoviz.web.pace import Pace

API = "/gradio_api"
JOIN, CALL, STREAM, UPLOAD = f"{API}/queue/join", f"{API}/call/", f"{API}/queue/data", f"{API}/upload"

# What the page and its clients post to; the rest of Gradio's routes is for apps of other kinds.
POSTED = (JOIN, CALL, f"{API}/cancel", f"{API}/reset", f"{API}/run/", f"{API}/component_server")
# Gradio's routes that tell of other visitors, write files, or fetch what lies elsewhere.
CLOSED = (
    "/monitoring",
    f"{API}/deep_link",
    f"{API}/proxy=",
    f"{API}/file=http:",
    f"{API}/file=https:",
    f"{API}/runs",
    f"{API}/run-history",
    f"{API}/vibe-",
)

# Bytes of a request. A long prompt has some; only a few requests with more than SMALL are read at a time.
MOST = 8_000_000
SMALL = 256_000
LARGE_AT_ONCE = 2
# Seconds in which a request must have arrived.
READING = 30.0

# How many events a client may have that have not ended, or whose end nobody fetched: by its session, and address.
EVENTS_OF_SESSION = 8
EVENTS_OF_ADDRESS = 16

LONGEST_SESSION = 100

# Pages that Gradio makes anew each time.
DEAR = ("/", "/config", f"{API}/info", f"{API}/openapi.json")
# What one address may have done at once, and then each second: 20 ms for a page, 40 for the state of a new session.
# All of it takes Python's lock from the thread that decodes, so a flood is slowed down.
AT_ONCE, A_SECOND = 40, 4
# Refusals a second, of all addresses together.
REFUSALS = 50


class Door(NamedTuple):
    """An endpoint. names: its arguments in order. refusal: why these arguments, of this client, are refused."""

    names: list[str]
    refusal: Callable[[dict, Keys], str | None]


class Refused(Exception):
    """An answer that ends a request: its status and what it says."""

    def __init__(self, status: int, detail: object):
        self.status, self.detail = status, detail


class Gate:
    """An ASGI application before another one. doors: the endpoints by name. numbers: the names by Gradio's number.

    uploads: whether files may be sent.
    """

    def __init__(
        self,
        app: Callable,
        *,
        doors: Mapping[str, Door],
        numbers: Mapping[int, str],
        attendance: Attendance,
        on_space: bool,
        uploads: bool,
    ):
        self.app, self.doors, self.numbers, self.attendance = app, doors, numbers, attendance
        self.on_space, self.uploads = on_space, uploads
        self.large = asyncio.Semaphore(LARGE_AT_ONCE)
        self.pace, self.refusals = Pace(A_SECOND, AT_ONCE), Pace(REFUSALS)

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            self.check_route(scope)
            if scope["method"] == "POST" and not path_of(scope).startswith(UPLOAD):
                await self.take(scope, receive, send)
            else:
                if path_of(scope) in DEAR:
                    await self.in_turn(scope)
                with self.listener(scope):
                    await self.app(scope, receive, send)
        except Refused as refused:
            await self.refuse(refused, send)

    def check_route(self, scope: dict) -> None:
        """Raise Refused for what the page does not need."""
        path = path_of(scope)
        if path.startswith(UPLOAD):
            if not self.uploads or scope["method"] == "POST" and is_foreign(scope):
                raise Refused(403, "Nothing can be uploaded here.")
        elif path.startswith(CLOSED) or (scope["method"] == "POST" and not path.startswith(POSTED)):
            raise Refused(404, "There is nothing here.")

    def listener(self, scope: dict):
        """What notes that somebody listens, where this request is one for a stream."""
        path = path_of(scope)
        if path == STREAM:
            session = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
            return self.attendance.listening(session)
        if scope["method"] == "GET" and path.startswith(CALL):
            return self.attendance.listening(path.rpartition("/")[2])
        return nullcontext()

    async def take(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Read a request, look at what it asks for, and let it through. Raises Refused."""
        content = await self.read(scope, receive)
        path = path_of(scope)
        if not path.startswith((JOIN, CALL)):
            await self.in_turn(scope)
            return await self.app(scope, replayed(content, receive), send)
        asked = parsed(content)
        session = None if path.startswith(f"{CALL}v2/") else asked.get("session_hash")
        if session is not None and not (isinstance(session, str) and len(session) <= LONGEST_SESSION):
            raise Refused(400, f"A session's name is a text of {LONGEST_SESSION} characters at most.")
        client = keys_of(scope, session, on_space=self.on_space)
        name, sent = self.sent_to(path, asked)
        self.check(name, sent, client)
        await self.in_turn(scope)
        self.check(name, sent, client)
        scope[IN_SCOPE] = client

        def opened(event: str) -> None:
            self.attendance.opened(session or event, event, Event(client, run=name is not None))

        await self.app(scope, replayed(content, receive), noting_event(send, opened))

    async def read(self, scope: dict, receive: Callable) -> bytes:
        """The whole body. Raises Refused."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        size = int(declared) if declared.isdigit() else MOST
        if size > MOST:
            raise Refused(413, f"A request may have {MOST:,} bytes at most.")
        async with self.large if size > SMALL else nullcontext():
            try:
                return await asyncio.wait_for(body(receive), READING)
            except TimeoutError:
                raise Refused(408, f"A request must have arrived within {READING:g} seconds.") from None

    def check(self, name: str | None, sent: dict, client: Keys) -> None:
        """Raise Refused for what need not wait to be refused. name: of the endpoint, where it is for one."""
        sentence = self.doors[name].refusal(sent, client) if name else None
        # A run that was let in just now has no place yet.
        if name and not sentence and self.attendance.count(client, runs=True) >= PLACES:
            sentence = PLACES_TAKEN
        if sentence:
            # In the form of Gradio's own validators, which its clients read.
            detail = {"__type__": "validate", "is_valid": False, "parameter_name": "request", "message": sentence}
            raise Refused(422, [detail])
        for keys, allowed in (
            (keys_of_kind(client, "session"), EVENTS_OF_SESSION),
            (keys_of_kind(client, "address"), EVENTS_OF_ADDRESS),
        ):
            if self.attendance.count(keys) >= allowed:
                raise Refused(429, "You have asked for more than you have listened to: wait a few seconds.")

    def sent_to(self, path: str, asked: dict) -> tuple[str | None, dict]:
        """The endpoint that a request is for, None where it is for none, and the arguments by name.

        Raises Refused for a call of no endpoint, for arguments that none takes, and for a file from elsewhere.
        """
        if path == JOIN:
            if names_an_address(asked):
                raise Refused(422, "A file must be sent here first: none is fetched from elsewhere.")
            number = asked.get("fn_index")
            name = self.numbers.get(number) if isinstance(number, int) else None
            if name not in self.doors:
                return None, {}
        else:
            name = path.rpartition("/")[2]
            if name not in self.doors:
                told = f"There is no endpoint named {in_short(name)}; there are: {', '.join(self.doors)}."
                raise Refused(404, told)
        names = self.doors[name].names
        sent = asked if path.startswith(f"{CALL}v2/") else asked.get("data")
        if not isinstance(sent, dict | list):
            return None, {}  # What is no call is for Gradio to complain of.
        if told := mistake(names, sent):
            raise Refused(422, told)
        return name, sent if isinstance(sent, dict) else dict(zip(names, sent, strict=True))

    async def in_turn(self, scope: dict) -> None:
        """Wait until this address may have something done. Raises Refused where that takes too long."""
        delay = self.pace.delay(address_of(scope, on_space=self.on_space), time.monotonic())
        if delay is None:
            raise Refused(429, "Too many requests come from your address: wait half a minute.")
        await asyncio.sleep(delay)

    async def refuse(self, refused: Refused, send: Callable) -> None:
        """Answer, in one's turn: at most REFUSALS a second are sent."""
        delay = self.refusals.delay("", time.monotonic())
        await asyncio.sleep(self.refusals.longest if delay is None else delay)
        content = json.dumps({"detail": refused.detail}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def path_of(scope: Mapping) -> str:
    return scope["path"].rstrip("/") or "/"


def is_foreign(scope: Mapping) -> bool:
    """Whether a browser sends this for a page of another site."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin")
    return origin is not None and origin.partition(b"://")[2] != headers.get(b"host")


def keys_of_kind(client: Keys, kind: str) -> Keys:
    return frozenset(key for key in client if key.startswith(kind))


def parsed(content: bytes) -> dict:
    """The JSON object in a body; an empty one where there is none, of which Gradio complains. Raises Refused."""
    try:
        found = json.loads(content)
    except RecursionError:
        raise Refused(400, "The request is nested too deeply.") from None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def body(receive: Callable) -> bytes:
    """All of a request's body. Raises Refused where it is longer than it said."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The request broke off.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST:
            raise Refused(413, f"A request may have {MOST:,} bytes at most.")
        if not message.get("more_body"):
            return b"".join(parts)


def replayed(content: bytes, receive: Callable) -> Callable:
    """The body once more, and then what comes after it."""
    first: Iterable = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def again() -> dict:
        message = next(first, None)
        return message if message is not None else await receive()

    return again


def noting_event(send: Callable, opened: Callable[[str], None]) -> Callable:
    """Send on an answer, and tell the event that it names."""
    good, parts = False, []

    async def note(message: dict) -> None:
        nonlocal good
        if message["type"] == "http.response.start":
            good = message["status"] == 200
        elif good:
            parts.append(message.get("body", b""))
            if not message.get("more_body") and isinstance(event := parsed(b"".join(parts)).get("event_id"), str):
                opened(event)
        await send(message)

    return note
