"""How the page is served: with bounds on what it holds, behind the gate, and watched."""

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
from duoviz.web.connections import Connection, Watch
from duoviz.web.gate import Gate
from duoviz.web.heads import guarded, known_hosts
from duoviz.web.session import Hardware
from duoviz.web.session_tracker import SessionTracker


def bound_queue(demo: gr.Blocks) -> None:
    """Bound Gradio's queue, which is the only way to what it runs, and calm it."""
    demo.queue(max_size=bounds.WAITING, api_open=False)
    gradio_internals.calm(demo)


def launch(demo: gr.Blocks, hardware: Hardware, **options: Any) -> tuple:
    """Serve the page; options, and what is returned, as of `gr.Blocks.launch`. Raises UserError."""
    tracker = SessionTracker(partial(gradio_internals.delivered, demo))
    hosts = known_hosts(options.get("root_path"), options.get("server_name"))
    limits, page = hardware.limits, page_of(demo, hardware.endpoints)
    gate = Middleware(Gate, page=page, tracker=tracker, hosts=hosts, limits=limits)
    lifetime = partial(lifespan, demo, tracker, hosts, limits.on_space)
    bounded = {
        "max_threads": limits.bounds.length + bounds.THREADS,
        "state_session_capacity": bounds.SESSIONS,
        "max_file_size": bounds.LARGEST_FILE,
        "enable_monitoring": False,
        "run_history": False,
        # Its links lead to what the page has of its own, or to nothing.
        "footer_links": [],
    }
    served = {"middleware": [gate], "routes": front.routes(), "lifespan": lifetime}
    try:
        launched = demo.launch(app_kwargs=served, ssr_mode=False, **bounded, **options)
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
    """While the server runs: what nobody listens to is ended, and its log is kept short."""
    gradio_internals.limit_the_log()
    Connection.most = allow_open_files()
    # Before Gradio's own, which would answer some requests by themselves.
    app.middleware_stack = guarded(app.middleware_stack or app.build_middleware_stack(), hosts, on_space=on_space)
    sweeping = asyncio.create_task(sweep(demo, tracker))
    try:
        yield
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping


async def sweep(demo: gr.Blocks, tracker: SessionTracker) -> None:
    """End, again and again, what nobody has listened to for a while, and connections of which nothing comes."""
    watch = Watch()
    while True:
        await asyncio.sleep(bounds.LOOK)
        for session in tracker.unheard():
            await gradio_internals.forget(demo, session)
        gradio_internals.watch_connections(demo, watch)


def allow_open_files() -> int:
    """Raise the number of files that may be open, as far as the system allows; how many of them connections may take.

    The rest is for everything else.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = bounds.OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, bounds.OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return min(bounds.CONNECTIONS, max(soft, most) - bounds.OTHER_FILES)
