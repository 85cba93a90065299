"""The line: bounded, in turns between addresses, and those who wait for their models let others go first."""

from itertools import count

import pytest

from duoviz.decoding.settings import Settings
from duoviz.places.jobs import Job
from duoviz.places.line import Bounds, Line, LineFull
from duoviz.places.work import Comparison, Run
from duoviz.web.clients import Client

QUEUE_LENGTH = Bounds().length


def job(session, address=None, **options):
    work = Run(pair="embedded", method="vanilla", prompt="hello", settings=Settings(), raw=False)
    return Job(**{"work": work} | options, client=Client(session, address))


def filled(*jobs, **options):
    line = Line(**options)
    for each in jobs:
        line.add(each)
    return line


def places(line, address):
    """How many visitors of this address find a place, one each."""
    for number in count():
        try:
            line.add(job(f"{address} {number}", address))
        except LineFull as full:
            return number, str(full)


def test_a_visitor_has_two_places_wherever_it_is():
    line = filled(job("ann", "1"), job("ann", "2"))
    with pytest.raises(LineFull, match="2 of your runs are already waiting: stop one"):
        line.add(job("ann", "3"))
    with pytest.raises(LineFull, match="2 of your runs"):
        line.check(job("ann", "1"))
    line.leave(line.jobs[0])
    line.add(job("ann", "1"))
    assert len(line) == 2


def test_a_class_behind_one_address_has_places_and_leaves_as_many():
    line = Line()
    told = "40 runs from your address are already waiting: try again in a few minutes."
    assert places(line, "a school") == (40, told)
    others = [places(line, address)[0] for address in ("another", "a third", "a fourth")]
    assert others == [20, 10, 5] and len(line) < QUEUE_LENGTH
    line.add(job("late", "a late one"))


def test_the_line_is_bounded():
    line = filled(*(job(f"session {number}", f"address {number}") for number in range(QUEUE_LENGTH)))
    with pytest.raises(LineFull, match="The line is full: try again in a few minutes."):
        line.add(job("late"))
    line.leave(line.jobs[3])
    line.add(job("late"))


def test_on_ones_own_machine_any_session_may_fill_the_line():
    line = filled(*(job(f"session {number}") for number in range(QUEUE_LENGTH)))
    assert len(line) == QUEUE_LENGTH


def test_addresses_take_turns():
    line = filled(*(job(f"school {number}", "school") for number in range(4)), job("ann", "ann"), job("bob", "bob"))
    line.add(job("ann", "ann"))
    order = []
    while line.jobs:
        if line.first().client.session == "school 1":
            line.add(job("late", "late"))
        order.append(line.first().client.session)
        line.leave(line.first())
    assert order == ["school 0", "ann", "bob", "school 1", "ann", "late", "school 2", "school 3"]


def test_others_go_before_a_job_whose_models_are_fetched_and_then_it_waits_behind_them():
    first, fetching, third = job("a"), job("b", fetching=True), job("c")
    line = filled(first, fetching, third)
    assert [line.before(each) for each in (first, fetching, third)] == [0, 0, 1] and line.first() is first
    line.come_back(fetching)
    assert [line.before(each) for each in (first, third, fetching)] == [0, 1, 2] and not fetching.fetching
    line.leave(fetching)
    line.come_back(fetching)
    assert line.jobs == [first, third]


def test_with_two_places_one_run_fewer_is_ahead_but_of_one_that_runs_alone():
    first, second, third, fourth = jobs = [job(name) for name in "abcd"]
    line = filled(*jobs, places=2)
    assert [line.before(each) for each in jobs] == [0, 0, 1, 2] and line.first() is first
    first.taken = second.taken = True
    assert line.first() is third and line.before(second) == 0
    alone = job("e", work=Comparison(pair="embedded", prompt="hello", lanes=(), raw=False, repeats=1))
    line.add(alone)
    line.add(behind := job("f"))
    assert [line.before(each) for each in (third, alone, behind)] == [1, 4, 5]
    line.leave(first)
    assert [line.before(each) for each in (third, fourth, alone)] == [0, 1, 3]


def test_the_bounds_can_be_set():
    line = Line(Bounds(length=9, session=3, address=4))
    assert places(line, "a school")[0] == 4 and places(line, "another")[0] == 3 and len(line) == 7
    for _ in range(2):
        line.add(job("ann"))
    with pytest.raises(LineFull, match="The line is full"):
        line.add(job("ann"))
