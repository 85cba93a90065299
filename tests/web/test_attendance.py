"""Who asked for something, and who listens."""

import pytest

from duoviz.web.attendance import PATIENCE, Attendance, Event
from duoviz.web.clients import Client

RUN = Event(Client("ann"), run=True)


@pytest.fixture
def clock():
    """The time, which a test moves on."""
    return [1000.0]


@pytest.fixture
def done():
    return set()


@pytest.fixture
def attendance(clock, done):
    return Attendance(lambda session, event: event in done, lambda: clock[0])


def test_what_nobody_listens_to_is_found_after_a_while_and_once(attendance, clock):
    attendance.opened("ann", "one", RUN)
    clock[0] += PATIENCE - 1
    assert attendance.unheard() == []
    clock[0] += 2
    assert attendance.unheard() == ["ann"] and attendance.unheard() == []


@pytest.mark.parametrize("name", ["ann", "one"], ids=["by session", "by event"])
def test_who_listens_is_left_alone_and_who_stops_is_waited_for(attendance, clock, name):
    attendance.opened("ann", "one", RUN)
    with attendance.listening(attendance.of(name)):
        clock[0] += 10 * PATIENCE
        assert attendance.unheard() == []
    clock[0] += PATIENCE - 1
    assert attendance.unheard() == []
    with attendance.listening(attendance.of("ann")):
        clock[0] += PATIENCE
    clock[0] += PATIENCE + 1
    assert attendance.unheard() == ["ann"]


def test_whom_a_stream_is_for(attendance):
    attendance.opened("ann", "one", RUN)
    assert attendance.of("ann") is attendance.of("one") is not None
    assert attendance.of("two") is None and attendance.of("") is None


def test_what_was_asked_for_counts_until_it_is_delivered(attendance, done):
    other = Event(Client("bob"), run=False)
    attendance.opened("ann", "one", RUN)
    attendance.opened("bob", "two", other)
    assert attendance.undelivered() == [RUN, other]
    done.add("one")
    assert attendance.undelivered() == [other]
