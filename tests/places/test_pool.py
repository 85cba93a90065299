"""The pool: who runs where and when, what measures alone, and what becomes of a place that ends."""

import threading

import pytest

from duoviz.decoding.settings import Settings
from duoviz.places.jobs import Job
from duoviz.places.line import UNBOUNDED, Line, LineFull
from duoviz.places.messages import PlaceDied, PlaceGone, Quiet
from duoviz.places.place import Place
from duoviz.places.pool import Alone, Pool, Seat
from duoviz.places.work import Comparison, Load
from duoviz.runs import Lane
from tests.places.loads import run_of
from tests.tiny import tiny_engine
from tests.until import wait_until


class Played:
    """A `PlaceHandle` that plays its part: it loads at once, and runs until it is released or stopped."""

    def __init__(self, begun):
        self.begun, self.events, self.closed = begun, [], False
        self.released, self.asks_quiet, self.got = threading.Event(), False, []

    def send(self, message):
        self.got.append(message)
        if hasattr(message, "work"):
            self.order = message
            self.events = [{"type": "ready", "pair": message.work.pair, "longest_prompt": 99, "memory": {}}]
            if isinstance(message.work, Load):
                self.events.append({"type": "done"})
            else:
                self.begun.append(self)
                self.events.append({"type": "quiet"} if self.asks_quiet else {"type": "begun"})

    def receive(self, seconds):
        if self.closed:
            raise PlaceDied("It died")
        if not self.events and (self.released.wait(0.002) or any(type(each).__name__ == "Halt" for each in self.got)):
            self.events = [{"type": "end"}, {"type": "done"}]
            self.released.clear()
            self.got.clear()
        return self.events.pop(0) if self.events else None

    def alive(self):
        return not self.closed

    def close(self):
        self.closed = True


@pytest.fixture
def make():
    """A pool of played places on these machines, and the places in the order in which they began a job."""
    pools = []

    def made(*machines, pair=None):
        begun = []
        seats = [Seat(start=lambda: Played(begun), machine=machine) for machine in machines]
        pools.append(pool := Pool(seats, Line(UNBOUNDED, len(seats)), helper=None))
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
    return Job(
        work=Comparison(pair="embedded", prompt="hi", lanes=[Lane("a", "rest", Settings())], raw=False, repeats=1)
    )


def settled():
    threading.Event().wait(0.15)


def test_the_next_job_goes_to_the_first_free_place(make):
    pool, begun = make("here", "here")
    first, second, third = submitted(pool, *(run_of() for _ in range(3)))
    wait_until(lambda: len(begun) == 2)
    assert not third.taken and [pool.line.before(job) for job in (first, second, third)] == [0, 0, 1]
    begun[1].released.set()
    wait_until(lambda: len(begun) == 3)
    assert begun[2] is begun[1] and third.taken
    for place in begun[:2]:
        place.released.set()
    for job in (first, second, third):
        job.future.result(timeout=20)
    assert not pool.line.jobs


def test_a_job_prefers_the_place_that_has_its_models(make):
    pool, begun = make("here", "here")
    (job,) = submitted(pool, run_of(pair="big + small"))
    wait_until(lambda: begun)
    begun[0].released.set()
    job.future.result(timeout=20)
    for _ in range(6):
        (job,) = submitted(pool, run_of(pair="big + small"))
        wait_until(lambda: job.deadline)
        begun[-1].released.set()
        job.future.result(timeout=20)
    assert {id(place) for place in begun} == {id(begun[0])}


def test_a_comparison_waits_for_its_machine_and_has_it_to_itself(make):
    pool, begun = make("here", "here", "there")
    runs = submitted(pool, *(run_of() for _ in range(3)))
    wait_until(lambda: len(begun) == 3)
    alone, after = submitted(pool, comparison(), run_of())
    here = [seat.place for seat in pool.seats if seat.machine == "here"]
    here[0].released.set()
    wait_until(lambda: alone.taken)
    settled()
    # The other place of this machine still works, and takes nothing more; another machine goes on.
    assert not alone.deadline and not after.taken
    here[1].released.set()
    wait_until(lambda: alone.deadline)
    settled()
    assert not after.taken
    pool.seats[2].place.released.set()
    wait_until(lambda: after.deadline)
    assert pool.seats[2].job is after
    here[0].released.set()
    alone.future.result(timeout=20)
    assert all(job.future.done() for job in runs)


def test_a_comparison_waits_for_a_place_that_waits_to_measure():
    measuring, comparing = seats = [
        Seat(start=lambda: Played([]), job=job, alone=Alone.WANTED) for job in (run_of(), comparison())
    ]
    pool = Pool(seats, Line(UNBOUNDED, 2), helper=None)
    assert not pool.granted(comparing, idle=True) and pool.granted(measuring)


def test_a_comparison_that_is_stopped_while_it_waits_lets_others_go_on(make):
    pool, begun = make("here", "here")
    submitted(pool, run_of())
    wait_until(lambda: begun)
    alone, after = submitted(pool, comparison(), run_of())
    wait_until(lambda: alone.taken)
    alone.stop.set()
    alone.future.result(timeout=20)
    wait_until(lambda: after.deadline)


def test_first_costs_are_measured_alone_one_place_after_another(make):
    pool, begun = make("here", "here", pair="embedded")
    wait_until(lambda: all(seat.loaded for seat in pool.seats))
    (other,) = submitted(pool, run_of())
    wait_until(lambda: other.deadline)
    idle = next(seat for seat in pool.seats if seat.job is None)
    idle.place.asks_quiet = True
    measuring, after = submitted(pool, run_of(), run_of())
    wait_until(lambda: idle.alone is Alone.WANTED)
    settled()
    assert not any(type(each).__name__ == "Quiet" for each in idle.place.got)
    begun[0].released.set()
    wait_until(lambda: any(type(each).__name__ == "Quiet" for each in idle.place.got))
    settled()
    assert not after.taken
    idle.place.events = [{"type": "measured"}]
    wait_until(lambda: after.deadline)
    assert measuring.taken and other.future.done()


def test_a_place_that_dies_ends_its_own_run_and_another_has_its_pair(make):
    pool, begun = make("here", "here", pair="embedded")
    lost, other = submitted(pool, run_of(), run_of())
    wait_until(lambda: lost.deadline and other.deadline)
    seat = next(seat for seat in pool.seats if seat.job is lost)
    place = seat.place
    place.close()
    lost.future.result(timeout=20)
    assert lost.error == "It died. Start the run again; other runs go on." and not other.future.done()
    wait_until(lambda: seat.loaded == "embedded" and seat.place is not place)


def test_a_place_that_cannot_load_its_first_pair_tries_again_when_a_job_comes(make):
    begun, starts = [], []

    def start():
        starts.append(Played(begun))
        starts[-1].closed = len(starts) <= 1
        return starts[-1]

    pool = Pool([Seat(start=start)], Line(UNBOUNDED), helper=None)
    pool.start("embedded")
    wait_until(lambda: pool.seats[0].broken)
    settled()
    assert len(starts) == 1
    (job,) = submitted(pool, run_of())
    wait_until(lambda: job.deadline)
    pool.close()
    assert job.future.done()


def test_a_machine_that_leaves_is_done_without(make):
    pool, begun = make("here", "there")
    first, second = submitted(pool, run_of(), run_of())
    wait_until(lambda: len(begun) == 2)
    gone, stays = (next(seat for seat in pool.seats if seat.job is job) for job in (first, second))

    def no_more():
        raise PlaceGone("The node has left")

    gone.start = no_more
    gone.place.close()
    first.future.result(timeout=20)
    assert "It died" in first.error
    (third,) = submitted(pool, run_of())
    wait_until(lambda: pool.seats == [stays])
    assert not third.taken and pool.line.places == 1
    stays.start = no_more
    stays.place.close()
    wait_until(lambda: third.future.done())
    assert third.error == "No machine is left to run this: start the server again."
    with pytest.raises(LineFull, match="No machine is left"):
        pool.submit(run_of())


def test_an_engine_of_a_place_measures_when_the_pool_says_so():
    events = []

    def emit(event):
        events.append(event["type"])
        if event["type"] == "quiet":
            place.tell(Quiet(place.number))

    place = Place(emit, lambda *arguments, **options: tiny_engine())
    place.number = 1
    with place.ready_engine("embedded").measuring(stopped=bool):
        events.append("measures")
    assert events[-3:] == ["quiet", "measures", "measured"]
