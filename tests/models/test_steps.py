"""Draft steps in one compiled call: the tokens that forwards and `choices` give, one after another."""

import time
from math import nan

import numpy as np
import pytest
import torch

from duoviz.decoding.acceptance_table import EDGES, RANKS
from duoviz.decoding.choosing import AT_ONCE, choices
from duoviz.decoding.drafting import DraftPlan, StopRule, grow_sequences
from duoviz.decoding.sampling import DraftNotFinite, Sampling
from duoviz.models import compiled_decoder
from duoviz.models.copying import Copying
from duoviz.models.llama import Llama
from duoviz.models.llama_config import LlamaConfig
from duoviz.models.steps import CERTAIN
from tests.models.test_copying import repetitive
from tests.weights import VOCABULARY, tiny_weights

KNOWN = torch.tensor([id for id in range(VOCABULARY) if id % 3])
# Sure copies, so that tokens that the head does not know are chosen too.
WEIGHTS = [[0.2, 0.6, 0.97], [0.3, 0.7, 0.98], [0.1, 0.0, 0.9]]


def draft(*, precision="int8", head=KNOWN):
    """A compiled draft; head: the ids that its head knows, None for all."""
    config, tensors = tiny_weights(3)
    if head is not None:
        tensors = tensors | {"lm_head.weight": tensors["lm_head.weight"][head], "lm_head.known": head.int()}
    model = Copying(Llama(LlamaConfig.from_dict(config), tensors, precision=precision, context_limit=256), WEIGHTS)
    assert model.compiled
    return model


def state(model):
    return model.chain.tokens, model.grown, model.model.slots.parents, model.model.slots.depths


def one_by_one(model, text, count):
    """(token, q) of so many steps, each a forward and a choice of its own; and the first choice of eight."""
    (first,) = choices(model, model.forward(text, rows=[len(text) - 1]), [0], Sampling(), 8)
    path = [(first.tokens[0], first.q[0])]
    while len(path) < count:
        logits = model.forward([path[-1][0]], parents=[model.length - 1])
        (choice,) = choices(model, logits, [0], Sampling(), 1)
        path.append((choice.tokens[0], choice.q[0]))
    return path, first


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("head", [None, KNOWN])
def test_a_path_is_that_of_single_steps(head, threads, monkeypatch):
    monkeypatch.setattr(compiled_decoder, "A_THREADS_BYTES", 1)
    model, single, copied = draft(head=head), draft(head=head), 0
    torch.set_num_threads(threads)
    for seed in range(6):
        text = repetitive(14, seed)
        path, first = one_by_one(single, text, 6)
        steps = model.best(text, count=8, most=6)
        tokens, q, _ = steps.path()
        assert tokens == [token for token, _ in path] and q == pytest.approx([q for _, q in path], rel=1e-5)
        assert steps.best[0].tolist() == first.tokens and steps.q[0] == pytest.approx(first.q, rel=1e-4)
        assert state(model) == state(single)
        copied += sum(head is not None and token not in head for token in tokens)
        model.crop(0), single.crop(0)
    torch.set_num_threads(1)
    assert head is None or copied


def test_a_tree_is_that_of_a_forward_and_a_choice():
    model, single, text = draft(), draft(), repetitive(16, 2)
    for each in (model, single):
        each.forward(text)
    for ids, parents in (([2, 3, 4], [15, 15, 16]), ([5, 2], [18, 16])):
        chosen = choices(single, single.forward(ids, parents=parents), [0] * len(ids), Sampling(), 3)
        steps = model.best(ids, parents=parents, count=3)
        assert steps.best.tolist() == [choice.tokens for choice in chosen]
        assert np.allclose(steps.q, [choice.q for choice in chosen], rtol=1e-4)
    assert state(model) == state(single)


def test_a_path_ends_where_it_is_not_sure_or_the_text_ends():
    model, text = draft(), repetitive(14, 1)
    tokens, q, _ = model.best(text, most=6).path()

    def length(**changes):
        model.crop(0)
        return len(model.best(text, most=6, sureness=CERTAIN._replace(**changes)).path()[0])

    assert length(least=float(np.prod(q[:3])), chances=np.array([[0.0, 1.0], [0.0, 1.0]])) == 3
    # Between its places a chance is linear, beyond them as at the nearest.
    assert length(least=0.3, chances=np.array([[2.0, 3.0], [0.5, 0.9]])) == 2
    assert length(ends=np.array([tokens[2], 1])) == tokens.index(tokens[2]) + 1
    assert length() == 6 and model.length == 14 + 5


def made(model, text, **changes):
    usual = DraftPlan(6, (6,) * 8, 1, "batched", 6)._replace(**changes)
    begin = time.perf_counter()
    result = grow_sequences(model, text, usual)
    return result, begin, time.perf_counter()


@pytest.mark.parametrize("count", [14, AT_ONCE + 9])
@pytest.mark.parametrize(
    "changes",
    [{}, {"longest": 1}, {"rule": StopRule([[0.5] * len(EDGES)] * RANKS, 0.2)}, {"ends": frozenset(range(9))}],
)
def test_what_is_drafted_at_once_is_what_else_is_drafted_step_by_step(changes, count):
    text, model = repetitive(count, 4), draft()
    apart, *_ = made(draft(), text, **changes)
    found, begin, end = made(model, text, at_once=True, **changes)
    (one,), (other,) = found.sequences, apart.sequences
    assert (one.tokens, one.slots) == (other.tokens, other.slots) and one.q == pytest.approx(other.q, rel=1e-5)
    assert [first.token for first in found.candidates] == [first.token for first in apart.candidates]
    assert (found.theta or 0.0) == pytest.approx(apart.theta or 0.0, rel=1e-5)
    assert [step.tokens for step in found.steps] == [step.tokens for step in apart.steps]
    # The compiled clock is Python's; it may round otherwise.
    times = [begin, *(time for step in found.steps for time in step[:2]), end]
    assert times == sorted(times) and all(step.seconds > 0 for step in found.steps) and times[0] < times[1] + 1e-6


@pytest.mark.parametrize("at_once", [False, True])
def test_a_compiled_draft_says_where_its_logits_are_not_finite(at_once):
    model = draft(precision="float32")
    model.model.decoder.weights.norm[0] = nan
    with pytest.raises(DraftNotFinite):
        made(model, repetitive(14, 1), at_once=at_once)
