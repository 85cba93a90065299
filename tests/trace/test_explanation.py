"""Every figure in the reasons is the traces', on hand-made runs: one that wins, one that loses, and others."""

import re

import pytest

from duoviz.trace.explanation import explain
from tests.trace.made import HERE, made, node, step

DRAFT_CORE, TARGET_CORE = "CPU core 0 (Processor)", "CPU core 1 (Processor)"


def vanilla(count=10, seconds=0.1, **about):
    return made("vanilla", [step(seconds) for _ in range(count)], **about)


def numbers(text):
    """All figures of a sentence, in order; a device's core numbers are none."""
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?", re.sub(r"CPU cores? [\d, ]*\d", "", text))]


def sps(**about):
    """Five iterations of 20 ms drafting and 120 ms verifying; three are hits of one token, two are rejections."""
    hit = step(0.12, rows=2, before=0.02, outcome="hit", tested=1, accepted=1, ids=[7, 7], sources=["draft", "target"],
               checked=[node("accepted"), node("correction", "target")])  # fmt: skip
    miss = step(0.12, rows=2, before=0.02, outcome="rejection", tested=1, ids=[7],
                checked=[node("rejected"), node("correction", "target")])  # fmt: skip
    return made("speculative", [hit, hit, hit, miss, miss], draft=HERE, **about)


def test_a_run_that_wins():
    result, spent, estimate = explain(("Vanilla", "SpS"), (vanilla(8), sps()))
    # Eight tokens in 0.7 s against 0.8 s; 1.6 tokens per forward at 140 ms against 1 at 100 ms.
    assert result == (
        "SpS wrote 60 % more tokens per forward pass than Vanilla, but in iterations 40 % longer "
        "(140 ms against 100 ms)."
    )
    # The first step reads the prompt: of the other four, two were thrown away.
    assert spent == (
        "SpS took 700 ms: its target computed for 600 ms, waited 100 ms for the draft; choosing tokens and messages "
        "took 0.0 ms. 40.0 ms of the draft's 100 ms was wasted: 2 rejections (the target rejected an earlier guess). "
        "Its forward passes read 2.0 tokens on average and took 120 ms; a pass over one token took 100 ms."
    )
    assert estimate.startswith("Estimate: with the target on a GPU") and numbers(estimate) == [1.6]


def duodecoding(**about):
    """Eight iterations of 150 ms: two hits with the draft busy for 60 ms, four misses, two rejections."""
    hit = step(0.15, rows=2, beside=0.06, outcome="hit", tested=2, accepted=2, ids=[7, 7], sources=["draft", "draft"],
               checked=[node("accepted")], drafted=[node("accepted"), node("pending")])  # fmt: skip
    miss = step(0.12, beside=0.15, outcome="miss", tested=1, ids=[7], drafted=[node("rejected"), node("discarded")])
    rejection = step(0.15, rows=2, beside=0.05, outcome="rejection", tested=1, ids=[7], checked=[node("rejected")],
                     drafted=[node("discarded"), node("discarded")])  # fmt: skip
    steps = [hit, hit, miss, miss, miss, miss, rejection, rejection]
    return made("duodecoding", steps, device=TARGET_CORE, draft=DRAFT_CORE, **about)


def test_a_run_that_loses():
    result, spent, estimate = explain(("Vanilla", "DuoDecoding"), (vanilla(10), duodecoding()))
    assert result == (
        "Vanilla wrote 20 % fewer tokens per forward pass than DuoDecoding, but in iterations 33 % shorter "
        "(100 ms against 150 ms)."
    )
    # 4 · 0.15 + 4 · 0.12 s of the target; the draft went on for 0.03 s after it four times.
    assert spent.startswith("DuoDecoding took 1.20 s: its target computed for 1.08 s, waited 120 ms for the draft; ")
    # 2 · 60 + 4 · 150 + 2 · 50 ms of drafting; all of the misses' and of the rejections' was thrown away.
    assert (
        "700 ms of the draft's 820 ms was wasted: 4 misses (the target's next token began none of its "
        "sequences), 2 rejections (the target rejected an earlier guess)"
    ) in spent
    # Both had forwards of one row: 120 ms on one core, 100 ms on two.
    assert spent.endswith(
        " Its target had CPU core 1, that of Vanilla CPU cores 0, 1: a forward pass over one token took 120 ms "
        "instead of 100 ms."
    )
    assert "up to 1.25 times vanilla's speed" in estimate


def test_of_a_tree_that_lives_on_the_guesses_that_became_text_are_counted():
    grown = step(0.1, rows=2, before=0.05, outcome="hit", tested=1, accepted=1, ids=[7, 7], sources=["draft", "target"])
    run = made("duotree", [step(0.1), *[grown | {"rest": [node("discarded")]}] * 3], draft=HERE)
    _, spent, *_ = explain(("Vanilla", "DuoTree"), (vanilla(8), run))
    assert "The draft worked for 150 ms: 3 of the 7 tokens written are its guesses." in spent


def test_on_a_gpu_no_gpu_is_proposed():
    run = sps(device="NVIDIA H200")
    assert len(explain(("Vanilla", "SpS"), (vanilla(8, device="NVIDIA H200"), run))) == 2


def test_a_method_without_a_draft_model():
    checked = [node("accepted", "prompt"), node("rejected", "prompt"), node("correction", "target")]
    tokens = {"ids": [7, 7], "sources": ["prompt", "target"]}
    found = step(0.11, rows=4, outcome="rejection", tested=2, accepted=1, checked=checked, **tokens)
    trace = made("prompt_lookup", [step(0.08), found, found])
    _, spent, estimate = explain(("PLD", "Vanilla"), (trace, vanilla(5)))
    assert spent == (
        "PLD took 300 ms: its target computed for 300 ms; choosing tokens and messages took 0.0 ms. "
        "It proposed 4 tokens in 2 of 3 iterations; 2 became text. "
        "Its forward passes read 4.0 tokens on average and took 110 ms; a pass over one token took 100 ms."
    )
    assert numbers(estimate) == [1.67]


@pytest.mark.parametrize("first_is_subject", [True, False])
def test_the_order_of_the_sides_changes_nothing(first_is_subject):
    runs = [("SpS", sps()), ("Vanilla", vanilla(8))]
    names, traces = zip(*runs if first_is_subject else reversed(runs), strict=True)
    assert explain(names, traces) == explain(("Vanilla", "SpS"), (vanilla(8), sps()))
