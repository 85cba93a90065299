"""Settings out of range are refused in a sentence."""

import pytest

from duoviz.decoding.settings import Settings, SettingsError, parse_number


@pytest.mark.parametrize(
    "changes",
    [
        {"max_new_tokens": 0},
        {"max_new_tokens": 1_000_000},
        {"max_new_tokens": None},
        {"sequences": 9},
        {"sequences": "many"},
        {"budget": 0},
        {"budget": 2.5},
        {"budget_offset": 9},
        {"budget_offset": 0.5},
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": "warm"},
        {"top_k": -1},
        {"top_p": 0.0},
        {"top_p": 1.01},
        {"seed": -1},
        {"seed": 2**53},
        {"seed": True},
        {"acceptance": "always"},
        {"draft_mode": "fast"},
        {"cores": "none"},
    ],
)
def test_refused_with_the_settings_name(changes):
    with pytest.raises(SettingsError, match=f"^{next(iter(changes))} must be .*\\.$"):
        Settings(**changes)


def test_numbers_as_typed():
    assert parse_number("budget", " 7 ", word="auto") == 7
    assert parse_number("budget", "auto", word="auto") == "auto"
    with pytest.raises(SettingsError):
        parse_number("budget", "seven", word="auto")


def test_a_greedy_run_has_nothing_to_reject_by_chance():
    assert not Settings(acceptance="rejection").by_rejection
    assert Settings(acceptance="rejection", temperature=0.5).by_rejection


@pytest.mark.parametrize("value", [None, 5, ["folder"]])
def test_a_datastore_is_named_by_a_folder(value):
    with pytest.raises(SettingsError, match="rest_datastore must be the name of a folder"):
        Settings(rest_datastore=value)
