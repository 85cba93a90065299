"""Rotary embeddings whose frequencies depend on how long a text is."""

import pytest
import torch
import transformers as hf

from duoviz.models.language_model import ContextFull
from tests.models.folders import loaded
from tests.models.reference import LINEAR, SHAPE, expected, random_ids, saved

SHORT, DYNAMIC = SHAPE | {"max_position_embeddings": 48}, LINEAR | {"rope_type": "dynamic"}


def longrope(**more):
    """Of its own for each config, which fills in what it lacks."""
    factors = {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [1.0, 3.0, 5.0, 9.0]}
    return {"rope_type": "longrope", "rope_theta": 10_000.0, **factors, **more}


LATER = {"original_max_position_embeddings": 32}
# The rotary embeddings that a longer text changes, with the length from which on it does.
LENGTHS = {
    "llama, longrope": (hf.LlamaForCausalLM, hf.LlamaConfig(**SHAPE, rope_parameters=longrope(**LATER)), 32),
    "qwen2, longrope": (hf.Qwen2ForCausalLM, hf.Qwen2Config(**SHAPE, **LATER, rope_parameters=longrope()), 32),
    "llama, dynamic": (hf.LlamaForCausalLM, hf.LlamaConfig(**SHORT, rope_parameters=DYNAMIC), 48),
    "phi3": (hf.Phi3ForCausalLM, hf.Phi3Config(**SHAPE, **LATER, rope_parameters=longrope(), pad_token_id=0), 32),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_context_ends_before_a_longer_text_changes_what_was_read(name, tmp_path):
    kind, config, length = LENGTHS[name]
    reference, ids = kind(config).eval(), random_ids(length)
    model = loaded(saved(reference, tmp_path))
    assert model.context_limit == length
    logits = torch.cat([model.forward(ids[: length - 3]), model.forward(ids[length - 3 :])])
    assert torch.allclose(logits, expected(reference, ids), atol=1e-4)
    with pytest.raises(ContextFull):
        model.forward([3])
