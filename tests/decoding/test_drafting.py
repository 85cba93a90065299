"""θ, k, how the budget is shared, and what a drafting round forwards."""

import pytest
import torch

from duoviz.decoding.acceptance_table import EDGES, RANKS
from duoviz.decoding.drafting import DraftPlan, StopRule, branch_lengths, grow_sequences, number_of_sequences
from tests.tiny import reference_model
from tests.weights import tiny_decoder

PROMPT = [5, 9, 3, 4]


def plan(**changes):
    usual = {"budget": 6, "steps": (6,) * 8, "sequences": "dynamic", "draft_mode": "batched"}
    asked = usual | changes
    return DraftPlan(**({"longest": asked["budget"]} | asked))


@pytest.mark.parametrize(
    "q, theta, budget, k",
    [
        ([0.9, 0.05], 0.8, 10, 1),
        ([0.4, 0.3, 0.2], 0.25, 10, 2),
        ([0.4, 0.3, 0.3], 0.3, 10, 1),
        ([0.1] * 9, 0.05, 20, 8),
        ([0.1] * 9, 0.05, 3, 3),
    ],
)
def test_k_counts_the_first_tokens_over_theta(q, theta, budget, k):
    assert number_of_sequences(q, theta, budget) == k


@pytest.mark.parametrize(
    "budget, k, lengths", [(12, 3, [4, 4, 4]), (13, 3, [5, 4, 4]), (5, 4, [2, 1, 1, 1]), (1, 1, [1])]
)
def test_the_first_sequences_get_the_rest_of_the_budget(budget, k, lengths):
    assert branch_lengths(budget, k) == lengths


def greedy(reference, ids):
    with torch.no_grad():
        return reference(torch.tensor([ids])).logits[0, -1].softmax(-1)


@pytest.mark.parametrize(
    "mode, budget, lengths", [("batched", 6, [6, 5, 5]), ("paper", 6, [2, 2, 2]), ("paper", 3, [1, 1, 1])]
)
def test_branches_are_the_drafts_own_greedy_continuations(mode, budget, lengths):
    reference = reference_model(2)
    drafted = grow_sequences(tiny_decoder(2), PROMPT, plan(sequences=3, draft_mode=mode, budget=budget))
    assert [len(sequence.tokens) for sequence in drafted.sequences] == lengths
    q = greedy(reference, PROMPT)
    assert [sequence.tokens[0] for sequence in drafted.sequences] == q.topk(3).indices.tolist()
    for sequence in drafted.sequences:
        text = list(PROMPT)
        for token, probability in zip(sequence.tokens, sequence.q, strict=True):
            assert probability == pytest.approx(float(greedy(reference, text)[token]))
            text.append(token)
        assert sequence.tokens[1:] == [
            int(greedy(reference, PROMPT + sequence.tokens[:n]).argmax()) for n in range(1, len(sequence.tokens))
        ]
    second = greedy(reference, [*PROMPT, drafted.sequences[0].tokens[0]]).max()
    assert drafted.theta == pytest.approx(float(q.max() * second))


@pytest.mark.parametrize("changes", [{"budget": 1}, {"longest": 1}])
def test_one_step_gives_one_token_and_no_threshold(changes):
    drafted = grow_sequences(tiny_decoder(2), PROMPT, plan(**changes))
    assert [len(sequence.tokens) for sequence in drafted.sequences] == [1]
    assert drafted.theta is None and len(drafted.steps) == 1


@pytest.mark.parametrize("sequences", ["dynamic", 3])
def test_a_draft_without_trees_grows_one_sequence(sequences):
    model = tiny_decoder(2)
    model.supports_tree = False
    drafted = grow_sequences(model, PROMPT, plan(sequences=sequences))
    assert [len(sequence.tokens) for sequence in drafted.sequences] == [6]


@pytest.mark.parametrize(
    "least, sequences, lengths",
    [(0.3, 1, [2]), (0.6, 1, [1]), (0.3, 2, [2, 2]), (0.0, 1, [6])],
)
def test_a_sequence_ends_where_it_is_no_longer_sure_enough(least, sequences, lengths):
    """All chances are a half here, so that a token more is worth half as much."""
    rule = StopRule([[0.5] * len(EDGES)] * RANKS, least)
    drafted = grow_sequences(tiny_decoder(2), PROMPT, plan(sequences=sequences, rule=rule))
    assert [len(sequence.tokens) for sequence in drafted.sequences] == lengths
    assert all(len(sequence.slots) == len(sequence.tokens) - 1 for sequence in drafted.sequences)
    assert len(drafted.steps) == max(lengths) + (sequences > 1)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_draft_ends_after_the_step_in_which_it_is_enough(steps):
    asked = iter([False] * (steps - 1))
    drafted = grow_sequences(tiny_decoder(2), PROMPT, plan(sequences=2), enough=lambda: next(asked, True))
    assert [step.tokens for step in drafted.steps] == [len(PROMPT), 1, 2][:steps]
    assert (drafted.theta is None) == (steps == 1)
