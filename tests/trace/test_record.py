"""A run's trace: schema, times, texts."""

import json

import pytest

from duoviz import runner, runs
from duoviz.decoding import METHODS
from duoviz.decoding.iteration import Node
from duoviz.decoding.settings import Settings
from duoviz.models.tokenizers import Tokenizer
from duoviz.trace.agreement import VERDICTS
from duoviz.trace.reading import SCHEMA, SCHEMA_VERSION, read_schema, wrong_in_trace
from duoviz.trace.record import Recorder
from tests.tiny import change_pair, tiny_engine
from tests.trace.made_tokenizers import KINDS, added, made


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["vanilla", "duotree"])
def test_a_runs_text_is_what_its_tokens_add_to_the_prompt(method, kind, monkeypatch):
    monkeypatch.setattr(Tokenizer, "__call__", lambda *_, **options: {"input_ids": [3, 9, 11]})
    engine = change_pair(tiny_engine(), tokenizer=made(kind))
    trace = runner.collect(runner.stream(engine, method, "hello", Settings(max_new_tokens=40), raw=True))
    result = runs.summary(trace)
    assert result["text"] == trace["end"]["text"] == added(engine.pair.tokenizer, [3, 9, 11], result["token_ids"])


WITHIN = {"Metaspace": ("▁cat", " cat"), "bytes as in Llama 2": ("▁▁▁", "   "), "WordPiece": ("##s", "s")}
WITHIN |= {"byte-level": ("Ġ", " "), "Unigram, cleaned": ("▁.", "."), "no decoder": ("</s>", " </s>")}


@pytest.mark.parametrize("kind", WITHIN)
def test_a_guess_is_shown_as_it_is_within_a_text(kind):
    tokenizer, (name, text) = made(kind), WITHIN[kind]
    recorder = Recorder(tokenizer, 0.0, ())
    assert recorder.text(tokenizer.inner.convert_tokens_to_ids(name)) == text
    ids = tokenizer.inner.convert_tokens_to_ids([name, "t", name])
    assert recorder.matched(ids) == {"tokens": 3, "text": tokenizer.decode([*recorder.word, *ids])[1:]}


def test_a_token_of_a_tree_is_recorded_field_by_field():
    node = Node(3, 7, "draft", q=0.25, count=5, p=0.5, status="accepted", chance=0.75, step=2, was=9)
    recorded = Recorder(made("byte-level"), 0.0, ()).node(node)
    fields = {name: recorded[name] for name in recorded if name != "text"}
    assert vars(node) == {"token": fields.pop("id"), "margin": None} | fields


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
    assert header - trace["header"].keys() == {"before", "clock"}
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
