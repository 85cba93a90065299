"""Who asked for something, and who listens."""

import pytest

from duoviz.web.attendance import Attendance, Event
from duoviz.web.bounds import FIRST_LISTENER, NEXT_LISTENER
from duoviz.web.clients import Client


@pytest.fixture
def run():
    return Event(Client("ann"), run=True)


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


def test_what_nobody_listens_to_is_found_after_some_seconds_and_once(attendance, clock, run):
    attendance.opened("ann", "one", run)
    clock[0] += FIRST_LISTENER - 1
    assert attendance.unheard() == []
    clock[0] += 2
    assert attendance.unheard() == ["ann"] and attendance.unheard() == []


@pytest.mark.parametrize("name", ["ann", "one"], ids=["by session", "by event"])
def test_who_listens_is_left_alone_and_who_stops_is_waited_for(attendance, clock, run, name):
    attendance.opened("ann", "one", run)
    with attendance.listening(attendance.of(name)):
        clock[0] += 10 * NEXT_LISTENER
        assert attendance.unheard() == []
    clock[0] += NEXT_LISTENER - 1
    assert attendance.unheard() == []
    with attendance.listening(attendance.of("ann")):
        clock[0] += NEXT_LISTENER
    clock[0] += NEXT_LISTENER + 1
    assert attendance.unheard() == ["ann"]


def test_an_event_is_heard_once_its_session_has_a_listener_and_from_then_on(attendance, run):
    later = Event(Client("ann"), run=False)
    attendance.opened("ann", "one", run)
    assert not run.heard.is_set()
    with attendance.listening(attendance.of("ann")):
        attendance.opened("ann", "two", later)
        assert run.heard.is_set() and later.heard.is_set()
    again = Event(Client("ann"), run=False)
    attendance.opened("ann", "three", again)
    assert run.heard.is_set() and not again.heard.is_set()


def test_whom_a_stream_is_for(attendance, run):
    attendance.opened("ann", "one", run)
    assert attendance.of("ann") is attendance.of("one") is not None
    assert attendance.of("two") is None and attendance.of("") is None


def test_what_was_asked_for_counts_until_it_is_delivered(attendance, done, run):
    other = Event(Client("bob"), run=False)
    attendance.opened("ann", "one", run)
    attendance.opened("bob", "two", other)
    assert attendance.undelivered() == [run, other]
    done.add("one")
    assert attendance.undelivered() == [other]
