"""Workers in processes of their own: what dies ends its own run, and nothing is left behind."""

import os
import signal
from functools import partial

import psutil
import pytest

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.decoding.worker import heartbeat
from duoviz.workers import pool as pool_module
from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import UNBOUNDED, RequestQueue
from tests.starts import forking, start
from tests.tiny import tiny_engine
from tests.until import has_ended, wait_until
from tests.workers.loads import run_of, serve_a_worker, tiny

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def pool():
    slots = [WorkerSlot(start=partial(LocalWorker, load=partial(tiny, make=tiny_engine))) for _ in range(2)]
    pool = Pool(slots, RequestQueue(UNBOUNDED, 2))
    with forking():
        pool.start("embedded")
        yield pool
        workers = [slot.worker.process.pid for slot in pool.slots]
        pool.close()
    wait_until(lambda: all(map(has_ended, workers)))


@pytest.fixture(autouse=True)
def both_loaded(pool):
    wait_until(lambda: all(slot.loaded and slot.alive() and not slot.job for slot in pool.slots))


def texts(prompts):
    """What the tiny pair writes, without any worker."""
    settings = Settings(max_new_tokens=40)
    return [
        runner.collect(runner.stream(tiny_engine(), "vanilla", prompt, settings))["end"]["text"] for prompt in prompts
    ]


def begun(pool, *jobs):
    """Submit jobs, and wait until they decode; returns the workers that do them."""
    for job in jobs:
        pool.submit(job)
    wait_until(lambda: all(job.begun for job in jobs))
    return [next(slot for slot in pool.slots if slot.job is job) for job in jobs]


def last_of(job):
    job.future.result(timeout=120)
    return [job.events.get() for _ in range(job.events.qsize())][-1]


def test_two_runs_go_on_at_once_and_each_of_many_has_its_own_text(pool):
    first, second = run_of("endless"), run_of("endless")
    assert len({id(slot) for slot in begun(pool, first, second)}) == 2
    first.stop.set()
    assert last_of(first)["end"]["stopped"] == "stopped" and not second.future.done()
    prompts = [f"tell me {number}" for number in range(6)]
    jobs = [run_of(method, prompt) for prompt, method in zip(prompts, ["vanilla", "duodecoding"] * 3, strict=True)]
    for job in jobs:
        pool.submit(job)
    second.stop.set()
    assert [last_of(job)["end"]["text"] for job in jobs] == texts(prompts)


@pytest.mark.parametrize(
    "sent, sentence",
    [
        (
            signal.SIGKILL,
            "The process that ran this was killed or ran out of memory (exit code -9). Start the run again",
        ),
        (signal.SIGSTOP, "The process that ran this stopped answering. Start the run again; other runs go on."),
    ],
)
def test_a_worker_that_is_killed_or_hangs_ends_its_own_run_and_another_starts(pool, monkeypatch, sent, sentence):
    lost, other = run_of("endless"), run_of("endless")
    process = begun(pool, lost, other)[0].worker.process.pid
    if sent == signal.SIGSTOP:
        monkeypatch.setattr(heartbeat, "SILENCE", 1.0)
    os.kill(process, sent)
    assert last_of(lost)["message"].startswith(sentence) and lost.error
    wait_until(lambda: has_ended(process))
    assert not other.future.done()
    pool.submit(after := run_of("vanilla", "tell me"))
    assert last_of(after)["end"]["text"] == texts(["tell me"])[0]
    other.stop.set()
    assert last_of(other)["end"]["stopped"] == "stopped"


def test_a_worker_that_does_not_stop_is_ended(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "ENDING", 0.5)
    job = run_of("stubborn")
    begun(pool, job)
    job.stop.set()
    assert last_of(job)["message"].startswith("The process that ran this did not stop, and was ended. Start")


def test_a_worker_that_dies_idle_is_replaced_before_anybody_comes(pool):
    process = pool.slots[0].worker.process
    process.kill()
    wait_until(lambda: pool.slots[0].loaded and pool.slots[0].worker.process is not process)


@pytest.mark.parametrize("is_killed", [False, True])
def test_no_worker_outlives_the_server(is_killed):
    server, pipe = start(serve_a_worker)
    worker = pipe.recv()
    drafts = [child.pid for child in psutil.Process(worker).children(recursive=True)]
    if is_killed:
        server.kill()
    else:
        pipe.send("")
    server.join(60)
    assert drafts
    wait_until(lambda: all(map(has_ended, [worker, *drafts])))
