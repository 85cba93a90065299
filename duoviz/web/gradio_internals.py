"""All that duoviz touches of Gradio without Gradio having promised it, but for its import: checked with 6.31.0.

Nothing public makes Gradio compute less beside a run, forget those who never listen, close connections that do nothing,
and leave the log short. `tests/web/test_gradio_internals.py` names what a new version has moved.
"""

import asyncio
import logging
import re
import sys
import time
from asyncio import Transport
from types import SimpleNamespace

import gradio as gr
from gradio import http_server, queueing, routes
from gradio.utils import LRUCache
from jinja2 import FunctionLoader
from uvicorn.protocols.http import auto
from uvicorn.protocols.http.h11_impl import H11Protocol

from duoviz.web import bounds
from duoviz.web.bounds import RateLimiter

# Seconds from one look of Gradio's queue at its requests to the next. It usually looks a thousand times
# a second, and each look takes Python's lock from the thread that decodes.
QUEUE_STEP = 0.05

INTRODUCTION = re.compile(r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>""")

log = logging.getLogger(__name__)


class Connection(H11Protocol):
    """Closes where its peer has more connections than are left for others, and where nothing goes on for too long.

    most: connections of all peers. seen, since: its state, and since when it has not changed.
    """

    most = bounds.CONNECTIONS
    seen: object = None
    since = 0.0

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        others = [peer_of(each) for each in self.connections if each is not self]
        if others.count(peer_of(self)) >= self.most - len(others):
            transport.abort()
        self.look()

    def look(self) -> None:
        """Close it if it has stayed in one state for too long; look again later."""
        state, allowed = self.state()
        if state != self.seen:
            self.seen, self.since = state, self.loop.time()
        if self.loop.time() - self.since > allowed:
            self.transport.abort()
        if not self.transport.is_closing():
            self.loop.call_later(bounds.LOOK, self.look)

    def state(self) -> tuple[object, float]:
        """Its state, and seconds for which it may stay in that."""
        cycle, unread = self.cycle, self.transport.get_write_buffer_size()
        if unread:
            return (cycle, unread), bounds.ANSWER
        if cycle and not cycle.response_complete and not cycle.more_body:
            return "answered", float("inf")
        uploading = cycle and cycle.more_body and self.scope["path"].endswith("/upload")
        return (cycle, cycle and cycle.response_complete), bounds.UPLOADING if uploading else bounds.REQUEST


def peer_of(connection: H11Protocol) -> str:
    return connection.client[0] if connection.client else ""


# What uvicorn makes of each connection.
auto.AutoHTTPProtocol = Connection  # pyright: ignore[reportPrivateImportUsage]


class Mailboxes(LRUCache):
    """Outgoing messages by session. One to a closed session is dropped: as an error it would end Gradio's queue."""

    def __missing__(self, session: str) -> asyncio.Queue:
        return asyncio.Queue()


def bound_queue(demo: gr.Blocks) -> None:
    """Bound Gradio's queue, through which all of the page's functions are called, and keep it alive.

    Beside a run it computes less, and a request then waits `QUEUE_STEP` at most.
    """
    queue = demo.queue(max_size=bounds.WAITING, api_open=False)._queue
    queue.pending_messages_per_session = Mailboxes(queue.pending_messages_per_session.max_size)
    queue.sleep_when_free = queue.progress_update_sleep_when_free = QUEUE_STEP
    # For /monitoring, which is closed, Gradio makes a table of its last 10,000 events after each one.
    queue.ANALYTICS_MAX_EVENTS, queue.ANAYLTICS_CACHE_FREQUENCY = 1, sys.maxsize


def delivered(demo: gr.Blocks, session: str, event: str) -> bool:
    """Whether an event has ended and a stream has carried its end."""
    return event not in demo._queue.pending_event_ids_session.get(session, ())


async def forget(demo: gr.Blocks, session: str) -> None:
    """End a session's events, and drop its messages, which Gradio would keep for ever."""
    queue = demo._queue
    await queue.clean_events(session_hash=session)
    queue.pending_event_ids_session.pop(session, None)
    queue.pending_messages_per_session.pop(session, None)


def watch_no_files() -> None:
    """Let nobody who edits a Space's files change what it runs: without the `spaces` package, that fails in the log."""
    http_server.watchfn_spaces = lambda reloader: None  # pyright: ignore[reportPrivateImportUsage]


def introduce(elements: str) -> None:
    """Let the page introduce itself with these meta elements, in the place of Gradio's own, where a link is shown."""
    environment = routes.templates.env
    own = environment.loader
    assert own and environment.cache is not None

    def source(name: str) -> str:
        return INTRODUCTION.sub("", own.get_source(environment, name)[0]).replace("<head>", f"<head>\n{elements}", 1)

    environment.loader = FunctionLoader(source)
    environment.cache.clear()


def limit_the_log() -> None:
    """Let entries that strangers can cause through a few times, then once in a while, and cut them."""
    limited = LimitedLog()
    for logger in (log, *map(logging.getLogger, ("uvicorn.error", "asyncio", "python_multipart.multipart"))):
        logger.addFilter(limited)
    for module in (queueing, routes):
        # All that these two use of it.
        module.traceback = SimpleNamespace(print_exc=tell)  # pyright: ignore[reportAttributeAccessIssue]


def tell() -> None:
    """Log why a function of the page failed, unless its visitor reads that."""
    if not isinstance(sys.exc_info()[1], gr.Error):
        log.exception("a function of the page failed")


class LimitedLog(logging.Filter):
    """Lets some records through, then one in a while, which says how many were left out; cuts long ones."""

    def __init__(self):
        super().__init__()
        self.limiter, self.left_out = RateLimiter(1 / bounds.LOGGED_EVERY, bounds.LOGGED_AT_ONCE, longest=0), 0

    def filter(self, record: logging.LogRecord) -> bool:
        if self.limiter.delay("", time.monotonic()) is None:
            self.left_out += 1
            return False
        left_out = f" ({self.left_out} entries before it were left out)" if self.left_out else ""
        self.left_out = 0
        record.msg, record.args = cut(record.getMessage()) + left_out, ()
        if record.exc_info:
            record.exc_text = cut(logging.Formatter().formatException(record.exc_info))  # pyright: ignore[reportArgumentType]
        return True


def cut(text: str) -> str:
    """A text; of a long one the beginning and the end."""
    half = bounds.LOGGED // 2
    return text if len(text) <= bounds.LOGGED else f"{text[:half]} … {text[-half:]}"
