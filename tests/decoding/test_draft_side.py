"""The draft's side of DuoTree: its cache follows the tree, whatever the text does."""

import random

import pytest
import torch

from duoviz.decoding.acceptance_table import plain
from duoviz.decoding.duotree.draft_side import DraftSide
from duoviz.decoding.duotree.tree import TreeConfig
from duoviz.decoding.sampling import Sampling
from tests.tiny import reference_model
from tests.weights import tiny_decoder

SAMPLED = Sampling(temperature=0.8, seed=5)


@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("trees", [True, False])
def test_steps_propose_what_the_draft_writes_after_each_path(trees, sampling):
    """However the root moved: to a node, past one, or away from the tree."""
    reference, chance = reference_model(3), random.Random(0)
    config = TreeConfig(table=plain(), sampling=sampling, children=3, trees=trees, limit=200)
    side = DraftSide(tiny_decoder(3), config)
    side.move([5, 9, 3])
    tree, kept = side.tree, 0
    for _ in range(25):
        for number in range(chance.randrange(1, 4)):
            width = chance.choice((1, 2, 4)) if trees else 1
            for path, tokens, q in side.grow(width, number=number).children:
                logits = reference(torch.tensor([[*tree.text, *path]])).logits[0, -1]
                p = (logits / (sampling.temperature or 1)).softmax(-1)
                assert torch.allclose(p[tokens], torch.tensor(q, dtype=p.dtype), atol=1e-9)
                assert sampling is SAMPLED or tokens == p.topk(len(tokens)).indices.tolist()
        known = [node for node in tree.nodes if node.slot is not None]
        kept += len(known)
        assert side.model.length == len(tree.text) + len(known)
        inside = chance.choice([*tree.nodes, None])
        path = list(tree.tokens_to(tree.nodes.index(inside))) if inside else []
        side.move(path + ([chance.randrange(2, 40)] if not path or chance.random() < 0.5 else []))
    assert kept > 20
