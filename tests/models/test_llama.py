"""The lean decoder against transformers, in float64."""

import pytest
import torch

from duoviz.models.language_model import ContextFull
from tests.conftest import VOCABULARY, lean, reference_model

TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def reference():
    return reference_model(3)


def expected(reference, ids):
    with torch.no_grad():
        return reference(torch.tensor([ids])).logits[0]


def random_ids(count, seed=0):
    return torch.randint(2, VOCABULARY, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def close(a, b):
    return torch.allclose(a, b, rtol=0, atol=TOLERANCE)


def test_prefill(reference):
    ids = random_ids(50)
    assert close(lean(reference).forward(ids), expected(reference, ids))


def test_chunks(reference):
    ids, model = random_ids(40), lean(reference)
    parts = [model.forward(ids[a:b]) for a, b in ((0, 7), (7, 8), (8, 20), (20, 40))]
    assert close(torch.cat(parts), expected(reference, ids))


def test_rows_are_the_ones_asked_for(reference):
    ids = random_ids(10)
    assert close(lean(reference).forward(ids, rows=[2, 9]), expected(reference, ids)[[2, 9]])


def test_tree_that_grows_over_several_calls(reference):
    model, prompt = lean(reference), random_ids(12)
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


def test_keep_then_continue(reference):
    model, prompt = lean(reference), random_ids(12)
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


def test_keep_refuses_what_is_not_a_path(reference):
    model = lean(reference)
    model.forward(random_ids(4))
    model.forward([5, 6], parents=[3, 3])
    with pytest.raises(ValueError):
        model.keep([4, 5])


def test_crop_then_continue(reference):
    model, ids = lean(reference), random_ids(20)
    model.forward(ids)
    model.forward([5, 6], parents=[19, 19])
    model.crop(15)
    assert close(model.forward([7, 8]), expected(reference, ids[:15] + [7, 8])[-2:])
    with pytest.raises(ValueError):
        model.crop(18)


def test_random_trees(reference):
    generator = torch.Generator().manual_seed(1)
    model, prompt = lean(reference), random_ids(9)
    model.forward(prompt)
    paths = {8: prompt}
    for _ in range(6):
        count = int(torch.randint(1, 5, (1,), generator=generator))
        start, known = model.length, list(paths)
        parents = [known[int(torch.randint(len(known), (1,), generator=generator))] for _ in range(count)]
        tokens = random_ids(count, seed=start)
        logits = model.forward(tokens, parents=parents)
        for row in range(count):
            paths[start + row] = paths[parents[row]] + [tokens[row]]
            assert close(logits[row], expected(reference, paths[start + row])[-1])


def test_full_context_changes_nothing():
    reference = reference_model(1, context=16)
    model, ids = lean(reference), random_ids(16)
    model.forward(ids[:15])
    with pytest.raises(ContextFull):
        model.forward([3, 4])
    assert model.length == 15
    assert close(model.forward(ids[15:])[0], expected(reference, ids)[-1])
