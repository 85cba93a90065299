"""A run's trace: schema, times, and texts, which joined are what the tokenizer makes of all tokens."""

import json
import random

import pytest
from jsonschema_rs import Draft202012Validator

from duoviz import runs
from duoviz.decoding import METHODS
from duoviz.decoding.iteration import Node
from duoviz.models.tokenizers import Tokenizer
from duoviz.trace.agreement import VERDICTS
from duoviz.trace.reading import SCHEMA, SCHEMA_VERSION, read_schema, wrong_in_trace
from duoviz.trace.record import BROKEN, Recorder, TextPieces
from tests.tiny import change_pair, tiny_engine, traced
from tests.trace.made_tokenizers import KINDS, added, made


def test_what_a_look_up_matched_is_the_end_of_the_text():
    engine = tiny_engine()
    trace = traced(engine, "prompt_lookup", "aaaa bbbb aaaa", max_new_tokens=40)
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
    trace = traced(engine, method, raw=True, max_new_tokens=40)
    result = runs.summary(trace)
    assert result["text"] == trace["end"]["text"] == added(engine.pair.tokenizer, [3, 9, 11], result["token_ids"])


WITHIN = {"Metaspace": ("▁cat", " cat"), "bytes as in Llama 2": ("▁▁▁", "   "), "WordPiece": ("##s", "s")}
WITHIN |= {"byte-level": ("Ġ", " "), "Unigram": ("▁.", " ."), "no decoder": ("</s>", " </s>")}


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


def closed(schema):
    """The schema of objects that have the named fields alone."""
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {name: closed(each) for name, each in schema.items()} | more


@pytest.mark.parametrize("method", [method for method in METHODS if method != "rest"])
def test_what_is_recorded_is_what_is_declared(method):
    trace = traced(tiny_engine(), method, max_new_tokens=20)
    trace["header"]["settings"] = {"max_new_tokens": 20}
    written = json.loads(json.dumps(trace, allow_nan=False))
    Draft202012Validator(closed(SCHEMA)).validate(written)
    assert wrong_in_trace(written) is None
    header, iteration = (SCHEMA["$defs"][name]["properties"].keys() for name in ("header", "iteration"))
    assert header - trace["header"].keys() == {"before", "clock", "one_token"}
    assert all(iteration - each.keys() <= {"rest", "start", "factors"} for each in trace["iterations"])


def test_both_schemas_are_of_one_version_and_know_all_verdicts():
    race = read_schema("race.schema.json")
    assert race["properties"]["schema"]["maximum"] == SCHEMA_VERSION
    assert race["$defs"]["verdict"]["properties"]["verdict"]["enum"] == list(VERDICTS)


def drawn(chance, most, tokens):
    """Random ids, of which some come often, and some many times in a row."""
    often = [chance.randrange(most) for _ in range(3)]
    ids = []
    while len(ids) < tokens:
        id = chance.choice(often) if chance.random() < 0.3 else chance.randrange(most)
        ids += [id] * (chance.randrange(1, 24) if chance.random() < 0.05 else 1)
    return ids[:tokens]


def random_runs(tokenizer, *, seeds):
    """Random prompts and answers; no prompt ends within a character, for each was a text."""
    # Models have ids that no token has; only Python's tokenizers mind.
    most = len(tokenizer.get_vocab()) + 2 * tokenizer.inner.is_fast
    for chance in map(random.Random, range(seeds)):
        prompt, ids = (drawn(chance, most, chance.randrange(tokens)) for tokens in (40, 200))
        while prompt and (
            prompt[-1] in tokenizer.byte_ids or not tokenizer.decode(prompt[-1:], skip_special_tokens=True)
        ):
            prompt.pop()
        yield prompt, ids


@pytest.mark.parametrize("kind", KINDS)
def test_the_pieces_are_what_all_tokens_add_to_the_prompt(kind):
    tokenizer = made(kind)
    for prompt, ids in random_runs(tokenizer, seeds=25):
        pieces = TextPieces(tokenizer, prompt)
        texts = [pieces.push(id) for id in ids]
        assert "".join([*texts, pieces.flush()]) == added(tokenizer, prompt, ids), (prompt, ids)


class Counting:
    """A tokenizer that notes how many tokens it is given to decode."""

    def __init__(self, inner):
        self.inner, self.counts = inner, []

    def decode(self, ids, **options):
        self.counts.append(len(ids))
        return self.inner.decode(ids, **options)


@pytest.mark.parametrize("kind", ["byte-level", "Metaspace", "WordPiece"])
def test_only_a_broken_end_waits_and_few_tokens_are_decoded(kind):
    tokenizer = Counting(made(kind))
    for prompt, ids in random_runs(tokenizer.inner, seeds=3):
        pieces, text = TextPieces(tokenizer, prompt), ""
        for count, id in enumerate(ids, 1):
            text += pieces.push(id)
            assert added(tokenizer.inner, prompt, ids[:count]) in (text, text + BROKEN)
    assert sum(tokenizer.counts) / len(tokenizer.counts) < 8 and max(tokenizer.counts) < 100


@pytest.mark.parametrize(
    "kind, newline", [("bytes as in Llama 2", "<0x0A>"), ("bytes, Metaspace", "<0x0A>"), ("Metaspace", "\n")]
)
def test_no_space_is_dropped_after_a_long_prompt_that_ends_in_special_tokens(kind, newline):
    tokenizer = made(kind)
    names = ["▁the", newline, "▁▁▁", "▁cat", "</s>", "<tool>"]
    the, newline, *ids = tokenizer.inner.convert_tokens_to_ids(names)
    pieces = TextPieces(tokenizer, 9 * [the, newline] + 20 * ids[2:])
    assert [pieces.push(id) for id in [*ids, the]] == ["   ", " cat", "", "", " the"]
