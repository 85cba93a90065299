"""The list of attacks: what each must show, and against which server."""

from collections.abc import Callable
from typing import NamedTuple

KINDS = ("local", "space")


class Result(NamedTuple):
    """What was done and what came of it, each a few words; held: whether what must hold did."""

    done: str
    result: str
    held: bool


class Attack(NamedTuple):
    """One attack. item: what the report calls it. kind: the server it needs, as at home or as on a Space."""

    item: str
    must_hold: str
    kind: str
    run: Callable[..., Result]


ATTACKS: list[Attack] = []


def attack(item: str, must_hold: str, *, kind: str = "local") -> Callable:
    """Add a function of a running `Site` to the list; it returns a Result, or several."""
    assert kind in KINDS

    def add(run: Callable) -> Callable:
        ATTACKS.append(Attack(item, must_hold, kind, run))
        return run

    return add
