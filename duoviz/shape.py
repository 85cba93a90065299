"""Checks of what a value from outside must look like, put together from small ones."""

from collections.abc import Callable, Collection
from math import inf
from typing import Any

# What a field that is not there is to its check.
MISSING = object()

# Returns None, or where in the value the first thing stands that is not as it should be; "" is the value itself.
Check = Callable[[Any], str | None]


def when(holds: Callable[[Any], bool]) -> Check:
    return lambda value: None if holds(value) else ""


def within(value: object, low: float, high: float) -> bool:
    """Whether it is a number in this range; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def number(low: float, high: float) -> Check:
    return when(lambda value: within(value, low, high))


def integer(low: float, high: float) -> Check:
    return when(lambda value: within(value, low, high) and value == int(value))


def one_of(words: Collection[str]) -> Check:
    return when(lambda value: isinstance(value, str) and value in words)


def string(most: float) -> Check:
    return when(lambda value: isinstance(value, str) and len(value) <= most)


def maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def optional(check: Check) -> Check:
    return lambda value: None if value is MISSING else check(value)


def numbers(
    low: float, high: float, most: float = inf, *, least: int = 0, integers: bool = False, may_miss: bool = False
) -> Check:
    """A list of so many numbers, where `may_miss` with null among them; quicker than `items`."""
    kinds = {int} if integers else {int, float}

    def holds(values: object) -> bool:
        if not isinstance(values, list) or not least <= len(values) <= most:
            return False
        present = [value for value in values if value is not None] if may_miss else values
        return {type(value) for value in present} <= kinds and all(low <= value <= high for value in present)

    return when(holds)


def items(check: Check, most: float = inf, *, least: int = 0) -> Check:
    """A list of so many values."""

    def run(value: object) -> str | None:
        if not isinstance(value, list) or not least <= len(value) <= most:
            return ""
        return next((f"[{i}]{wrong}" for i, item in enumerate(value) if (wrong := check(item)) is not None), None)

    return run


def fields(**checks: Check) -> Check:
    """An object with these fields; it may have others."""

    def run(value: object) -> str | None:
        if not isinstance(value, dict):
            return ""
        faults = ((name, check(value.get(name, MISSING))) for name, check in checks.items())
        return next((f".{name}{wrong}" for name, wrong in faults if wrong is not None), None)

    return run


def only(**checks: Check) -> Check:
    """An object with these fields and no others."""
    return all_of(fields(**checks), lambda value: None if value.keys() <= checks.keys() else "")


def all_of(*checks: Check) -> Check:
    """Each check sees only what has passed those before it."""
    return lambda value: next((wrong for check in checks if (wrong := check(value)) is not None), None)


FLAG = when(lambda value: isinstance(value, bool))
