"""Workers in processes of their own: what dies ends its own run, and nothing is left behind."""

import os
import signal
from functools import partial
from types import SimpleNamespace

import psutil
import pytest

from duoviz.decoding.worker import heartbeat
from duoviz.workers import pool as pool_module
from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import WorkerSlot
from duoviz.workers.tasks import WorkerDied
from tests.starts import forking, start
from tests.tiny import tiny_engine
from tests.until import has_ended, wait_until
from tests.workers.loads import last_of, pool_of, run_of, running, serve_a_worker, text_of, texts, tiny

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def pool():
    slots = [WorkerSlot(start=partial(LocalWorker, load=partial(tiny, make=tiny_engine))) for _ in range(2)]
    with pool_of(slots, "embedded") as pool:
        yield pool
        workers = [slot.worker.process.pid for slot in pool.slots]
    wait_until(lambda: all(map(has_ended, workers)))


@pytest.fixture(autouse=True)
def both_loaded(pool):
    wait_until(lambda: all(slot.loaded and slot.alive() and not slot.job for slot in pool.slots))


def test_two_runs_go_on_at_once_and_each_of_many_has_its_own_text(pool):
    first, second = run_of("endless"), run_of("endless")
    assert len({id(slot) for slot in running(pool, first, second)}) == 2
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
    process = running(pool, lost, other)[0].worker.process.pid
    if sent == signal.SIGSTOP:
        monkeypatch.setattr(heartbeat, "SILENCE", 1.0)
    os.kill(process, sent)
    assert last_of(lost)["message"].startswith(sentence) and lost.error
    wait_until(lambda: has_ended(process))
    assert not other.future.done()
    assert text_of(pool, run_of("vanilla", "tell me")) == texts(["tell me"])[0]
    other.stop.set()
    assert last_of(other)["end"]["stopped"] == "stopped"


def test_a_worker_may_be_silent_until_it_is_heard_of_first():
    with forking():
        worker = LocalWorker(load=tiny)
    worker.heartbeat = SimpleNamespace(silent=lambda: True)
    assert worker.receive(0) is None
    worker.heard = True
    with pytest.raises(WorkerDied, match="stopped answering"):
        worker.receive(0)


def test_a_worker_that_does_not_stop_is_ended(pool, monkeypatch):
    monkeypatch.setattr(pool_module, "ENDING", 0.5)
    job = run_of("stubborn")
    running(pool, job)
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
