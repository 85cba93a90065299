"""Whether a process is alive, by its beats."""

from ctypes import c_ulong
from types import SimpleNamespace

import pytest

from duoviz.decoding.worker import heartbeat
from duoviz.decoding.worker.heartbeat import BEAT, GAP, SILENCE, Heartbeat


@pytest.fixture
def clock(monkeypatch):
    """The time, which passes while somebody sleeps."""
    clock = SimpleNamespace(now=1000.0, beats=c_ulong(), stopped=False)

    def sleep(seconds):
        clock.now += seconds
        clock.beats.value += not clock.stopped

    monkeypatch.setattr(heartbeat, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    return clock


def silent_after(clock, heart, step):
    """Seconds after which the process is silent; None where it is not for long."""
    begin = clock.now
    while clock.now < begin + 10 * SILENCE:
        if heart.silent():
            return clock.now - begin
        clock.now += step


def test_a_process_without_a_beat_is_silent_after_a_while(clock):
    heart = Heartbeat(clock.beats)
    assert not heart.silent() and SILENCE < silent_after(clock, heart, BEAT) < SILENCE + 2 * BEAT
    clock.beats.value += 1
    assert not heart.silent()


def test_nothing_is_known_of_a_time_in_which_nobody_looked(clock):
    heart = Heartbeat(clock.beats)
    assert not heart.silent()
    clock.now += 100 * SILENCE
    assert not heart.silent() and silent_after(clock, heart, 2 * GAP) is None


def test_a_beat_is_waited_for(clock):
    heart = Heartbeat(clock.beats)
    assert heart.beats_again() and clock.now < 1000 + BEAT
    clock.stopped = True
    assert not heart.beats_again() and SILENCE < clock.now - 1000 < SILENCE + 2 * BEAT
