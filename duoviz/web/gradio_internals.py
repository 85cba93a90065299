"""All that duoviz touches of Gradio without Gradio having promised it, but for its import: checked with 6.31.0.

Nothing public makes Gradio compute less beside a run, forget those who never listen, survive an error in its queue,
and leave the log short. `tests/web/test_gradio_internals.py` names what a new version has moved.
"""

import asyncio
import logging
import re
import sys
import time
from asyncio import Transport
from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec
from types import SimpleNamespace

import gradio as gr
from gradio import queueing, routes
from gradio.queueing import Queue
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import LRUCache
from jinja2 import BaseLoader, Environment
from uvicorn.protocols.http.h11_impl import H11Protocol

from duoviz.web import bounds
from duoviz.web.bounds import RateLimiter

# Seconds from one look of Gradio's queue at its requests to the next. It usually looks a thousand times
# a second, and each look takes Python's lock from the thread that decodes.
QUEUE_STEP = 0.05
# Seconds in which cancelled events end before the queue's loop begins anew.
PAUSE = 1.0
BROKEN = "The server stopped this run: start it again."

INTRODUCTION = re.compile(r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>""")

log = logging.getLogger(__name__)


class Connection(H11Protocol):
    """Closes at once where its peer has more connections than are left for others. most: of all peers."""

    most = bounds.CONNECTIONS

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        others = [peer_of(each) for each in self.connections if each is not self]
        if others.count(peer_of(self)) >= bounds.share(self.most, self.most, len(others)):
            transport.abort()


def peer_of(connection: H11Protocol) -> str:
    return connection.client[0] if connection.client else ""


def state_of(connection: H11Protocol) -> tuple[float, object]:
    """Seconds for which a connection may stay in its state, and that state."""
    cycle, waiting = connection.cycle, connection.transport.get_write_buffer_size()
    if waiting:
        return bounds.ANSWER, (cycle, waiting)
    if cycle is None or cycle.response_complete or cycle.more_body:
        uploading = cycle and cycle.more_body and connection.scope["path"].endswith("/upload")
        return bounds.UPLOADING if uploading else bounds.REQUEST, (cycle, cycle and cycle.response_complete)
    return float("inf"), None


class Watch:
    """Closes connections that have stayed in one state for too long."""

    def __init__(self):
        # Of each connection its state, and since when.
        self.seen: dict[H11Protocol, tuple[object, float]] = {}

    def look(self, connections: Iterable[H11Protocol], now: float) -> None:
        before, self.seen = self.seen, {}
        for connection in list(connections):
            allowed, state = state_of(connection)
            known, since = before.get(connection, (None, now))
            self.seen[connection] = (state, since if known == state else now)
            if now - self.seen[connection][1] > allowed:
                connection.transport.abort()


def calm(demo: gr.Blocks) -> None:
    """Let Gradio compute less beside a run, where a request then waits `QUEUE_STEP` at most; keep its queue alive."""
    queue = demo._queue
    queue.pending_messages_per_session = Mailboxes(queue.pending_messages_per_session.max_size)
    queue.start_processing = partial(keep_processing, queue)
    queue.sleep_when_free = queue.progress_update_sleep_when_free = QUEUE_STEP
    # For /monitoring, which is closed, Gradio makes a table of its last 10,000 events after each one.
    queue.ANALYTICS_MAX_EVENTS, queue.ANAYLTICS_CACHE_FREQUENCY = 1, sys.maxsize
    # Gradio tries to import it before and after each value that it sends, and each time searches the disk.
    if find_spec("matplotlib") is None:
        sys.modules["matplotlib"] = None  # pyright: ignore[reportArgumentType]


def delivered(demo: gr.Blocks, session: str, event: str) -> bool:
    """Whether an event has ended and a stream has carried its end."""
    return event not in demo._queue.pending_event_ids_session.get(session, ())


async def forget(demo: gr.Blocks, session: str) -> None:
    """End a session's events, and drop its messages, which Gradio would keep for ever."""
    queue = demo._queue
    await queue.clean_events(session_hash=session)
    queue.pending_event_ids_session.pop(session, None)
    queue.pending_messages_per_session.pop(session, None)


class Introduced(BaseLoader):
    """Gradio's templates, in which these meta elements stand in the place of Gradio's own introduction of itself."""

    def __init__(self, loader: BaseLoader, elements: str):
        self.loader, self.elements = loader, elements

    def get_source(self, environment: Environment, template: str) -> tuple:
        source, name, is_current = self.loader.get_source(environment, template)
        return INTRODUCTION.sub("", source).replace("<head>", f"<head>\n{self.elements}", 1), name, is_current


def introduce(elements: str) -> None:
    """Let the page introduce itself with these meta elements to whoever shows a link to it."""
    environment = routes.templates.env
    own = environment.loader
    assert own and environment.cache is not None
    environment.loader = Introduced(own.loader if isinstance(own, Introduced) else own, elements)
    environment.cache.clear()


class Mailboxes(LRUCache):
    """Outgoing messages by session. One to a closed session is dropped: as an error it would end Gradio's queue."""

    def __missing__(self, session: str) -> asyncio.Queue:
        return asyncio.Queue()


async def keep_processing(queue: Queue) -> None:
    """Gradio's loop, begun anew after an error, which ends every event with a sentence; over when the server stops."""
    while not queue.stopped:
        try:
            await Queue.start_processing(queue)
        except Exception:
            log.exception("the page's queue broke: all that was under way or waited in it has ended")
            end_events(queue)
            queue.stopped = False
            await asyncio.sleep(PAUSE)
            # An event that was cancelled before it began never gives its place back.
            queue.active_jobs = [None] * len(queue.active_jobs)
            for waiting in queue.event_queue_per_concurrency_id.values():
                waiting.current_concurrency = 0
                waiting.start_times_per_fn.clear()


def end_events(queue: Queue) -> None:
    """Tell everybody who listens that what they asked for has ended."""
    for waiting in queue.event_queue_per_concurrency_id.values():
        waiting.queue.clear()
    for session, events in queue.pending_event_ids_session.items():
        for event in events:
            ended = ProcessCompletedMessage(event_id=event, output={"error": BROKEN}, success=False)
            queue.pending_messages_per_session[session].put_nowait(ended)


def watch_connections(demo: gr.Blocks, watch: Watch) -> None:
    """Bound the connections, and close those that do nothing; without effect until the server has started."""
    if server := getattr(demo, "server", None):
        server.config.http_protocol_class = Connection
        watch.look(server.server_state.connections, time.monotonic())


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
