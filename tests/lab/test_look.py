"""How methods look in figures."""

from duoviz.decoding import METHODS
from duoviz.lab.plan import LOOKS, OTHER, look_of


def test_each_method_has_a_look_of_its_own():
    assert set(LOOKS) == set(METHODS) and look_of("again") == OTHER
    for part in ("colour", "mark"):
        assert len({getattr(look, part) for look in LOOKS.values()}) == len(METHODS)
