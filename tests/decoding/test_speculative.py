"""SpS on tiny models: the text is vanilla's, the iterations are consistent, γ is the fastest."""

import pytest

from duoviz import runner
from duoviz.decoding.budget import LiveCosts, speculative_budget
from duoviz.decoding.settings import Settings
from duoviz.decoding.speculative import speculative
from duoviz.decoding.vanilla import vanilla
from tests.decoding.made_costs import SHORT
from tests.decoding.made_costs import costs as made_up
from tests.decoding.proposals import check_first
from tests.tiny import tiny_pair

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30))]
SAMPLED = {"temperature": 0.9, "top_p": 0.9, "seed": 3}


def tokens(method, pair, prompt, settings):
    return [each.token for iteration in method(pair, prompt, settings) for each in iteration.committed]


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.8}, SAMPLED])
def test_equals_seeded_vanilla(changes):
    for noise in (0.0, 0.2, 3.0):
        pair = tiny_pair(noise=noise)
        for prompt in PROMPTS:
            expected = tokens(vanilla, pair, prompt, Settings(max_new_tokens=30, **changes))
            for budget in ("auto", 1, 2, 5, 13):
                settings = Settings(max_new_tokens=30, budget=budget, **changes)
                assert tokens(speculative, pair, prompt, settings) == expected, (noise, settings)


def test_a_perfect_draft_gives_the_budget_and_one_more():
    run = list(speculative(tiny_pair(noise=0.0), PROMPTS[0], Settings(max_new_tokens=60, budget=5)))
    assert [len(each.committed) for each in run[:4]] == [1, 6, 6, 6]
    assert {each.outcome for each in run[1:]} == {"hit"}


@pytest.mark.parametrize("acceptance", ["coupled", "rejection"])
def test_iterations_are_consistent(acceptance):
    pair = tiny_pair(noise=0.3)
    settings = Settings(max_new_tokens=80, budget=4, temperature=1.0, acceptance=acceptance)
    first, *run = speculative(pair, PROMPTS[0], settings)
    check_first(first, PROMPTS[0])
    for each in run:
        chain = [node for node in each.checked if node.source == "draft"]
        statuses = [node.status for node in chain]
        refused = ["rejected"] if each.outcome == "rejection" else []
        expected = ["accepted"] * each.accepted + refused
        assert statuses == expected + ["discarded"] * (len(chain) - len(expected))
        assert each.checked[-1].status == "correction" and each.checked[-1].parent == each.accepted - 1
        assert each.tested == each.accepted + len(refused) and not each.drafted
        if each.stop is None:
            assert [c.token for c in each.committed] == [n.token for n in chain[: each.accepted]] + [
                each.checked[-1].token
            ]
        assert len(each.draft) == len(chain) and each.draft[-1].end <= each.target.start
        assert each.target.tokens == len(chain) + 1 and chain


def test_stops_at_eos_length_and_context():
    free = tokens(vanilla, tiny_pair(), PROMPTS[0], Settings(max_new_tokens=60))
    run = list(speculative(tiny_pair(eos=frozenset({free[12]})), PROMPTS[0], Settings(max_new_tokens=60)))
    assert [c.token for each in run for c in each.committed] == free[: free.index(free[12]) + 1]
    assert run[-1].stop == "eos"
    for count in (1, 2, 7, 23):
        run = list(speculative(tiny_pair(noise=0.05), PROMPTS[0], Settings(max_new_tokens=count, budget=7)))
        assert sum(len(each.committed) for each in run) == count and run[-1].stop == "length"
    pair = tiny_pair(noise=0.05, context=64)
    run = list(speculative(pair, PROMPTS[2], Settings(max_new_tokens=200, budget=7)))
    assert sum(len(each.committed) for each in run) == 64 - len(PROMPTS[2]) and run[-1].stop == "context"


def test_the_budget_is_the_fastest_one():
    cheap, dear = LiveCosts(made_up(0.01, 0.0002)), LiveCosts(made_up(0.01, 0.02))
    assert speculative_budget(dear, 0.6, context=SHORT) == 1
    assert speculative_budget(cheap, 0.9, context=SHORT) > speculative_budget(cheap, 0.5, context=SHORT) > 1
    # With a free draft and a target that takes the same time for any number of rows, more is never worse.
    assert speculative_budget(LiveCosts(made_up(0.01, 1e-9)), 0.9, context=SHORT) >= 32


def test_the_budget_follows_the_acceptance():
    sure = list(speculative(tiny_pair(noise=0.0), PROMPTS[0], Settings(max_new_tokens=100)))
    unsure = list(speculative(tiny_pair(noise=3.0), PROMPTS[0], Settings(max_new_tokens=60)))
    assert sure[-1].budget > sure[1].budget == unsure[1].budget > unsure[-1].budget


def test_the_trace_names_both_models_and_no_overlap():
    trace = runner.collect(runner.stream(tiny_pair(), "speculative", "hello", Settings(max_new_tokens=30, budget=4)))
    header, figures = trace["header"], runner.summary(trace)["metrics"]
    assert header["draft"]["device"] == header["target"]["device"] and not header["can_overlap"]
    assert figures["overlap"] is None and figures["tau"] > 1
    drafted = sum(len(each["draft"]) for each in trace["iterations"])
    accepted = sum(c["source"] == "draft" for each in trace["iterations"] for c in each["committed"])
    assert figures["yield"] == pytest.approx(accepted / drafted)
