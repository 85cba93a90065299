"""Serves the page: behind the gate, within `bounds`, and swept of what nobody listens to."""

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware

from duoviz.errors import UserError
from duoviz.web import bounds, front, gradio_internals
from duoviz.web.calls import page_of
from duoviz.web.gate import Gate, SessionTracker
from duoviz.web.gradio_internals import Connection, Watch
from duoviz.web.heads import guarded, known_hosts
from duoviz.web.session import Hardware


def bound_queue(demo: gr.Blocks) -> None:
    """Bound Gradio's queue, through which all of the page's functions are called, and calm it."""
    demo.queue(max_size=bounds.WAITING, api_open=False)
    gradio_internals.calm(demo)


def launch(demo: gr.Blocks, hardware: Hardware, **options: Any) -> tuple:
    """Serve the page; options and result as of `gr.Blocks.launch`. Raises UserError."""
    tracker = SessionTracker(partial(gradio_internals.delivered, demo))
    hosts = known_hosts(options.get("root_path"), options.get("server_name"))
    limits, page = hardware.limits, page_of(demo, hardware.endpoints)
    served = {
        "middleware": [Middleware(Gate, page=page, tracker=tracker, hosts=hosts, limits=limits)],
        "routes": front.routes(),
        "lifespan": partial(lifespan, demo, tracker, hosts, limits.on_space),
    }
    gradio_internals.introduce(front.card())
    options |= {
        "max_threads": limits.bounds.length + bounds.THREADS,
        "state_session_capacity": bounds.SESSIONS,
        "max_file_size": bounds.LARGEST_FILE,
        "enable_monitoring": False,
        "run_history": False,
        # Gradio's links at the foot repeat what the page has, or lead to what is closed.
        "footer_links": [],
    }
    try:
        launched = demo.launch(app_kwargs=served, ssr_mode=False, **options)
    except OSError as error:
        raise UserError(
            "The page cannot be served there: its port is taken, or its host is not one of this machine. "
            "Choose others with --port and --host."
        ) from error
    hosts |= {host for host in (urlsplit(demo.share_url or "").hostname,) if host}
    return launched


@asynccontextmanager
async def lifespan(
    demo: gr.Blocks, tracker: SessionTracker, hosts: set[str], on_space: bool, app: FastAPI
) -> AsyncIterator[None]:
    """Around the server's life: guards what is outside Gradio's own middleware, and sweeps until the server stops."""
    gradio_internals.limit_the_log()
    Connection.most = allow_open_files()
    # Gradio's own middleware would answer some requests by itself.
    app.middleware_stack = guarded(app.middleware_stack or app.build_middleware_stack(), hosts, on_space=on_space)
    sweeping = asyncio.create_task(sweep(demo, tracker))
    try:
        yield
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping


async def sweep(demo: gr.Blocks, tracker: SessionTracker) -> None:
    """End, once a second, the sessions that nobody listens to and the connections that do nothing."""
    watch = Watch()
    while True:
        await asyncio.sleep(bounds.LOOK)
        for session in tracker.unheard():
            await gradio_internals.forget(demo, session)
        gradio_internals.watch_connections(demo, watch)


def allow_open_files() -> int:
    """Let this process open as many files as the system allows; the number of connections that leaves enough files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = bounds.OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, bounds.OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return min(bounds.CONNECTIONS, max(soft, most) - bounds.OTHER_FILES)
