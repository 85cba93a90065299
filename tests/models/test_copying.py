"""The look-up in the context, and its mixture with the model's distribution."""

import random

import pytest
import torch

from duoviz.decoding.forward import timed_prefill
from duoviz.models import copying
from duoviz.models.copying import Copying
from duoviz.models.ngrams import ALIKE, DIFFER, ONCE, Match, NGrams
from tests.models.reference import wander
from tests.tiny import VOCABULARY, reference_model
from tests.weights import tiny_decoder

WEIGHTS = [0.2, 0.5, 0.9]


def expected_copy(chain, path):
    """(n, token) that followed the end of a path earlier in the chain, by trying every place."""
    for n in range(3, 0, -1):
        for place in range(len(chain) - 1, n - 1, -1):
            if chain[place - n : place] == path[-n:]:
                return n, chain[place]
    return None


def mixture(q, copy):
    if copy is None:
        return q
    weight = WEIGHTS[copy[0] - 1]
    mixed = (1 - weight) * q
    mixed[copy[1]] += weight
    return mixed


@pytest.fixture(scope="module")
def reference():
    return reference_model(3)


def plain(reference, text):
    with torch.no_grad():
        return reference(torch.tensor([text])).logits[0, -1].softmax(-1)


def repetitive(count, seed):
    return random.Random(seed).choices(range(2, 6), k=count)


def test_of_a_long_text_the_model_reads_the_end_and_the_look_up_all(reference, monkeypatch):
    monkeypatch.setattr(copying, "READS", 8)
    model, text = Copying(tiny_decoder(3), [WEIGHTS] * 3), repetitive(20, 1)

    def expected(path):
        return mixture(plain(reference, path[12:]), expected_copy(text, path))

    for _ in range(2):
        logits, span = timed_prefill(model, text)
        assert (model.length, model.model.length, span.tokens) == (20, 8, 20)
        assert torch.allclose(logits.softmax(-1)[0], expected(text), rtol=0, atol=1e-9)
        tree = model.forward([2, 3, 4], parents=[19, 19, 20]).softmax(-1)
        assert torch.allclose(tree[2], expected([*text, 2, 4]), rtol=0, atol=1e-9)
        model.keep([20, 22])
        assert (model.length, model.model.length) == (22, 10)
        # A text that goes on is read to its end.
        assert model.skip([5] * 20) == 0
        model.crop(0)
    assert model.model.length == 0


@pytest.mark.parametrize("seed", range(4))
def test_trees_keep_and_crop(reference, seed):
    model, text = Copying(tiny_decoder(3), [WEIGHTS] * 3), repetitive(12, seed)

    def follows(logits, chain, path):
        """Only what stands in the chain is looked up, by a suffix that may reach into the branch."""
        wanted = mixture(plain(reference, path), expected_copy(chain, path))
        return torch.allclose(logits.softmax(-1), wanted, rtol=0, atol=1e-9)

    for end, logits in enumerate(model.forward(text), 1):
        assert follows(logits, text[:end], text[:end])
    wander(model, follows, text, seed=seed)


def test_a_token_beyond_the_vocabulary_is_not_copied():
    model = Copying(tiny_decoder(3), [WEIGHTS] * 3)
    assert not model.mix(torch.zeros(1, VOCABULARY), [Match(3, VOCABULARY + 5, 0, ONCE)]).any()


def test_a_match_is_of_the_kind_that_followed_the_last_two_times():
    grams = NGrams(3)
    grams.append([5, 6, 2, 5, 7, 2, 5, 7])
    assert grams.look_up([9, 6], end=8) == Match(1, 2, 2, ONCE)
    assert grams.look_up([9, 5], end=8) == Match(1, 7, 7, ALIKE)
    # Only the last two times count, and none from the end on.
    assert grams.look_up([9, 5], end=7) == Match(1, 7, 4, DIFFER)
    assert grams.look_up([9, 5], end=4) == Match(1, 6, 1, ONCE)
    assert grams.look_up([2, 5], end=8) == Match(2, 7, 7, ALIKE)
    assert grams.look_up([9], end=8) is None


def test_each_kind_of_match_has_weights_of_its_own():
    model = Copying(tiny_decoder(3), [[0.2, 0.3], [0.5, 0.6], [0.7, 0.8]])
    matches = [Match(1, 3, 0, ONCE), Match(2, 3, 0, ALIKE), Match(2, 3, 0, DIFFER), None]
    mixed = model.mix(torch.zeros(4, VOCABULARY, dtype=torch.float64), matches).softmax(-1)
    expected = [weight + (1 - weight) / VOCABULARY for weight in (0.2, 0.6, 0.8, 0.0)]
    assert mixed[:, 3].tolist() == pytest.approx(expected)
