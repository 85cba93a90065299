"""Serves the page: behind the gate, within `bounds`, and without what nobody listens to."""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
from fastapi import FastAPI

from duoviz.errors import UserError
from duoviz.web import bounds, front, gradio_internals
from duoviz.web.calls import page_of
from duoviz.web.gate import Gate, SessionTracker
from duoviz.web.gradio_internals import Connection
from duoviz.web.heads import known_hosts
from duoviz.web.session import Hardware


def launch(demo: gr.Blocks, hardware: Hardware, **options: Any) -> tuple:
    """Serve the page; options and result as of `gr.Blocks.launch`. Raises UserError."""
    tracker = SessionTracker(partial(gradio_internals.delivered, demo))
    hosts = known_hosts(options.get("root_path"), options.get("server_name"))
    limits, page = hardware.limits, page_of(demo, hardware.endpoints)
    gate = partial(Gate, page=page, tracker=tracker, hosts=hosts, on_space=limits.on_space)
    gradio_internals.introduce(front.card())
    gradio_internals.watch_no_files()
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
        served = {"routes": front.routes(), "lifespan": partial(lifespan, demo, tracker, gate)}
        launched = demo.launch(app_kwargs=served, ssr_mode=False, **options)
    except OSError as error:
        raise UserError(
            "The page cannot be served there: its port is taken, or its host is not one of this machine. "
            "Choose others with --port and --host."
        ) from error
    hosts |= {host for host in (urlsplit(demo.share_url or "").hostname,) if host}
    return launched


@asynccontextmanager
async def lifespan(demo: gr.Blocks, tracker: SessionTracker, gate: Callable, app: FastAPI) -> AsyncIterator[None]:
    """Around the server's life: all requests go through the gate, and until it stops, who is gone is forgotten."""
    gradio_internals.limit_the_log()
    # As many files may be open as the system allows: connections, and some others.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = bounds.OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, bounds.OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    Connection.most = min(bounds.CONNECTIONS, max(soft, most) - bounds.OTHER_FILES)
    # Outside of Gradio's own middleware, which would answer some requests by itself.
    app.middleware_stack = gate(app.middleware_stack or app.build_middleware_stack())
    forgetting = asyncio.create_task(forget_the_unheard(demo, tracker))
    try:
        yield
    finally:
        forgetting.cancel()


async def forget_the_unheard(demo: gr.Blocks, tracker: SessionTracker) -> None:
    """End, once a second, the sessions that nobody listens to."""
    while True:
        await asyncio.sleep(bounds.LOOK)
        for session in tracker.unheard():
            await gradio_internals.forget(demo, session)
