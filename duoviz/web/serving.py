"""How the page is served: with bounds on what it holds, behind the gate, and watched."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware

from duoviz.web import front, gradio_internals, published
from duoviz.web.attendance import Attendance
from duoviz.web.calls import Function
from duoviz.web.gate import Gate
from duoviz.web.session import Hardware

# Each run in the line holds one of Gradio's threads; so many more are left for all else on the page.
THREADS = 40
# What may wait for a thread.
MOST_WAITING = 64
# Sessions whose state Gradio keeps, 0.3 MB each; a session that comes back later is given a new one.
SESSIONS = 200
# The largest file that may be loaded, and how often (in seconds) files older than a day are removed.
LARGEST_FILE = "100mb"
TIDY_EVERY, KEEP_FOR = 3600, 86400
# Seconds between two looks for sessions to which nobody listens, and for connections that have asked for nothing.
LOOK, SILENT_LOOK = 1.0, 30.0
# Files and connections that may be open: systems allow 1,024 unless they are asked.
OPEN_FILES = 16_384


def bound_queue(demo: gr.Blocks) -> None:
    """Bound Gradio's queue, which is the only way to what it runs, calm it, and keep it alive."""
    demo.queue(max_size=MOST_WAITING, api_open=False)
    gradio_internals.calm(demo)
    gradio_internals.steady(demo)


def launch(demo: gr.Blocks, hardware: Hardware, **options: Any) -> tuple:
    """Serve the page; options, and what is returned, as of `gr.Blocks.launch`."""
    attendance = Attendance(partial(gradio_internals.delivered, demo))
    limits, doors = hardware.limits, hardware.doors
    functions = {
        number: Function(function.api_name if function.api_name in doors else None, len(function.inputs))
        for number, function in demo.fns.items()
        if function.fn
    }
    servers = frozenset(
        (number, fn.__name__) for number, block in demo.blocks.items() for fn in getattr(block, "server_fns", ())
    )
    known = {"doors": doors, "functions": functions, "servers": servers, "attendance": attendance}
    gate = Middleware(Gate, **known, on_space=limits.on_space, session_runs=limits.bounds.session)
    routes = [*front.routes(), *published.routes()]
    served = {"middleware": [gate], "routes": routes, "lifespan": partial(lifespan, demo, attendance)}
    bounds = {
        "max_threads": limits.bounds.length + THREADS,
        "state_session_capacity": SESSIONS,
        "max_file_size": LARGEST_FILE,
        "enable_monitoring": False,
        "run_history": False,
        # Its links lead to what the page has of its own, or to nothing.
        "footer_links": [],
    }
    return demo.launch(app_kwargs=served, ssr_mode=False, **bounds, **options)


@asynccontextmanager
async def lifespan(demo: gr.Blocks, attendance: Attendance, _app: FastAPI) -> AsyncIterator[None]:
    """While the server runs: what nobody listens to is ended, and its log is kept short."""
    gradio_internals.pace_the_log()
    allow_open_files()
    sweeping = asyncio.create_task(sweep(demo, attendance))
    try:
        yield
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping


async def sweep(demo: gr.Blocks, attendance: Attendance) -> None:
    """End, again and again, what nobody has listened to for a while."""
    silent, looked = set(), time.monotonic()
    while True:
        await asyncio.sleep(LOOK)
        for session in attendance.unheard():
            await gradio_internals.forget(demo, session)
        if time.monotonic() - looked > SILENT_LOOK:
            silent, looked = gradio_internals.close_silent(demo, silent), time.monotonic()


def allow_open_files() -> None:
    """Let strangers' connections not take the files that everything else needs, as far as the system allows."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits.
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
