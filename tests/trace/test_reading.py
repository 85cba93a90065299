"""Trace files are read whole or refused in one sentence."""

import copy
import json
from functools import reduce
from operator import getitem

import pytest

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.trace.reading import parse_trace, read_trace
from tests.tiny import tiny_engine
from tests.trace.wrong_fields import WRONG_FIELDS, changed, places


@pytest.fixture(scope="module")
def trace():
    return runner.collect(runner.stream(tiny_engine(noise=0.3), "duodecoding", "hello", Settings(max_new_tokens=40)))


def refusal(text):
    with pytest.raises(UserError) as error:
        parse_trace(text, "x.json")
    sentence = str(error.value)
    assert sentence.startswith("x.json ") and sentence.endswith(".") and "\n" not in sentence
    return sentence


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_written_is_read(trace, tmp_path):
    file = tmp_path / "run.duoviz.json"
    file.write_text(json.dumps(trace, ensure_ascii=False))
    assert read_trace(file) == trace
    extended = copy.deepcopy(trace) | {"later": 1}
    extended["iterations"][0]["target"]["later"] = "x"
    assert parse_trace(json.dumps(extended), file) == extended


@pytest.mark.parametrize("path, value, told", WRONG_FIELDS)
def test_a_wrong_field_is_named(trace, path, value, told):
    assert refusal(changed(trace, path, value)) == f'x.json is not a trace: "{told}" is missing or wrong.'


# Fields that older traces lack.
OPTIONAL = {"about", "calibration", "cpu", "borrows", "date", "longest", "matched", "pair", "precision", "versions"}


def test_a_missing_field_is_named(trace):
    short = copy.deepcopy(trace) | {"iterations": trace["iterations"][:2], "end": {"stopped": "length"}}
    short["header"] |= {"settings": {"max_new_tokens": 40}, "versions": {}}
    for *before, last in places(short):
        if isinstance(last, str) and last not in OPTIONAL:
            other = copy.deepcopy(short)
            del reduce(getitem, before, other)[last]
            name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in (*before, last))[1:]
            assert f'"{name}" is missing' in refusal(json.dumps(other))


def test_halves_of_characters_whole_floats_and_large_integers_are_read(trace):
    odd = copy.deepcopy(trace) | {"later": 10**300, "\ud800": ["\udfff"]}
    odd["iterations"][0]["committed"][0] |= {"text": "\ud800", "id": 3.0}
    odd["iterations"][0]["drafted"] = []
    assert parse_trace(json.dumps(odd), "x.json") == odd
    odd["iterations"][1]["sync"] = 10**300
    assert '"iterations[1].sync" is' in refusal(json.dumps(odd))
    assert '"iterations[0].committed[0].text" is' in refusal(
        changed(trace, ("iterations", 0, "committed", 0, "text"), "\ud800" * 20_001)
    )


def test_what_is_no_trace_is_refused(trace):
    for text, reason in {
        "{]": "it is not JSON",
        "[1]": "it is not a JSON object",
        changed(trace, ("header", "later"), float("nan")): "it has NaN for a number",
        json.dumps(trace | {"later": nested(40)}): "it is nested deeper than 32 levels",
        "[" + "{}," * 3_000_000 + "{}]": "it has more than 20,000,000 values",
    }.items():
        assert refusal(text) == f"x.json is not a trace: {reason}."
    assert '"header" is missing' in refusal("{}")
    assert "no iterations" in refusal(changed(trace, ("iterations",), []))
    assert refusal(changed(trace, ("header", "schema"), 2)).endswith("reads schema 1: it needs a newer duoviz.")
    assert refusal(changed(trace, ("header", "schema"), 0)).endswith("has schema 0, and this duoviz reads schema 1.")


def test_files_that_cannot_be_read_are_refused(tmp_path):
    huge, binary = tmp_path / "huge.json", tmp_path / "binary.json"
    with huge.open("wb") as file:
        file.truncate(50_000_001)
    binary.write_bytes(b"\xff\xfe\x00")
    for path, sentence in (
        (tmp_path / "nowhere.json", "There is no file"),
        (tmp_path, "There is no file"),
        (huge, "has 51 MB, and a trace may have at most 50 MB"),
        (binary, "cannot be read"),
    ):
        with pytest.raises(UserError, match=sentence):
            read_trace(path)
