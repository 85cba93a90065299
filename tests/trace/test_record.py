"""A run's trace: schema, times, texts."""

import json

import pytest

from duoviz import runner, runs
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.trace.agreement import VERDICTS
from duoviz.trace.reading import wrong_in_trace
from duoviz.trace.record import TextPieces
from duoviz.trace.schema import SCHEMA, SCHEMA_VERSION, read_schema
from tests.tiny import tiny_engine


class ByteTokenizer:
    """Token n is the byte n; broken characters decode to U+FFFD, 0 is special."""

    def decode(self, ids, skip_special_tokens=True):
        return bytes(id for id in ids if id or not skip_special_tokens).decode(errors="replace")


def pieces(data):
    maker = TextPieces(ByteTokenizer())
    texts = [maker.push(byte) for byte in data]
    return [*texts, maker.flush()]


def test_split_characters_belong_to_the_token_that_completes_them():
    assert pieces("aé€😀b".encode()) == ["a", "", "é", "", "", "€", "", "", "", "😀", "b", ""]


def test_broken_bytes_and_an_unfinished_end_lose_nothing():
    for data in (b"a\xff\xfe\xfd\xfc\xfbz", b"ab\xe2\x82", b"\xe2\x82a\xff", b""):
        assert "".join(pieces(data)) == data.decode(errors="replace")


def test_special_tokens_have_no_text():
    assert pieces(b"a\0b") == ["a", "", "b", ""]


def test_what_a_look_up_matched_is_the_end_of_the_text():
    engine = tiny_engine()
    trace = runner.collect(runner.stream(engine, "prompt_lookup", "aaaa bbbb aaaa", Settings(max_new_tokens=40)))
    text = "".join(f"<{id}>" for id in engine.pair.encode("aaaa bbbb aaaa"))
    lengths = set()
    for each in trace["iterations"]:
        if each["matched"]:
            lengths.add(each["matched"]["tokens"])
            assert each["matched"]["text"].count("<") == each["matched"]["tokens"]
            assert text.endswith(each["matched"]["text"])
        # With room for one token only, nothing is proposed, whatever was found.
        assert each["matched"] or len(each["checked"]) == 1
        text += "".join(f"<{token['id']}>" for token in each["committed"])
    assert len(lengths) > 1


def undeclared(value, schema):
    """Fields of a value that its schema lacks."""
    schema = schema | SCHEMA["$defs"].get(schema.get("$ref", "").removeprefix("#/$defs/"), {})
    if isinstance(value, list):
        return [found for each in value for found in undeclared(each, schema["items"])]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    fields = schema["properties"]
    inside = [found for name in value.keys() & fields.keys() for found in undeclared(value[name], fields[name])]
    return inside + sorted(value.keys() - fields.keys())


@pytest.mark.parametrize("method", [method for method in METHODS if method != "rest"])
def test_what_is_recorded_is_what_is_declared(method):
    trace = runner.collect(runner.stream(tiny_engine(), method, "hello", Settings(max_new_tokens=20)))
    trace["header"]["settings"] = {"max_new_tokens": 20}
    assert undeclared(trace, SCHEMA) == [] and wrong_in_trace(json.loads(json.dumps(trace, allow_nan=False))) is None
    header, iteration = (SCHEMA["$defs"][name]["properties"].keys() for name in ("header", "iteration"))
    assert header - trace["header"].keys() == {"before"}
    assert all(iteration - each.keys() <= {"rest", "start", "factors"} for each in trace["iterations"])


def undescribed(schema):
    """The names in a schema of fields and definitions of which it says nothing."""
    named = schema.get("properties", {}) | schema.get("$defs", {})
    inside = [found for each in named.values() for found in undescribed(each)]
    return inside + [name for name, each in named.items() if not {"description", "$ref"} & each.keys()]


def test_the_schemas_say_what_each_field_is_and_are_of_one_version():
    race = read_schema("race.schema.json")
    assert undescribed(SCHEMA) == undescribed(race) == []
    assert race["properties"]["schema"]["maximum"] == SCHEMA_VERSION
    assert race["$defs"]["verdict"]["properties"]["verdict"]["enum"] == list(VERDICTS)


def test_times_are_in_order_and_texts_add_up():
    trace = runner.collect(runner.stream(tiny_engine(), "duodecoding", "hello you", Settings(max_new_tokens=40)))
    last = 0.0
    for each in trace["iterations"]:
        assert last <= each["target"]["start"] < each["target"]["end"] <= each["sync"]
        assert all(step["start"] < step["end"] <= each["sync"] for step in each["draft"])
        last = each["sync"]
    result = runs.summary(trace)
    assert result["text"] == trace["end"]["text"] == "".join(f"<{id}>" for id in result["token_ids"])
    assert trace["end"]["stopped"] == "length" and result["metrics"]["new_tokens"] == 40
