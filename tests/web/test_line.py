"""The line: bounded, two places a client, and those who wait for their models let others go first."""

import pytest

from duoviz.web.jobs import Job
from duoviz.web.line import PLACES, QUEUE_LENGTH, Line, LineFull


def job(*client, **options):
    return Job(pair="embedded", client=frozenset(client), **options)


def filled(*jobs):
    line = Line()
    for each in jobs:
        line.add(each)
    return line


def test_a_client_has_two_places_by_session_and_by_address():
    line = filled(job("session ann", "address 1"), job("session bob", "address 1"))
    for late in (job("session cat", "address 1"), job("address 1")):
        with pytest.raises(
            LineFull, match="2 runs of yours, or from your address, are in the line already: wait until one of them"
        ):
            line.add(late)
    line.add(job("session ann", "address 2"))
    with pytest.raises(LineFull, match="2 runs of yours"):
        line.check(job("session ann", "address 3"))
    line.check(job("session cat", "address 2"))
    line.leave(line.jobs[0])
    line.add(job("session cat", "address 1"))
    assert PLACES == 2 and len(line) == 3


def test_the_line_is_bounded():
    line = filled(*(job(f"session {number}") for number in range(QUEUE_LENGTH + 1)))
    with pytest.raises(LineFull, match="20 visitors are waiting already: try again in a few minutes"):
        line.add(job("session late"))
    line.leave(line.jobs[3])
    line.add(job("session late"))


def test_others_go_before_a_job_whose_models_are_fetched_and_then_it_waits_behind_them():
    first, fetching, third = job("session a"), job("session b", fetching=True), job("session c")
    line = filled(first, fetching, third)
    assert [line.before(each) for each in (first, fetching, third)] == [0, 0, 1]
    line.come_back(fetching)
    assert [line.before(each) for each in (first, third, fetching)] == [0, 1, 2] and not fetching.fetching
    line.leave(fetching)
    line.come_back(fetching)
    assert line.jobs == [first, third]
