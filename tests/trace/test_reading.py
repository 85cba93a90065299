"""Trace files are read whole or refused in one sentence."""

import copy
import json
from functools import reduce
from operator import getitem

import pytest

from duoviz.errors import UserError
from duoviz.trace.reading import checked_trace, read_trace
from tests.tiny import tiny_engine, traced
from tests.trace.wrong_fields import WRONG_FIELDS, changed, places


@pytest.fixture(scope="module")
def trace():
    return traced(tiny_engine(noise=0.3), max_new_tokens=40)


def refusal(text):
    with pytest.raises(UserError) as error:
        checked_trace(json.loads(text), "x.json")
    return str(error.value)


def test_what_is_written_is_read(trace, tmp_path):
    file = tmp_path / "run.duoviz.json"
    extended = copy.deepcopy(trace) | {"later": 1}
    extended["iterations"][0]["target"]["later"] = "x"
    for written in (trace, extended):
        file.write_text(json.dumps(written))
        assert read_trace(file) == written


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


def test_what_another_version_wrote_or_has_nothing_to_show(trace):
    assert "no iterations" in refusal(changed(trace, ("iterations",), []))
    assert refusal(changed(trace, ("header", "schema"), 2)).endswith("reads schema 1: it needs a newer duoviz.")
    assert refusal(changed(trace, ("header", "schema"), 0)).endswith("has schema 0, and this duoviz reads schema 1.")


def test_files_that_cannot_be_used_are_refused(tmp_path):
    file = tmp_path / "x.json"
    for content, sentence in (
        (None, "There is no file {}: check the name."),
        (b"\xff\xfe\x00", "{} is not a trace: it is not JSON (str is not valid UTF-8: surrogates not allowed)."),
        (b"[1]", "{} is not a trace: it is not a JSON object."),
        (b"[" * 40, "{} is not a trace: it is nested deeper than 32 levels."),
        (b" " * 50_000_001, "{} is not a trace: it has more than 50,000,000 bytes."),
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(UserError) as error:
            read_trace(file)
        assert str(error.value) == sentence.format(file)
