"""Who asked for something, and who listens."""

import pytest

from duoviz.web.attendance import PATIENCE, Attendance, Event

ANN, BOB = frozenset({"session ann", "address 1"}), frozenset({"session bob", "address 1"})
RUN = Event(ANN, run=True)


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
    with attendance.listening(name):
        clock[0] += 10 * PATIENCE
        assert attendance.unheard() == []
    clock[0] += PATIENCE - 1
    assert attendance.unheard() == []
    with attendance.listening("ann"):
        clock[0] += PATIENCE
    clock[0] += PATIENCE + 1
    assert attendance.unheard() == ["ann"]


def test_a_stream_of_a_session_that_asked_for_nothing_leaves_nothing(attendance, clock):
    with attendance.listening("nobody"):
        pass
    clock[0] += PATIENCE + 1
    assert attendance.unheard() == ["nobody"] and not attendance.sessions


def test_what_a_client_has_open_is_counted_by_the_key_with_the_most(attendance, done):
    assert attendance.count(ANN) == 0
    for session, client, count in (("ann", ANN, 2), ("bob", BOB, 3)):
        for number in range(count):
            attendance.opened(session, f"{session} {number}", Event(client, run=number == 0))
    assert attendance.count(frozenset({"session ann"})) == 2 and attendance.count(ANN) == 5
    assert attendance.count(ANN, runs=True) == 2
    done |= {"bob 0", "bob 1"}
    assert attendance.count(ANN) == 3 and attendance.count(ANN, runs=True) == 1 and attendance.count(frozenset()) == 0
