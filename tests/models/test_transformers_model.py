"""Other families through transformers: what they can do, what shows that they cannot, and how long a text may be."""

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from duoviz.errors import UserError
from duoviz.models.language_model import ContextFull
from tests.models.folders import folder, loaded
from tests.models.reference import HIDDEN, LINEAR, OTHERS, SHAPE, TOKENS, expected, other_model, random_ids, wrapped
from tests.tiny import VOCABULARY

GEMMA = dict(**HIDDEN, num_key_value_heads=2, head_dim=8, max_position_embeddings=64)


@pytest.fixture(
    params=[
        hf.BloomConfig(**TOKENS, hidden_size=32, n_layer=2, n_head=4),
        hf.Gemma2Config(**GEMMA, sliding_window=8),
    ],
    ids=["positions by slot", "a sliding window"],
)
def chain_only(request):
    return other_model(request.param)


def test_a_model_without_trees_still_does_chains(chain_only):
    model, ids = wrapped(chain_only), random_ids(30)
    assert not model.supports_tree
    # Bloom and Gemma round to float32 on the way.
    assert torch.allclose(model.forward(ids), expected(chain_only, ids), atol=1e-4)
    with pytest.raises(ValueError, match="chain"):
        model.forward([5, 6], parents=[29, 29])
    assert torch.allclose(model.forward([5], parents=[29]), expected(chain_only, [*ids, 5])[-1:], atol=1e-4)
    model.crop(20)
    assert torch.allclose(model.forward([7, 8]), expected(chain_only, [*ids[:20], 7, 8])[-2:], atol=1e-4)


def test_a_window_as_long_as_the_context_allows_trees():
    assert wrapped(other_model(hf.Gemma2Config(**GEMMA, sliding_window=64))).supports_tree


def test_a_state_that_cannot_be_cropped_is_refused():
    config = hf.MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=8)
    with pytest.raises(UserError, match="tiny cannot drop rejected tokens"):
        wrapped(other_model(config))


def test_a_window_that_only_the_cache_knows_is_refused():
    config = hf.MoshiConfig(**HIDDEN, ffn_dim=48, head_dim=8, max_position_embeddings=64, sliding_window=8)
    with pytest.raises(UserError, match="tiny needs a cache that drops what lies before its window"):
        wrapped(other_model(config))
    assert wrapped(other_model(hf.MoshiConfig(**config.to_dict() | {"sliding_window": 64})))


def test_a_crop_that_leaves_something_behind_is_noticed(monkeypatch):
    monkeypatch.setattr(hf.DynamicCache, "crop", lambda *arguments: None)
    with pytest.raises(UserError, match="cannot drop rejected tokens"):
        wrapped(other_model(OTHERS["gpt-neox"]))


def test_loading_from_a_folder(tmp_path):
    reference = other_model(OTHERS["gpt-neox"])
    reference.save_pretrained(tmp_path)
    model = loaded(tmp_path, context_limit=32)
    assert (model.context_limit, model.forward([5, 6]).dtype) == (32, torch.float32)
    tensors = load_file(tmp_path / "model.safetensors")
    name = next(name for name in tensors if "layers.1" in name and name.endswith("weight"))
    del tensors[name]
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=f"tiny cannot be loaded .it lacks {name}"):
        loaded(tmp_path, context_limit=32)


SHORT, DYNAMIC = SHAPE | {"max_position_embeddings": 48}, LINEAR | {"rope_type": "dynamic"}


def longrope(**more):
    """Of its own for each config, which fills in what it lacks."""
    factors = {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [1.0, 3.0, 5.0, 9.0]}
    return {"rope_type": "longrope", "rope_theta": 10_000.0, **factors, **more}


LATER = {"original_max_position_embeddings": 32}
# The rotary embeddings that a longer text changes, with the length from which on it does.
LENGTHS = {
    "llama, longrope": (hf.LlamaConfig(**SHAPE, rope_parameters=longrope(**LATER)), 32),
    "qwen2, longrope": (hf.Qwen2Config(**SHAPE, **LATER, rope_parameters=longrope()), 32),
    "llama, dynamic": (hf.LlamaConfig(**SHORT, rope_parameters=DYNAMIC), 48),
    "phi3": (hf.Phi3Config(**SHAPE, **LATER, rope_parameters=longrope(), pad_token_id=0), 32),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_a_context_ends_before_a_longer_text_changes_what_was_read(name, tmp_path):
    config, length = LENGTHS[name]
    reference, ids = hf.AutoModelForCausalLM.from_config(config).eval(), random_ids(length)
    model = loaded(folder(tmp_path, reference))
    assert model.context_limit == length
    logits = torch.cat([model.forward(ids[: length - 3]), model.forward(ids[length - 3 :])])
    assert torch.allclose(logits, expected(reference, ids), atol=1e-4)
    with pytest.raises(ContextFull):
        model.forward([3])
