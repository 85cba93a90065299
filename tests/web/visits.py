"""What a visitor's page sends, the functions that it calls, and runs on the hardware."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from duoviz.decoding.settings import Settings
from duoviz.web.app import build_app
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Run

SENT = {
    "max_new_tokens": 12.0, "temperature": 0, "top_k": 0, "top_p": 1, "seed": 0, "acceptance": "coupled",
    "sequences": "dynamic", "budget": "auto", "draft_mode": "batched", "cores": "auto",
}  # fmt: skip
SHORT = Settings(max_new_tokens=30)


def functions(hardware):
    """The page's functions as Gradio names them; of two with one name the Live tab's has it without a number."""
    return {each.api_name: each.fn for each in build_app(hardware).fns.values()}


def visitor(name):
    return SimpleNamespace(session_hash=name, request=None)


def in_a_loop(coroutine):
    """What a coroutine returns; in a thread, for the browser's own loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def start(hardware, **changes):
    arguments = {"pair": "embedded", "method": "duodecoding", "prompt": "hello", "settings": SHORT}
    return started(hardware, Run(**(arguments | changes), raw=False))


def started(hardware, task):
    """This work as a job in the line."""
    job = Job(task=task)
    hardware.start(job)
    return job


def events_in(values):
    """The events of all that the page is sent."""
    return [event for value in values for event in json.loads(value)["events"]]


def events_of(hardware, run):
    return [event for events in hardware.batches(run) for event in events]
