"""Settings out of range are refused in a sentence."""

from math import inf, nan

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.settings import ABOUT, DEFAULTS, MIN_TEMPERATURE, Settings, check_flag, parsed
from duoviz.errors import UserError

REFUSED = {
    "max_new_tokens": [0, 1_000_000, None],
    "sequences": [9, "many", [2]],
    "budget": [0, 2.5, "9" * 10_000],
    "budget_offset": [9, 0.5],
    "temperature": [-0.1, nan, inf, "warm", 5e-324, 1e-310, 9e-6, 2.5, 10**400, False, [0]],
    "top_k": [-1],
    "top_p": [0.0, 1.01, -(10**400)],
    "seed": [-1, 2**53, 10**5000, True],
    "acceptance": ["always", 10**5000, "x" * 10**6, ["x" * 10**6] * 100],
    "draft_mode": ["fast"],
    "cores": ["none"],
    "rest_datastore": [None, 5, ["folder"], "a\ud800"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_settings_name_and_a_long_value_cut(name):
    for value in REFUSED[name]:
        with pytest.raises(UserError, match=rf"(?i){name}\)?: enter .*\.$") as error:
            Settings(**{name: value})
        assert len(str(error.value)) < 200


def test_the_lowest_temperature_is_a_limit_of_floats():
    assert Settings(temperature=0).temperature == Settings(temperature=-0.0).temperature == 0
    assert Settings(temperature=MIN_TEMPERATURE).sampling.temperature == MIN_TEMPERATURE


@pytest.mark.parametrize("value", [0, 1, "x", "true", None, []])
def test_flags_are_true_or_false(value):
    check_flag("raw", True), check_flag("raw", False)
    with pytest.raises(UserError, match="^raw: enter true or false(, not .*)?\\.$"):
        check_flag("raw", value)


def test_numbers_as_typed():
    assert parsed("budget", " 7 ") == 7
    assert parsed("budget", "auto") == "auto"
    assert [parsed("budget", value) for value in (7, "+7", "-7", None)] == [7, 7, -7, None]
    for text in ("seven", "", "1_0", "٣", "7.0", "0x7", "9" * 5000):
        assert parsed("budget", text) == text
        with pytest.raises(UserError, match="^Draft budget γ .* or a whole number from 1 to 64, not .{2,70}$"):
            Settings(budget=parsed("budget", text))
    assert parsed("acceptance", "7") == "7" and parsed("temperature", "0.7") == "0.7" and parsed("seed", 5) == 5


def test_every_setting_says_what_it_is_and_its_default_may_be():
    for name, about in ABOUT.items():
        assert about.label and (about.info or name == "max_new_tokens")
        about.check(name, DEFAULTS[name])
    assert all(set(method.settings) <= set(ABOUT) for method in METHODS.values())


def test_a_greedy_run_has_nothing_to_reject_by_chance():
    assert not Settings(acceptance="rejection").by_rejection
    assert Settings(acceptance="rejection", temperature=0.5).by_rejection
