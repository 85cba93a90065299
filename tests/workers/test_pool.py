"""The pool: who runs where and when, what measures alone, and what becomes of a worker that ends."""

import threading

import pytest

from duoviz.decoding.forward import Stopped
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.runs import Lane
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import Job, RequestQueue
from duoviz.workers.tasks import Assignment, Cancel, Comparison, Exclusive, Load, WorkerDied, WorkerGone
from duoviz.workers.worker import Worker
from tests.tiny import tiny_engine
from tests.until import wait_until
from tests.workers.loads import UNBOUNDED, run_of, running


class Played:
    """A `WorkerHandle` that plays its part: it loads at once, and runs until it is released or stopped."""

    def __init__(self, begun):
        self.begun, self.events, self.closed = begun, [], False
        self.released, self.asks_exclusive, self.got = threading.Event(), False, []

    def send(self, message):
        self.got.append(type(message))
        if isinstance(message, Cancel):
            self.released.set()
        elif isinstance(message, Assignment):
            self.released.clear()
            self.events = [{"type": "ready", "pair": message.task.pair, "memory": {}}]
            if isinstance(message.task, Load):
                self.events.append({"type": "done"})
            else:
                self.begun.append(self)
                self.events.append({"type": "exclusive"} if self.asks_exclusive else {"type": "begun"})

    def receive(self, seconds):
        if self.closed:
            raise WorkerDied("It died")
        if not self.events and self.released.wait(0.002):
            self.events = [{"type": "end"}, {"type": "done"}]
        return self.events.pop(0) if self.events else None

    def alive(self):
        return not self.closed

    def close(self):
        self.closed = True


@pytest.fixture
def make():
    """A pool of played workers on these machines, and the workers in the order in which they began a job."""
    pools = []

    def made(*machines, pair=None):
        begun = []
        slots = [WorkerSlot(start=lambda: Played(begun), machine=machine) for machine in machines]
        pools.append(pool := Pool(slots, RequestQueue(UNBOUNDED, len(slots))))
        pool.start(pair)
        return pool, begun

    yield made
    for pool in pools:
        pool.close()


def submitted(pool, *jobs):
    for job in jobs:
        pool.submit(job)
    return jobs


def comparison():
    lanes = [Lane("a", "rest", Settings())]
    return Job(task=Comparison(pair="embedded", prompt="hi", lanes=lanes, raw=False, repeats=1))


def settled():
    threading.Event().wait(0.15)


def test_the_next_job_goes_to_the_first_free_worker(make):
    pool, begun = make("here", "here")
    first, second, third = submitted(pool, *(run_of() for _ in range(3)))
    wait_until(lambda: len(begun) == 2)
    assert not third.taken and [pool.queue.ahead(job) for job in (first, second, third)] == [0, 0, 1]
    begun[1].released.set()
    wait_until(lambda: len(begun) == 3)
    assert begun[2] is begun[1] and third.taken
    begun[0].released.set()
    begun[1].released.set()
    wait_until(lambda: not pool.queue.jobs)
    assert all(job.future.done() for job in (first, second, third))


def test_a_job_prefers_the_worker_that_has_its_models(make):
    pool, begun = make("here", "here")
    for _ in range(7):
        job = run_of(pair="big + small")
        running(pool, job)
        begun[-1].released.set()
        job.future.result(timeout=20)
    assert {id(worker) for worker in begun} == {id(begun[0])}


def test_a_comparison_waits_for_its_machine_and_has_it_to_itself(make):
    pool, begun = make("here", "here", "there")
    runs = [run_of() for _ in range(3)]
    running(pool, *runs)
    stopped, alone, after = submitted(pool, comparison(), comparison(), run_of())
    here = [slot.worker for slot in pool.slots if slot.machine == "here"]
    here[0].released.set()
    wait_until(lambda: stopped.taken)
    # One that is stopped while it waits lets others go on.
    stopped.stop.set()
    wait_until(lambda: stopped.future.done() and alone.taken)
    settled()
    # The other worker of this machine still works, and takes nothing more; another machine goes on.
    assert not alone.begun and not after.taken
    here[1].released.set()
    wait_until(lambda: alone.begun)
    settled()
    assert not after.taken
    pool.slots[2].worker.released.set()
    wait_until(lambda: after.begun)
    assert pool.slots[2].job is after
    here[0].released.set()
    alone.future.result(timeout=20)
    assert all(job.future.done() for job in runs)


def test_a_run_that_measures_before_it_goes_on_is_alone_before_a_comparison_that_waits(make):
    pool, _ = make("here", "here")
    (slot,) = running(pool, run_of())
    pool.slots.sort(key=lambda each: each is slot)
    (alone,) = submitted(pool, comparison())
    wait_until(lambda: alone.taken)
    slot.worker.events = [{"type": "exclusive"}]
    wait_until(lambda: Exclusive in slot.worker.got)
    settled()
    assert not alone.begun
    slot.worker.events = [{"type": "measured"}]
    slot.worker.released.set()
    wait_until(lambda: alone.begun)


def test_first_costs_are_measured_alone_one_worker_after_another(make):
    pool, begun = make("here", "here", pair="embedded")
    wait_until(lambda: all(slot.loaded for slot in pool.slots))
    running(pool, other := run_of())
    idle = next(slot for slot in pool.slots if slot.job is None)
    idle.worker.asks_exclusive = True
    measuring, after = submitted(pool, run_of(), run_of())
    wait_until(lambda: idle.use == "waits")
    settled()
    assert Exclusive not in idle.worker.got
    begun[0].released.set()
    wait_until(lambda: Exclusive in idle.worker.got)
    settled()
    assert not after.taken
    idle.worker.events = [{"type": "measured"}]
    wait_until(lambda: after.begun)
    assert measuring.taken and other.future.done()


def test_a_worker_that_cannot_load_its_first_pair_tries_again_when_a_job_comes(make):
    begun, starts = [], []

    def start():
        starts.append(Played(begun))
        starts[-1].closed = len(starts) <= 1
        return starts[-1]

    pool = Pool([WorkerSlot(start=start)], RequestQueue(UNBOUNDED))
    pool.start("embedded")
    wait_until(lambda: pool.slots[0].broken)
    settled()
    assert len(starts) == 1
    running(pool, job := run_of())
    pool.close()
    assert job.future.done()


def test_a_machine_that_leaves_is_done_without(make):
    pool, _ = make("here", "there")
    first, second = run_of(), run_of()
    gone, stays = running(pool, first, second)

    def no_more():
        raise WorkerGone("The node has left")

    gone.start = no_more
    gone.worker.close()
    first.future.result(timeout=20)
    assert first.error == "It died. Start the run again; other runs go on." and not second.future.done()
    (third,) = submitted(pool, run_of())
    wait_until(lambda: pool.slots == [stays])
    assert not third.taken and pool.queue.workers == 1
    stays.start = no_more
    stays.worker.close()
    wait_until(lambda: third.future.done())
    assert third.error == "No machine is left to run this: start the server again."
    with pytest.raises(UserError, match="No machine is left"):
        pool.submit(run_of())


def test_an_engine_of_a_worker_measures_when_the_pool_says_so():
    events = []

    def emit(event):
        events.append(event["type"])
        if event["type"] == "exclusive":
            worker.tell(Exclusive(worker.cancelled.number))

    worker = Worker(emit, lambda *arguments, **options: tiny_engine())
    worker.cancelled.number = 1
    with worker.ready_engine("embedded").measuring(stopped=bool):
        events.append("measures")
    assert events[-3:] == ["exclusive", "measures", "measured"]
    # What it said then holds for that measurement.
    worker.emit = events.append
    with pytest.raises(Stopped), worker.measuring(stopped=lambda: True):
        pass
