"""Turns: a few at once, then at a steady rate; and what the gate does in turns."""

import asyncio
from types import SimpleNamespace

import pytest

from duoviz.web import bounds
from duoviz.web import gate as gate_module
from duoviz.web.bounds import RateLimiter
from tests.web.gated import JOIN, OTHER, RUN, V2, ask, make


def test_those_who_have_had_their_turn_are_forgotten(monkeypatch):
    monkeypatch.setattr(bounds, "MANY", 10)
    turns = RateLimiter(1)
    for number in range(100):
        turns.delay(f"a{number}", float(number))
    assert len(turns.due) <= 11


def test_who_was_away_for_long_has_its_burst_and_no_more():
    turns = RateLimiter(1, burst=2)
    turns.delay("a", 0.0)
    assert [turns.delay("a", 1000.0) for _ in range(4)] == [0, 0, 1, 2]


@pytest.fixture
def slept(monkeypatch):
    """The delays that the gate waits; time stands still."""
    delays = []

    async def sleep(seconds):
        delays.append(seconds)

    # Of the gate alone: servers run in this process whose time goes on.
    monkeypatch.setattr(gate_module, "time", SimpleNamespace(monotonic=lambda: 50.0))
    monkeypatch.setattr(gate_module, "asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": sleep}))
    return delays


def test_refusals_leave_one_after_another(slept):
    gate, _ = make()
    for _ in range(4):
        assert ask(gate, V2, {"prompt": ""})[0] == 422
    step = 1 / bounds.REFUSALS
    # Before each, its bytes and their end have had their turn.
    assert slept[2::3] == pytest.approx([0, step, 2 * step, 3 * step])
    gate.refusals.due[""] = 1e6
    assert ask(gate, V2, {"prompt": ""})[0] == 422
    assert slept[-1] == gate.refusals.longest


@pytest.mark.parametrize(
    "method, path, content",
    [
        ("GET", "/config", b""), ("GET", "/assets/x.js", b""), ("GET", "/gradio_api/file=/etc/x", b""),
        ("POST", "/gradio_api/cancel", {}), ("POST", RUN, OTHER), ("POST", JOIN, OTHER),
    ],
)  # fmt: skip
def test_what_is_let_through_is_done_for_an_address_in_its_turn(slept, method, path, content):
    gate, app = make(on_space=True)
    gate.limiters |= {kind: RateLimiter(4, 2, longest=0.6) for kind in gate.limiters if kind != "byte"}

    def status(address):
        return ask(gate, path, content, method=method, x_forwarded_for=address)[0]

    assert [status("8.8.8.8") for _ in range(5)] == [200, 200, 200, 200, 429] and len(app.bodies) == 4
    turns = slept[2::3] if method == "POST" else slept
    assert turns[:4] == pytest.approx([0, 0, 0.25, 0.5])
    assert status("1.1.1.1") == 200 and slept[-1] == 0


def test_what_an_address_sends_is_read_at_a_steady_rate_and_what_it_may_not_send_too(slept):
    gate, _ = make(on_space=True)
    gate.limiters["byte"] = RateLimiter(1000, 2500)
    for address in (*["8.8.8.8"] * 4, "1.1.1.1"):
        assert ask(gate, JOIN, b"x" * 1000, x_forwarded_for=address)[0] == 400
    assert slept[::3] == pytest.approx([0, 0, 0, 0.5, 0], abs=0.01)
