"""Turns: a few at once, then at a steady rate."""

import pytest

from duoviz.web import rate_limiter
from duoviz.web.rate_limiter import RateLimiter


def test_a_few_come_at_once_and_then_at_a_steady_rate():
    turns = RateLimiter(10, burst=3)
    assert [turns.delay("a", 100.0) for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
    assert turns.delay("b", 100.0) == 0
    # What was not used comes back with time.
    assert [turns.delay("a", 100.4) for _ in range(3)] == pytest.approx([0, 0, 0.1])


def test_one_may_take_many_turns_at_once():
    turns = RateLimiter(10, burst=3)
    assert [turns.delay("a", 100.0, cost) for cost in (3, 5, 1)] == pytest.approx([0, 0.1, 0.6])


def test_nobody_waits_too_long_and_who_is_sent_away_takes_no_turn():
    turns = RateLimiter(1, longest=2)
    assert [turns.delay("a", 100.0) for _ in range(5)] == [0, 1, 2, None, None]
    assert turns.delay("a", 101.0) == 2


def test_those_who_have_had_their_turn_are_forgotten(monkeypatch):
    monkeypatch.setattr(rate_limiter, "MANY", 10)
    turns = RateLimiter(1)
    for number in range(100):
        turns.delay(f"a{number}", float(number))
    assert len(turns.due) <= 11
