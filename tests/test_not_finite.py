"""Models whose logits are infinite or NaN: without such a draft the target goes on, and such a target ends its run."""

import json
from dataclasses import replace
from functools import partial
from math import inf, nan

import pytest
import torch

from duoviz import commands, runner, runs
from duoviz.__main__ import main
from duoviz.comparison import summed_up
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.models.copying import Copying
from tests.callers_draft import CallersDraft
from tests.tiny import tiny_engine
from tests.weights import tiny_decoder

SETTINGS = Settings(max_new_tokens=24)
SAID = "The draft's logits are infinite or NaN: use another draft. The target wrote the rest alone."
WAYS = [
    ("speculative", {}),
    ("speculative", {"temperature": 0.8}),
    ("speculative", {"temperature": 0.8, "acceptance": "rejection"}),
    ("duodecoding", {}),
    ("duodecoding", {"temperature": 0.8, "acceptance": "rejection"}),
    ("duodecoding", {"draft_mode": "paper", "budget": 5}),
    ("duotree", {"overlap": "in_turn"}),
    ("duotree", {"overlap": "beside", "temperature": 0.8, "top_p": 0.9}),
]


def spoiled(model, value, *, after=0):
    """The model, whose logits are all this value after so many forwards."""
    forward, made = model.forward, []

    def spoiling(ids, **options):
        made.append(1)
        logits = forward(ids, **options)
        return logits if len(made) <= after else torch.full_like(logits, value)

    model.forward = spoiling
    return model


def run(engine, method, settings=SETTINGS):
    return runner.collect(runner.stream(engine, method, "hello", settings))


def check(engine, method, settings=SETTINGS):
    """The text is whole, and vanilla's where the method writes that; the end says what became of the draft."""
    trace = run(engine, method, settings)
    assert trace["end"]["stopped"] == "length" and runs.summary(trace)["message"] == SAID
    if not settings.by_rejection:
        assert trace["end"]["text"] == run(tiny_engine(), "vanilla", settings)["end"]["text"]


@pytest.mark.parametrize("value", [nan, inf])
@pytest.mark.parametrize(("method", "changes"), WAYS)
def test_where_a_drafts_logits_are_not_finite_the_target_goes_on_and_says_so(method, changes, value):
    for after in (0, 7):
        engine = tiny_engine()
        spoiled(engine.draft_beside.model, value, after=after)
        check(engine, method, replace(SETTINGS, **changes))


def test_the_command_line_and_a_comparison_say_so_too(monkeypatch, capsys):
    engine = tiny_engine()
    spoiled(engine.draft_beside.model, nan)
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: engine)
    assert main(["generate", "hello", "--method", "speculative", "--max-new-tokens", "24"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"duoviz: {SAID}"
    assert main(["compare", "--methods", "speculative", "--prompts", "hello", "--max-new-tokens", "24"]) == 0
    assert any(line.startswith("speculative") and SAID in line for line in capsys.readouterr().err.splitlines())
    lanes = [runs.Lane(name, name, SETTINGS) for name in ("vanilla", "speculative")]
    rows = list(runner.compare(engine, ["hello"], lanes))
    assert f"Speculative: {SAID}" in summed_up(lanes, rows, {}, [], None)["warnings"]


def test_so_it_is_with_a_draft_that_copies():
    engine = tiny_engine()
    engine.draft_beside = CallersDraft(Copying(spoiled(tiny_decoder(1), nan, after=3), [[0.5] * 3] * 3))
    check(engine, "duodecoding")


@pytest.mark.parametrize("value", [nan, -inf])
@pytest.mark.parametrize("method", [method for method in METHODS if method != "rest"])
def test_a_target_whose_logits_are_not_finite_ends_its_run_with_a_sentence(method, value):
    for after, temperature in ((0, 0.0), (5, 0.0), (5, 0.8)):
        engine, settings = tiny_engine(), replace(SETTINGS, temperature=temperature)
        spoiled(engine.pair.target, value, after=after)
        end, whole = run(engine, method, settings)["end"], run(tiny_engine(), "vanilla", settings)["end"]
        assert end["stopped"] == "error" and end["message"].startswith("The target's logits are infinite or NaN: ")
        assert whole["text"].startswith(end["text"]) and bool(end["text"]) == bool(after)


@pytest.mark.parametrize("left", [20, 1])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_tokens_that_a_model_rules_out_are_no_fault(temperature, left):
    """Minus infinity is a probability of 0."""
    engine, settings = tiny_engine(), replace(SETTINGS, temperature=temperature)
    for model in (engine.pair.target, engine.draft_beside.model):
        model.forward = partial(ruling_out, model.forward, left)
    traces = [run(engine, method, settings) for method in METHODS if method != "rest"]
    assert len({trace["end"]["text"] for trace in traces}) == 1 and json.dumps(traces, allow_nan=False)
    assert not any("message" in trace["end"] for trace in traces)


def ruling_out(forward, left, ids, **options):
    """Only the first tokens of the vocabulary may follow."""
    logits = forward(ids, **options).clone()
    logits[:, left:] = -inf
    return logits
