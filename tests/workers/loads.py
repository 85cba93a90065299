"""What workers in processes of their own load in tests: the tiny pair, with methods that misbehave."""

import time
from dataclasses import replace
from multiprocessing.connection import Connection

from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.models import bounds
from duoviz.models.files import find_target
from duoviz.models.registry import EMBEDDED, find_pair
from duoviz.models.tokenizers import load_tokenizer
from duoviz.workers.local import LocalWorker
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Assignment, Load, Run
from tests.children import engine_with_draft
from tests.tiny import change_pair, endless, tiny_engine


def stubborn(plan):
    """Writes nothing, and does not end."""
    while True:
        time.sleep(0.002)


def tiny(name, progress, sources, *, draft, make=engine_with_draft) -> Engine:
    """Called as `load_engine` is."""
    for drafter in (endless, stubborn):
        METHODS[drafter.__name__] = replace(METHODS["vanilla"], id=drafter.__name__, drafter=drafter)
    return make()


def own(name, progress, sources, *, draft, seconds) -> Engine:
    """The tiny pair, with the tokenizer of one's own models where some are named, which has so many seconds."""
    bounds.TEXT, bounds.MEMORY = seconds, 300_000_000
    engine = tiny_engine()
    if name != EMBEDDED:
        change_pair(engine, tokenizer=load_tokenizer(find_target(find_pair(name).target, progress)))
    return engine


def serve_a_worker(pipe: Connection) -> None:
    """A server with one worker: sends the number of the worker's process, and ends at the next message."""
    worker = LocalWorker(load=tiny)
    worker.send(Assignment(1, Load(pair="embedded")))
    while (event := worker.receive(1.0)) is None or event["type"] != "done":
        pass
    pipe.send(worker.process.pid)
    pipe.recv()


def run_of(method="duodecoding", prompt="hello", *, pair="embedded", tokens=40) -> Job:
    settings = Settings(max_new_tokens=tokens)
    return Job(task=Run(pair=pair, method=method, prompt=prompt, settings=settings, raw=False))
