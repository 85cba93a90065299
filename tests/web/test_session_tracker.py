"""Who asked for something, and who listens."""

import pytest

from duoviz.web.bounds import FIRST_LISTENER, NEXT_LISTENER
from duoviz.web.clients import Client
from duoviz.web.session_tracker import Event, SessionTracker


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
def tracker(clock, done):
    return SessionTracker(lambda session, event: event in done, lambda: clock[0])


def test_what_nobody_listens_to_is_found_after_some_seconds_and_once(tracker, clock, run):
    tracker.opened("ann", "one", run)
    clock[0] += FIRST_LISTENER - 1
    assert tracker.unheard() == []
    clock[0] += 2
    assert tracker.unheard() == ["ann"] and tracker.unheard() == []


@pytest.mark.parametrize("name", ["ann", "one"], ids=["by session", "by event"])
def test_who_listens_is_left_alone_and_who_stops_is_waited_for(tracker, clock, run, name):
    tracker.opened("ann", "one", run)
    with tracker.listening(tracker.of(name)):
        clock[0] += 10 * NEXT_LISTENER
        assert tracker.unheard() == []
    clock[0] += NEXT_LISTENER - 1
    assert tracker.unheard() == []
    with tracker.listening(tracker.of("ann")):
        clock[0] += NEXT_LISTENER
    clock[0] += NEXT_LISTENER + 1
    assert tracker.unheard() == ["ann"]


def test_an_event_is_heard_once_its_session_has_a_listener_and_from_then_on(tracker, run):
    later = Event(Client("ann"), run=False)
    tracker.opened("ann", "one", run)
    assert not run.heard.is_set()
    with tracker.listening(tracker.of("ann")):
        tracker.opened("ann", "two", later)
        assert run.heard.is_set() and later.heard.is_set()
    again = Event(Client("ann"), run=False)
    tracker.opened("ann", "three", again)
    assert run.heard.is_set() and not again.heard.is_set()


def test_whom_a_stream_is_for(tracker, run):
    tracker.opened("ann", "one", run)
    assert tracker.of("ann") is tracker.of("one") is not None
    assert tracker.of("two") is None and tracker.of("") is None


def test_what_was_asked_for_counts_until_it_is_delivered(tracker, done, run):
    other = Event(Client("bob"), run=False)
    tracker.opened("ann", "one", run)
    tracker.opened("bob", "two", other)
    assert tracker.undelivered() == [run, other]
    done.add("one")
    assert tracker.undelivered() == [other]
