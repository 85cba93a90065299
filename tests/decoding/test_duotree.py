"""DuoTree on tiny models: its tree lives on, its draft may be late or die, and nothing more is done than pays."""

import numpy as np
import pytest

from duoviz.decoding.costs import Costs
from duoviz.decoding.duotree import schedule
from duoviz.decoding.settings import Settings
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.decoding.worker.protocol import DraftDied
from tests.callers_draft import CallersDraft
from tests.decoding.proposals import proposed, tokens
from tests.decoding.small_draft import ThreadDraft, load
from tests.decoding.trees import bare
from tests.tiny import give_costs, made_up_costs, run, tiny_engine
from tests.weights import tiny_decoder

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30)) * 2]


class LateDraft(CallersDraft):
    """It works when it pleases, and gives a step at once, some time, or when the text is long past it."""

    def __init__(self, model, rng):
        super().__init__(model)
        self.rng, self.made = rng, []

    def part(self, *, wait, stopped=bool):
        """Without `wait` there may be nothing to give."""
        steps = (next(self.parts, None) for _ in range(self.rng.integers(0, 4)))
        self.made += [step for step in steps if step]
        return self.made.pop(0) if self.made and (wait or self.rng.random() < 0.5) else None


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_late_draft_changes_no_token(temperature):
    for seed in range(6):
        engine, prompt = tiny_engine(noise=0.2), PROMPTS[seed % 3]
        engine.draft_beside = LateDraft(engine.draft_beside.model, np.random.default_rng(seed))
        settings = Settings(max_new_tokens=60, temperature=temperature, overlap="beside")
        iterations = list(run(engine, "duotree", prompt, settings))
        assert tokens(iterations) == tokens(run(engine, "vanilla", prompt, settings))
        assert sum(iteration.accepted for iteration in iterations) > 0


@pytest.mark.parametrize("kind", [pytest.param(ProcessDraft, marks=pytest.mark.thorough), ThreadDraft])
def test_a_draft_of_its_own_is_still_after_a_run(kind, monkeypatch):
    # However slow a machine is, the draft's answer is waited for.
    monkeypatch.setattr(schedule, "PAUSE", 60.0)
    engine, settings = tiny_engine(), Settings(max_new_tokens=40, overlap="beside")
    draft = engine.draft_beside = kind(load, engine.pair.cores)
    expected = tokens(run(engine, "vanilla", PROMPTS[2], settings))
    assert tokens(run(engine, "duotree", PROMPTS[2], settings)) == expected
    left = run(engine, "duotree", PROMPTS[2], settings)
    next(left), next(left), left.close()
    assert draft.answered == draft.submitted and not draft.poll(0)
    assert tokens(run(engine, "duotree", PROMPTS[2], settings)) == expected
    draft.close()
    if kind is ProcessDraft:
        with pytest.raises(DraftDied):
            draft.append(None)


def test_a_draft_that_still_reads_a_long_text_is_not_waited_for():
    beside = schedule.Beside(CallersDraft(tiny_decoder(1)), bare(30).config, Costs(), bool)
    seconds = [0.001] * 8
    beside.move([2] * (schedule.LONG_READ + 1))
    assert beside.widths(seconds) == ()
    beside.move([3])
    assert beside.widths(seconds) == () and beside.step(1)
    assert beside.widths(seconds)
    beside.move([4])
    assert beside.widths(seconds) == (1,)


@pytest.mark.parametrize("side", ["target", "draft"])
def test_models_without_trees_get_a_chain(side):
    engine, settings = tiny_engine(noise=0.2), Settings(max_new_tokens=40)
    model = engine.pair.target if side == "target" else engine.draft_in_turn.model
    model.supports_tree = False
    iterations = list(run(engine, "duotree", PROMPTS[2], settings))
    assert tokens(iterations) == tokens(run(engine, "vanilla", PROMPTS[2], settings))
    trees = [proposed(iteration) for iteration in iterations]
    assert any(trees) and all(node.parent == place - 1 for tree in trees for place, node in enumerate(tree))


@pytest.mark.parametrize("overlap", ["in_turn", "beside"])
def test_the_tree_lives_on(overlap):
    """What waits after an iteration is in the next one's record, with the number that it had."""
    before, moved, text = [], 0, list(PROMPTS[2])
    settings, engine = Settings(max_new_tokens=60, overlap=overlap, tree_budget=2), tiny_engine(noise=0.0)
    for iteration in run(engine, "duotree", PROMPTS[2], settings):
        nodes = [*iteration.checked, *iteration.unverified]
        assert all(node.parent < place for place, node in enumerate(nodes))
        for node in nodes:
            if node.was is not None:
                assert before[node.was].token == node.token and before[node.was].status == "pending"
                moved += 1
        assert {node.status for node in iteration.unverified} <= {"pending", "discarded"}
        assert all(0 <= node.step < len(iteration.draft) for node in nodes if node.step is not None)
        assert text == PROMPTS[2] or iteration.start.gain is None or iteration.start.seconds > 0
        before = nodes
        text += tokens([iteration])
        # The draft knows no more than what it had read before the text's last token.
        assert overlap == "beside" or iteration.stop or engine.draft_in_turn.model.length < len(text)
    # In turn no more is drafted than is verified.
    assert moved > 5 or overlap == "in_turn"


def test_nothing_more_than_the_budget_is_checked():
    engine = tiny_engine(noise=0.0)
    for budget in (1, 3):
        iterations = run(engine, "duotree", PROMPTS[0], Settings(max_new_tokens=40, tree_budget=budget))
        assert max(len(proposed(iteration)) for iteration in iterations) == budget


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_perfect_draft_is_never_refused(temperature):
    """At each depth it draws with the noise that the target meets there."""
    engine = tiny_engine(noise=0.0)
    give_costs(engine, made_up_costs([1.0] * 6, [0.01] * 8))
    settings = Settings(max_new_tokens=60, temperature=temperature, tree_children=1)
    nodes = [node for iteration in run(engine, "duotree", PROMPTS[0], settings) for node in iteration.checked]
    drafted = [node for node in nodes if node.source == "draft"]
    assert len(drafted) > 30 and not any(node.status == "rejected" for node in drafted)


def test_a_perfect_draft_is_trusted_and_a_useless_one_is_left_alone():
    perfect, useless = (
        list(run(tiny_engine(noise=noise), "duotree", PROMPTS[0], Settings(max_new_tokens=60))) for noise in (0, 9)
    )
    assert len(perfect) < len(useless)
    dear = tiny_engine(noise=0.2)
    give_costs(dear, made_up_costs([1 + rows for rows in range(6)], [50.0] * 8))
    iterations = run(dear, "duotree", PROMPTS[0], Settings(max_new_tokens=20))
    # Nothing is forwarded where a step costs more than it brings.
    assert not any(iteration.draft for iteration in iterations)
