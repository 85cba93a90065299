"""What workers in processes of their own load in tests: the tiny pair, with methods that misbehave."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.models import bounds
from duoviz.models.files import find_files
from duoviz.models.registry import EMBEDDED, find_pair
from duoviz.models.tokenizers import load_tokenizer
from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import Bounds, Job, RequestQueue
from duoviz.workers.tasks import Assignment, Load, Run
from tests.children import engine_with_draft
from tests.starts import forking
from tests.tiny import change_pair, endless, tiny_engine
from tests.until import wait_until

UNBOUNDED = Bounds(*[10**9] * 3)


def stubborn(plan):
    """Writes nothing, and does not end."""
    while True:
        time.sleep(0.002)


def tiny(name, progress, *, draft, make=engine_with_draft) -> Engine:
    """Called as `load_engine` is."""
    for drafter in (endless, stubborn):
        METHODS[drafter.__name__] = replace(METHODS["vanilla"], id=drafter.__name__, drafter=drafter)
    return make()


def own(name, progress, *, draft, seconds) -> Engine:
    """The tiny pair, with the tokenizer of one's own models where some are named, which has so many seconds."""
    bounds.TEXT, bounds.MEMORY = seconds, 300_000_000
    engine = tiny_engine()
    if name != EMBEDDED:
        change_pair(engine, tokenizer=load_tokenizer(find_files(find_pair(name).target, progress)))
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


@contextmanager
def pool_of(slots: list[WorkerSlot], pair: str | None = None) -> Iterator[Pool]:
    """A pool of these slots; its workers' processes are forked."""
    pool = Pool(slots, RequestQueue(UNBOUNDED, len(slots)))
    with forking():
        pool.start(pair)
        yield pool
        pool.close()


def running(pool: Pool, *jobs: Job) -> list[WorkerSlot]:
    """Submit jobs, and wait until they decode; returns the slots of the workers that do them."""
    for job in jobs:
        pool.submit(job)
    wait_until(lambda: all(job.begun for job in jobs))
    return [next(slot for slot in pool.slots if slot.job is job) for job in jobs]


def last_of(job: Job) -> dict:
    job.future.result(timeout=120)
    return [job.events.get() for _ in range(job.events.qsize())][-1]


def text_of(pool: Pool, job: Job) -> str:
    pool.submit(job)
    return last_of(job)["end"]["text"]


def texts(prompts: list[str]) -> list[str]:
    """What the tiny pair writes, without any worker."""
    runs = (runner.stream(tiny_engine(), "vanilla", prompt, Settings(max_new_tokens=40)) for prompt in prompts)
    return [runner.collect(run)["end"]["text"] for run in runs]
