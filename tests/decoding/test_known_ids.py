"""A draft whose head knows only some of the vocabulary's ids: it proposes those, by the noise that the target meets."""

import pytest
import torch

from duoviz.decoding import METHODS
from duoviz.decoding.drafting import DraftPlan, grow_sequences
from duoviz.decoding.sampling import Sampling
from duoviz.decoding.settings import Settings
from duoviz.models.copying import Copying
from duoviz.models.language_model import over_vocabulary
from duoviz.models.ngrams import ONCE, Match
from tests.callers_draft import CallersDraft
from tests.decoding.proposals import tokens
from tests.tiny import VOCABULARY, run, tiny_engine
from tests.weights import decoder, tiny_weights

KNOWN = torch.tensor([id for id in range(VOCABULARY) if id % 3])
METHODS_WITH_DRAFT = sorted(name for name, method in METHODS.items() if method.draft)


def knowing(**options):
    """The target itself as a draft, with a head for some ids."""
    config, tensors = tiny_weights(0)
    tensors = tensors | {"lm_head.weight": tensors["lm_head.weight"][KNOWN], "lm_head.known": KNOWN.int()}
    return decoder(config, tensors, **options)


def engine_with(draft):
    engine = tiny_engine()
    engine.draft_beside = engine.draft_in_turn = CallersDraft(draft)
    return engine


def guesses_of(iterations):
    nodes = [node for iteration in iterations for node in (*iteration.checked, *iteration.drafted)]
    return [node for node in nodes if node.source == "draft"]


def test_its_logits_are_those_of_the_ids_that_it_knows():
    ids = [5, 9, 3, 30]
    draft, target = knowing(), tiny_engine().pair.target
    assert draft.vocab_size == len(KNOWN) and torch.equal(draft.known, KNOWN)
    assert torch.allclose(draft.forward(ids), target.forward(ids)[:, KNOWN])


def test_no_id_beyond_another_models_vocabulary_is_proposed():
    fewer = knowing(vocabulary=20)
    assert fewer.known.tolist() == [id for id in range(20) if id % 3]
    assert fewer.forward([5]).shape == (1, fewer.vocab_size)


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("changes", [{}, {"temperature": 0.9, "seed": 3}])
@pytest.mark.parametrize("method", METHODS_WITH_DRAFT)
def test_a_guess_is_wrong_only_where_the_targets_token_is_unknown(method, changes, copying):
    draft = Copying(knowing(), [[0.0]] * 3) if copying else knowing()
    engine, settings = engine_with(draft), Settings(max_new_tokens=60, tree_children=1, **changes)
    iterations = list(run(engine, method, [5, 9, 3], settings))
    assert tokens(iterations) == tokens(run(engine, "vanilla", [5, 9, 3], settings))
    guesses = guesses_of(iterations)
    assert guesses and {node.token for node in guesses} <= set(KNOWN.tolist())
    assert {"hit", "rejection"} <= {iteration.outcome for iteration in iterations}
    refused = [
        iteration
        for iteration in iterations
        if not iteration.stop and any(node in guesses and node.status == "rejected" for node in iteration.checked)
    ]
    assert refused and not {iteration.committed[-1].token for iteration in refused} & set(KNOWN.tolist())


@pytest.mark.parametrize("method", ["speculative", "duodecoding"])
def test_the_classical_rule_accepts_all_that_the_target_gives_no_less(method):
    settings = Settings(max_new_tokens=60, temperature=0.9, acceptance="rejection", seed=1)
    iterations = list(run(engine_with(knowing()), method, [5, 9, 3], settings))
    guesses = guesses_of(iterations)
    assert guesses and {node.token for node in guesses} <= set(KNOWN.tolist())
    written = tokens(iterations)
    assert len(written) == 60 and set(written) - set(KNOWN.tolist())  # what q lacks is drawn from p − q


def test_what_is_copied_has_its_column_and_one_of_its_own_where_the_head_has_none():
    model = Copying(knowing(), [[0.5]] * 3)
    even = torch.full((3, len(KNOWN)), 1 / len(KNOWN), dtype=torch.float64)
    mixed = model.mix(even.log(), [Match(1, 4, 0, ONCE), Match(1, 3, 0, ONCE), None]).softmax(-1)
    assert model.known.tolist() == [*KNOWN.tolist(), 3]
    ids = torch.stack([over_vocabulary(row, model.known) for row in mixed])
    expected = torch.stack([over_vocabulary(row, KNOWN) for row in even])
    expected[:2] /= 2
    expected[0, 4] += 0.5
    expected[1, 3] += 0.5
    assert torch.allclose(ids, expected, rtol=0, atol=1e-12)
    # The column is this forward's only.
    assert model.mix(even.log(), [Match(1, 4, 0, ONCE), None, None]).shape == even.shape
    assert torch.equal(model.known, KNOWN)


def test_a_draft_proposes_by_copying_what_its_head_does_not_know():
    model = Copying(knowing(), [[0.9]] * 3)
    (unknown, *_) = set(range(2, 40)) - set(KNOWN.tolist())
    text = (4, unknown, 4)
    for sampling in (Sampling(), Sampling(0.9, seed=1)):
        model.crop(0)
        drafted = grow_sequences(model, text, DraftPlan(3, (3,) * 8, 1, "batched", 3, sampling))
        assert drafted.sequences[0].tokens[0] == unknown
