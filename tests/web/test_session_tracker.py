"""Who asked for something, and who listens."""

import pytest

from duoviz.web.bounds import FIRST_LISTENER, NEXT_LISTENER
from duoviz.web.gate import Event, SessionTracker
from duoviz.web.heads import Client


class Tracked:
    """A tracker whose time a test moves on, with one event of one session. done: the events that were delivered."""

    def __init__(self):
        self.now, self.done, self.event = 1000.0, set(), Event(Client("ann"), run=True)
        self.tracker = SessionTracker(lambda session, event: event in self.done, lambda: self.now)
        self.tracker.opened("ann", "one", self.event)

    def unheard(self, seconds):
        """What is given up after so many seconds more."""
        self.now += seconds
        return self.tracker.unheard()


@pytest.fixture
def tracked():
    return Tracked()


def test_what_nobody_listens_to_is_found_after_some_seconds_and_once(tracked):
    assert [tracked.unheard(seconds) for seconds in (FIRST_LISTENER - 1, 2, 0)] == [[], ["ann"], []]


def test_who_listens_is_left_alone_and_who_stops_is_waited_for(tracked):
    tracker = tracked.tracker
    assert tracker.of("ann") is tracker.of("one") is not None and tracker.of("two") is tracker.of("") is None
    for name in ("ann", "one"):
        with tracker.listening(tracker.of(name)):
            assert tracked.unheard(10 * NEXT_LISTENER) == []
        assert tracked.unheard(NEXT_LISTENER - 1) == []
    assert tracked.unheard(2) == ["ann"]


def test_an_event_is_heard_once_its_session_has_a_listener_and_from_then_on(tracked):
    later, again = (Event(Client("ann"), run=False) for _ in range(2))
    assert not tracked.event.heard.is_set()
    with tracked.tracker.listening(tracked.tracker.of("ann")):
        tracked.tracker.opened("ann", "two", later)
    tracked.tracker.opened("ann", "three", again)
    assert tracked.event.heard.is_set() and later.heard.is_set() and not again.heard.is_set()


def test_what_was_asked_for_counts_until_it_is_delivered(tracked):
    other = Event(Client("bob"), run=False)
    tracked.tracker.opened("bob", "two", other)
    assert tracked.tracker.undelivered() == [tracked.event, other]
    tracked.done.add("one")
    assert tracked.tracker.undelivered() == [other]
