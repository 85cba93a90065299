"""A draft whose head knows only some of the vocabulary's ids: it proposes those, by the noise that the target meets."""

import pytest
import torch

from duoviz.decoding import METHODS
from duoviz.decoding.draft_worker import InlineDraft
from duoviz.decoding.drafting import Plan, draft
from duoviz.decoding.runtime import runtime
from duoviz.decoding.sampling import Sampling, noise, scores
from duoviz.decoding.settings import Settings
from duoviz.models.columns import over_vocabulary
from duoviz.models.copying import ONCE, Copying, Match
from tests.decoding.proposals import tokens
from tests.tiny import VOCABULARY, reference_model, tiny_pair, weights
from tests.weights import decoder

KNOWN = torch.tensor([each for each in range(VOCABULARY) if each % 3])
METHODS_WITH_DRAFT = sorted(name for name, method in METHODS.items() if method.draft)


def knowing(**options):
    """The target itself as a draft, with a head for some ids."""
    config, tensors = weights(reference_model(0))
    tensors = tensors | {"lm_head.weight": tensors["lm_head.weight"][KNOWN], "lm_head.known": KNOWN.int()}
    return decoder(config, tensors, **options)


def pair_with(draft):
    pair = tiny_pair()
    runtime(pair).draft = runtime(pair).draft_in_turn = InlineDraft(draft)
    return pair


def refused_guess(node):
    return node.source == "draft" and node.status == "rejected"


def test_its_logits_are_those_of_the_ids_that_it_knows():
    ids = [5, 9, 3, 30]
    draft, target = knowing(), tiny_pair().target
    assert draft.vocab_size == len(KNOWN) and torch.equal(draft.known, KNOWN)
    assert torch.allclose(draft.forward(ids), target.forward(ids)[:, KNOWN])


def test_no_id_beyond_another_models_vocabulary_is_proposed():
    fewer = knowing(vocabulary=20)
    assert fewer.known.tolist() == [each for each in range(20) if each % 3]
    assert fewer.forward([5]).shape == (1, fewer.vocab_size)


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("changes", [{}, {"temperature": 0.9, "seed": 3}])
@pytest.mark.parametrize("method", METHODS_WITH_DRAFT)
def test_a_guess_is_wrong_only_where_the_targets_token_is_unknown(method, changes, copying):
    draft = Copying(knowing(), [0.0]) if copying else knowing()
    pair, settings = pair_with(draft), Settings(max_new_tokens=60, tree_children=1, **changes)
    expected = tokens(METHODS["vanilla"].decode(pair, [5, 9, 3], settings))
    run = list(METHODS[method].decode(pair, [5, 9, 3], settings))
    assert tokens(run) == expected
    guesses = [node for each in run for node in (*each.checked, *each.drafted) if node.source == "draft"]
    assert guesses and {node.token for node in guesses} <= set(KNOWN.tolist())
    assert any(each.accepted for each in run) and any(each.outcome == "rejection" for each in run)
    refused = [each for each in run if any(refused_guess(node) for node in each.checked) and not each.stop]
    assert refused and not {each.committed[-1].token for each in refused} & set(KNOWN.tolist())


def test_each_id_meets_its_own_noise():
    q = torch.full((1, len(KNOWN)), 1 / len(KNOWN), dtype=torch.float64)
    score = scores(q, [7], Sampling(0.9, seed=3), known=KNOWN)
    assert torch.equal(score[0], q[0] / noise(3, 7, VOCABULARY)[KNOWN])


def test_the_classical_rule_is_told_the_distribution_over_all_ids():
    q = torch.arange(1.0, len(KNOWN) + 1)
    row = over_vocabulary(q, KNOWN)
    assert torch.equal(row[KNOWN], q) and not row[::3].any() and len(row) == KNOWN[-1] + 1


@pytest.mark.parametrize("method", ["speculative", "duodecoding"])
def test_the_classical_rule_accepts_all_that_the_target_gives_no_less(method):
    pair = pair_with(knowing())
    settings = Settings(max_new_tokens=60, temperature=0.9, acceptance="rejection", seed=1)
    run = list(METHODS[method].decode(pair, [5, 9, 3], settings))
    guesses = [node for each in run for node in (*each.checked, *each.drafted) if node.source == "draft"]
    assert guesses and {node.token for node in guesses} <= set(KNOWN.tolist())
    written = tokens(run)
    assert len(written) == 60 and set(written) - set(KNOWN.tolist())  # what q lacks is drawn from p − q


def test_what_is_copied_is_found_by_its_column_and_has_one_where_the_head_has_none():
    model = Copying(knowing(), [0.5])
    even = torch.full((3, len(KNOWN)), 1 / len(KNOWN), dtype=torch.float64)
    shares = model.mix(even.log(), [Match(1, 4, 0, ONCE), Match(1, 3, 0, ONCE), None]).softmax(-1)
    assert model.known.tolist() == [*KNOWN.tolist(), 3]
    ids = torch.stack([over_vocabulary(row, model.known) for row in shares])
    expected = torch.stack([over_vocabulary(row, KNOWN) for row in even])
    expected[:2] /= 2
    expected[0, 4] += 0.5
    expected[1, 3] += 0.5
    assert torch.allclose(ids, expected, rtol=0, atol=1e-12)
    # The column is this forward's only.
    assert model.mix(even.log(), [Match(1, 4, 0, ONCE), None, None]).shape == even.shape
    assert torch.equal(model.known, KNOWN)


def test_a_draft_proposes_by_copying_what_its_head_does_not_know():
    model = Copying(knowing(), [0.9])
    (unknown, *_) = set(range(2, 40)) - set(KNOWN.tolist())
    text = (4, unknown, 4)
    for sampling in (Sampling(), Sampling(0.9, seed=1)):
        model.crop(0)
        found = draft(model, text, Plan(3, (3,) * 8, 1, "batched", 3, sampling))
        assert found.branches[0].tokens[0] == unknown
