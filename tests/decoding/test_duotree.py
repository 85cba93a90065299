"""DuoTree on tiny models: the text is vanilla's, the iterations are consistent, both caches hold the text."""

import sys

import numpy as np
import pytest

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.draft_worker import DraftDied, InlineDraft, ProcessDraft, ThreadDraft
from duoviz.decoding.duotree import duotree
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from duoviz.trace.explanation import explain
from tests.decoding.proposals import tokens as of_run
from tests.decoding.small_draft import load
from tests.tiny import CORE, made_up_costs, tiny_pair

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30)) * 2]
SAMPLED = {"temperature": 0.9, "top_p": 0.9, "seed": 3}


def tokens(method, pair, prompt, settings):
    return of_run(method(pair, prompt, settings))


WAYS = [(4, "auto", "in_turn"), (4, "auto", "beside"), (1, "auto", "beside"), (8, 64, "in_turn"), (2, 1, "beside")]


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.7}, {"temperature": 1.3}, SAMPLED], ids=str)
def test_equals_seeded_vanilla(changes):
    for noise in (0.0, 0.2, 3.0):
        pair = tiny_pair(noise=noise)
        for prompt in PROMPTS:
            expected = tokens(vanilla, pair, prompt, Settings(max_new_tokens=40, **changes))
            for children, budget, overlap in WAYS:
                more = {"tree_children": children, "tree_budget": budget, "overlap": overlap}
                settings = Settings(max_new_tokens=40, **more, **changes)
                assert tokens(duotree, pair, prompt, settings) == expected, (noise, settings)


class LateDraft(InlineDraft):
    """It works when it pleases, and tells of a step at once, some time, or when the text is long past it."""

    def __init__(self, model, rng):
        super().__init__(model)
        self.rng, self.told = rng, []

    def grown(self, *, wait, stopped=bool):
        """It tells of what it did; without `wait` there may be nothing to tell."""
        steps = (next(self.growing, None) for _ in range(self.rng.integers(0, 4)))
        self.told += [step for step in steps if step]
        return self.told.pop(0) if self.told and (wait or self.rng.random() < 0.5) else None


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_late_draft_changes_no_token(temperature):
    for seed in range(6):
        pair = tiny_pair(noise=0.2)
        runtime(pair).draft = LateDraft(runtime(pair).draft.loop.model, np.random.default_rng(seed))
        settings = Settings(max_new_tokens=60, temperature=temperature, overlap="beside")
        expected = tokens(vanilla, pair, PROMPTS[seed % 3], settings)
        run = list(duotree(pair, PROMPTS[seed % 3], settings))
        assert of_run(run) == expected
        assert sum(each.accepted for each in run) > 0


@pytest.mark.parametrize("kind", [ProcessDraft, ThreadDraft])
def test_a_draft_of_its_own_is_still_after_a_run(kind, monkeypatch):
    # However slow a machine is, the draft's answer is waited for.
    monkeypatch.setattr(sys.modules[duotree.__module__], "PAUSE", 60.0)
    pair = tiny_pair()
    pair.vocabulary = 40
    draft = runtime(pair).draft = kind(load, (CORE,))
    settings = Settings(max_new_tokens=40, overlap="beside")
    expected = tokens(vanilla, pair, PROMPTS[2], settings)
    assert tokens(duotree, pair, PROMPTS[2], settings) == expected
    left = duotree(pair, PROMPTS[2], settings)
    next(left), next(left), left.close()
    assert draft.answered == draft.submitted and not draft.poll(0)
    assert tokens(duotree, pair, PROMPTS[2], settings) == expected
    draft.close()
    if kind is ProcessDraft:
        with pytest.raises(DraftDied):
            draft.grow(None)


def test_a_draft_that_dies_ends_the_run_in_a_sentence():
    pair = tiny_pair()
    run = duotree(pair, PROMPTS[2], Settings(max_new_tokens=40, overlap="beside"))
    next(run)

    def fail(**options):
        raise DraftDied("The draft process died.")

    runtime(pair).draft.grown = fail
    with pytest.raises(DraftDied):
        list(run)


@pytest.mark.parametrize("side", ["target", "draft"])
def test_models_without_trees_get_a_chain(side):
    pair = tiny_pair(noise=0.2)
    model = pair.target if side == "target" else runtime(pair).draft_in_turn.loop.model
    model.supports_tree = False
    expected = tokens(vanilla, pair, PROMPTS[2], Settings(max_new_tokens=40))
    run = list(duotree(pair, PROMPTS[2], Settings(max_new_tokens=40)))
    assert of_run(run) == expected
    assert all(node.parent == place - 1 for each in run for place, node in enumerate(each.checked[:-1]))
    assert any(len(each.checked) > 1 for each in run)


def test_iterations_are_consistent():
    pair = tiny_pair(noise=0.3)
    text = list(PROMPTS[2])
    for each in duotree(pair, PROMPTS[2], Settings(max_new_tokens=60, temperature=0.8)):
        *tree, own = each.checked
        assert own.status == "correction" and {node.source for node in tree} <= {"draft", "prompt"}
        path = [node.token for node in tree if node.status == "accepted"]
        assert len(path) == each.accepted
        if each.stop is None:
            assert [token.token for token in each.committed] == [*path, own.token]
        # The target reads the prompt alone, and the draft then.
        assert each.target.tokens == len(tree) + (len(text) if text == PROMPTS[2] else 1)
        assert not (text == PROMPTS[2] and (each.draft or tree)) and not each.drafted
        assert all(step.end <= each.target.start for step in each.draft)
        text += [token.token for token in each.committed]
        # What the target knows is the text but its last token; the draft knows at least what it had read before.
        if each.stop is None:
            assert pair.target.length == len(text) - 1
            assert runtime(pair).draft_in_turn.loop.model.length < len(text)


@pytest.mark.parametrize("overlap", ["in_turn", "beside"])
def test_the_tree_lives_on(overlap):
    """What waits after an iteration is in the next one's record, with the number that it had."""
    before, moved = [], 0
    settings = Settings(max_new_tokens=60, overlap=overlap, tree_budget=2)
    run = list(duotree(tiny_pair(noise=0.0), PROMPTS[2], settings))
    for each in run:
        listed = [*each.checked, *each.rest]
        assert all(node.parent < place for place, node in enumerate(listed))
        for node in listed:
            if node.was is not None:
                assert before[node.was].token == node.token and before[node.was].status == "pending"
                moved += 1
        assert {node.status for node in each.rest} <= {"pending", "discarded"}
        assert all(0 <= node.step < len(each.draft) for node in listed if node.step is not None)
        before = listed
    # In turn no more is drafted than is verified.
    assert moved > 5 or overlap == "in_turn"
    assert all(each.start.gain is None or each.start.seconds > 0 for each in run[1:])


def test_nothing_more_than_the_budget_is_checked():
    pair = tiny_pair(noise=0.0)
    for budget in (1, 3):
        run = list(duotree(pair, PROMPTS[0], Settings(max_new_tokens=40, tree_budget=budget)))
        assert max(len(each.checked) - 1 for each in run) == budget


def test_a_perfect_draft_is_trusted_and_a_useless_one_is_left_alone():
    perfect, useless = (
        list(duotree(tiny_pair(noise=noise), PROMPTS[0], Settings(max_new_tokens=60))) for noise in (0, 9)
    )
    assert len(perfect) < len(useless)
    dear = tiny_pair(noise=0.2)
    runtime(dear).costs["costs in turn, 1 threads"] = made_up_costs([1 + rows for rows in range(6)], [50.0] * 8)
    run = list(duotree(dear, PROMPTS[0], Settings(max_new_tokens=20)))
    # Nothing is forwarded where a step costs more than it brings.
    assert not any(each.draft for each in run)


def test_stops_at_eos_length_and_context():
    free = tokens(vanilla, tiny_pair(), PROMPTS[0], Settings(max_new_tokens=60))
    run = list(duotree(tiny_pair(eos=frozenset({free[12]})), PROMPTS[0], Settings(max_new_tokens=60)))
    assert run[-1].stop == "eos" and of_run(run) == free[: free.index(free[12]) + 1]
    run = list(duotree(tiny_pair(), PROMPTS[0], Settings(max_new_tokens=17)))
    assert run[-1].stop == "length" and of_run(run) == free[:17]
    pair = tiny_pair(context=40)
    run = list(duotree(pair, PROMPTS[0], Settings(max_new_tokens=99)))
    assert run[-1].stop == "context" and of_run(run) == tokens(vanilla, pair, PROMPTS[0], Settings(max_new_tokens=99))


def test_the_classical_rule_does_not_apply():
    assert not METHODS["duotree"].classical_rule
    changes = {"max_new_tokens": 20, "temperature": 0.9, "acceptance": "rejection"}
    pair = tiny_pair()
    assert tokens(duotree, pair, PROMPTS[0], Settings(**changes)) == tokens(
        vanilla, pair, PROMPTS[0], Settings(**changes)
    )


def test_a_budget_of_another_method_is_no_reason():
    """A form sends all settings, those of other methods too."""
    traces = []
    for method in ("vanilla", "duotree"):
        events = runner.stream(tiny_pair(), method, "hello", Settings(max_new_tokens=24, budget=5))
        traces.append(runner.collect(events))
    assert traces[1]["header"]["calibration"] and not any("γ =" in each for each in explain(("a", "b"), traces))
