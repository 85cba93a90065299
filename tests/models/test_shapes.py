"""A model in a larger shape computes what it did."""

import pytest
import torch

from duoviz.errors import UserError
from duoviz.models import load, registry, shapes
from duoviz.models.files import read_config, read_tensors
from duoviz.models.load import check_room, load_pair
from duoviz.models.registry import Models
from duoviz.models.shapes import SHAPES, InShape, Shape, config_in
from tests.models.folders import TEXT, llama, ready, texts
from tests.models.reference import close, random_ids
from tests.weights import decoder, tiny_weights

# The tiny Llama has 32 hidden numbers, 48 inner ones, 1 layer, and 4 query heads of 8 that share 2 key heads.
LARGER = {
    "wider": (48, 80, 1, 4, 2, 8),
    "longer heads": (32, 48, 1, 4, 2, 24),
    "more heads to a key": (64, 48, 1, 12, 3, 8),
    "a key for each head": (64, 64, 2, 6, 6, 16),
    "fewer heads to a key": (40, 48, 1, 8, 8, 8),
    "all larger": (80, 112, 4, 15, 5, 16),
}


def grown(sizes, **changes):
    """The tiny Llama, and it in another shape."""
    config, tensors = tiny_weights(0)
    norms = {name: torch.rand(len(part)).double() + 0.5 for name, part in tensors.items() if "norm" in name}
    config, tensors = config | changes, tensors | norms
    if config["tie_word_embeddings"]:
        del tensors["lm_head.weight"]
    shape = Shape("a larger one", *sizes)
    larger = InShape(tensors, config, shape, device="cpu", dtype=torch.float64)
    return decoder(config, tensors), decoder(config_in(shape, config), larger)


@pytest.mark.parametrize("name", LARGER)
def test_the_logits_are_the_same(name):
    small, large = grown(LARGER[name], tie_word_embeddings=name == "wider")
    ids = random_ids(40)
    for part, parents in ((ids[:30], None), (ids[30:35], None), (ids[35:], [34, 34, 35, 36, 36])):
        assert close(large.forward(part, parents=parents), small.forward(part, parents=parents))


def test_what_is_read_is_not_zero():
    _, large = grown(LARGER["all larger"])
    layer = large.decoder.layers[-1]
    assert layer.qkv.weight.all() and layer.gate.weight.all()
    assert not layer.out.weight.any() and not layer.down.weight.any()


def test_a_pair_in_a_larger_shape_writes_the_same_text(two, monkeypatch):
    target, draft = map(str, two)
    # The tiny target has 64 hidden numbers, 96 inner ones, 2 layers, and 4 query heads of 16 that share 2 key heads.
    monkeypatch.setitem(shapes.SHAPES, "large", Shape("Large", 96, 160, 3, 6, 3, 32))
    monkeypatch.setitem(registry.PAIRS, "as it is", Models(target, draft))
    monkeypatch.setitem(registry.PAIRS, "as large", Models(target, draft, shape="large"))
    small, large = load_pair("as it is"), load_pair("as large")
    assert large.target.label == f"{target}'s text at Large's cost"
    assert large.target.decoder.weights.qkv.shape[0] == 3
    tensors = InShape(read_tensors(two[0]), read_config(two[0]), SHAPES["large"], device="cpu", dtype=torch.float32)
    numbers = sum(part.numel() for part in tensors.values() if part.dim() == 2)
    assert large.memory["cpu"] - small.memory["cpu"] == pytest.approx(
        4 * (numbers - llama().num_parameters()), rel=0.01
    )
    engines = ready(small), ready(large)
    assert texts(engines[0], TEXT[0]) == texts(engines[1], TEXT[0])
    monkeypatch.setattr(load, "free_memory", lambda device: large.memory["cpu"] - 1)
    with pytest.raises(UserError, match="as large needs .* GB"):
        check_room("as large")
    check_room("as large", {"cpu": 1})
