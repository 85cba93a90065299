"""The line: bounded, in turns between addresses, and those who wait for their models let others go first."""

from itertools import count

import pytest

from duoviz.web.clients import Client
from duoviz.web.jobs import Job
from duoviz.web.line import PLACES, QUEUE_LENGTH, Line, LineFull


def job(session, address=None, **options):
    return Job(pair="embedded", client=Client(session, address), **options)


def filled(*jobs):
    line = Line()
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
    assert PLACES == 2 and len(line) == 2


def test_a_class_behind_one_address_has_places_and_leaves_as_many():
    line = Line()
    told = "30 runs from your address are already waiting: try again in a few minutes."
    assert places(line, "a school") == (30, told)
    others = [places(line, address)[0] for address in ("another", "a third", "a fourth")]
    assert others == [15, 8, 4] and len(line) < QUEUE_LENGTH
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
