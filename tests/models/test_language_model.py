"""What every model gives to the decoding methods, in float64: the same as transformers without a cache."""

from functools import partial

import pytest
import torch

from duoviz.models.language_model import ContextFull
from duoviz.models.llama import load_llama
from tests.models.reference import (  # fmt: skip
    FAMILIES,
    OTHERS,
    close,
    exact_model,
    expected,
    other_model,
    random_ids,
    saved,
    wrapped,
)


def made(family, folder):
    """A model of transformers, and what makes ours of it: the lean decoder, or a wrapper."""
    if family in OTHERS:
        reference = other_model(*OTHERS[family])
        return reference, partial(wrapped, reference)
    reference = exact_model(family)
    return reference, partial(load_llama, saved(reference, folder), precision="float64", label="tiny")


@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_chunks_and_rows(family, tmp_path):
    (reference, load), ids = made(family, tmp_path), random_ids(40)
    model = load()
    parts = [model.forward(ids[a:b]) for a, b in ((0, 7), (7, 8), (8, 20), (20, 40))]
    assert parts[0].dtype == torch.float64 and close(torch.cat(parts), expected(reference, ids))
    model.crop(0)
    assert close(model.forward(ids, rows=[2, 39]), expected(reference, ids)[[2, 39]])


@pytest.fixture(scope="module", params=["qwen3", "gpt-neox"])
def pair(request, tmp_path_factory):
    return made(request.param, tmp_path_factory.mktemp("model"))


@pytest.fixture
def reference(pair):
    return pair[0]


@pytest.fixture
def model(pair):
    return pair[1]()


def test_tree_that_grows_over_several_calls(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    first = model.forward([5, 6, 7], parents=[11, 11, 12])  # 5 and 6 after the prompt, 7 after 5
    second = model.forward([8, 9], parents=[13, 14])  # 8 after 6, 9 after 7
    third = model.forward([10], parents=[16])
    paths = {0: [5], 1: [6], 2: [5, 7]}
    for row, path in paths.items():
        assert close(first[row], expected(reference, prompt + path)[-1])
    assert close(second[0], expected(reference, prompt + [6, 8])[-1])
    assert close(second[1], expected(reference, prompt + [5, 7, 9])[-1])
    assert close(third[0], expected(reference, prompt + [5, 7, 9, 10])[-1])


def test_keep_then_continue(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    model.forward([5, 6], parents=[11, 11])
    model.forward([7, 8], parents=[12, 13])
    model.keep([13, 15])
    assert model.length == 14
    assert close(model.forward([9])[0], expected(reference, prompt + [6, 8, 9])[-1])
    # The kept path is a chain again: another tree can grow on it.
    grown = model.forward([3, 4], parents=[14, 13])
    assert close(grown[0], expected(reference, prompt + [6, 8, 9, 3])[-1])
    assert close(grown[1], expected(reference, prompt + [6, 8, 4])[-1])


def test_keep_what_grows_below_the_path(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    model.forward([5, 6], parents=[11, 11])
    model.forward([7, 8, 9, 3], parents=[12, 13, 13, 15])  # 7 after 5, 8 and 9 after 6, 3 after 8
    model.keep([13], [16, 15, 17])
    assert model.length == 16
    grown = model.forward([4, 2, 5], parents=[13, 15, 12])
    for row, path in enumerate([[6, 9, 4], [6, 8, 3, 2], [6, 5]]):
        assert close(grown[row], expected(reference, prompt + path)[-1])
    model.crop(13)
    assert close(model.forward([9])[0], expected(reference, prompt + [6, 9])[-1])


def test_crop_then_continue(reference, model):
    ids = random_ids(20)
    model.forward(ids)
    model.forward([5, 6], parents=[19, 19])
    model.crop(15)
    assert close(model.forward([7, 8]), expected(reference, ids[:15] + [7, 8])[-2:])
    with pytest.raises(ValueError):
        model.crop(18)


def test_full_context_changes_nothing(reference, model):
    ids = random_ids(model.context_limit)
    model.forward(ids[:-1])
    with pytest.raises(ContextFull):
        model.forward([3, 4])
    assert model.length == len(ids) - 1
    assert close(model.forward(ids[-1:])[0], expected(reference, ids)[-1])
