"""What every model gives to the decoding methods, in float64: the same as transformers without a cache."""

from functools import partial

import pytest
import torch

from duoviz.models.language_model import ContextFull
from tests.models.folders import folder, loaded
from tests.models.reference import (
    FAMILIES,
    OTHERS,
    close,
    exact_model,
    expected,
    other_model,
    random_ids,
    wander,
    wrapped,
)
from tests.weights import VOCABULARY


def made(family, path):
    """A model of transformers, and what makes ours of it: the lean decoder, or a wrapper."""
    if family in OTHERS:
        reference = other_model(OTHERS[family])
        return reference, partial(wrapped, reference)
    reference = exact_model(family)
    return reference, partial(loaded, folder(path, reference), precision="float64")


@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_chunks_and_rows(family, tmp_path):
    (reference, load), ids = made(family, tmp_path), random_ids(40)
    model = load()
    parts = [model.forward(ids[a:b]) for a, b in ((0, 7), (7, 8), (8, 20), (20, 40))]
    assert parts[0].dtype == torch.float64 and close(torch.cat(parts), expected(reference, ids))
    model.crop(0)
    assert close(model.forward(ids, rows=[2, 39]), expected(reference, ids)[[2, 39]])


@pytest.mark.parametrize("vocabulary", [30, 50])
@pytest.mark.parametrize("family, options", [("qwen2", {}), ("qwen2", {"precision": "int8"}), ("gpt-neox", {})])
def test_another_models_vocabulary_crashes_neither_side(family, options, vocabulary, tmp_path):
    _, load = made(family, tmp_path)
    known = min(vocabulary, VOCABULARY)
    ids = [5, 6, known - 1]
    plain, model = load(**options).forward(ids), load(**options, vocabulary=vocabulary)
    assert model.vocab_size == known and close(model.forward(ids).double(), plain[:, :known].double())
    assert model.forward([vocabulary - 1]).isfinite().all()


@pytest.fixture(scope="module", params=["qwen3", "gpt-neox"])
def pair(request, tmp_path_factory):
    return made(request.param, tmp_path_factory.mktemp("model"))


@pytest.fixture
def reference(pair):
    return pair[0]


@pytest.fixture
def model(pair):
    return pair[1]()


@pytest.mark.parametrize("seed", range(3))
def test_trees_grow_and_are_kept_and_cropped(reference, model, seed):
    model.forward(prompt := random_ids(12))
    wander(model, lambda logits, _, path: close(logits, expected(reference, path)[-1]), prompt, seed=seed)
    with pytest.raises(ValueError):
        model.crop(model.length + 1)


def test_full_context_changes_nothing(reference, model):
    ids = random_ids(model.context_limit)
    model.forward(ids[:-1])
    with pytest.raises(ContextFull):
        model.forward([3, 4])
    assert model.length == len(ids) - 1
    assert close(model.forward(ids[-1:])[0], expected(reference, ids)[-1])
