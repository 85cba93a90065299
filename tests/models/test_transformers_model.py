"""Other families through transformers, in float64 against forwards without a cache."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    MambaConfig,
    MambaForCausalLM,
)

from duoviz.models.language_model import ContextFull
from duoviz.models.loading import ModelUnavailable
from duoviz.models.transformers_model import TransformersModel, load_transformers
from tests.models.reference import close, expected, random_ids
from tests.tiny import VOCABULARY

TOKENS = dict(vocab_size=VOCABULARY, initializer_range=0.3, bos_token_id=0, eos_token_id=1)
SHAPE = dict(**TOKENS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)

MODELS = {
    "gpt-neox": (GPTNeoXForCausalLM, GPTNeoXConfig(**SHAPE, max_position_embeddings=64)),
    "gpt-2": (GPT2LMHeadModel, GPT2Config(**TOKENS, n_embd=32, n_layer=2, n_head=4, n_positions=64)),
}


def reference_of(kind, config):
    torch.manual_seed(0)
    return kind(config).double().eval()


def wrapped(reference, **options):
    return TransformersModel(reference, precision="float64", label="tiny", context_limit=128, **options)


@pytest.fixture(scope="module", params=MODELS)
def reference(request):
    return reference_of(*MODELS[request.param])


@pytest.fixture
def model(reference):
    return wrapped(reference)


def test_what_the_probes_found(model):
    assert model.supports_tree and model.length == 0
    assert (model.context_limit, model.vocab_size) == (64, VOCABULARY)


def test_chunks_and_rows(reference, model):
    ids = random_ids(40)
    parts = [model.forward(ids[a:b]) for a, b in ((0, 7), (7, 8), (8, 40))]
    assert parts[0].dtype == torch.float64 and close(torch.cat(parts), expected(reference, ids))
    model.crop(0)
    assert close(model.forward(ids, rows=[2, 39]), expected(reference, ids)[[2, 39]])


def test_tree_keep_and_crop(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    first = model.forward([5, 6, 7], parents=[11, 11, 12])  # 5 and 6 after the prompt, 7 after 5
    second = model.forward([8, 9], parents=[13, 14])  # 8 after 6, 9 after 7
    for row, path in enumerate(([5], [6], [5, 7])):
        assert close(first[row], expected(reference, prompt + path)[-1])
    assert close(second[0], expected(reference, prompt + [6, 8])[-1])
    assert close(second[1], expected(reference, prompt + [5, 7, 9])[-1])
    model.keep([13, 15])
    assert model.length == 14
    grown = model.forward([3, 4], parents=[13, 13])
    assert close(grown[1], expected(reference, prompt + [6, 8, 4])[-1])
    model.crop(13)
    assert close(model.forward([9, 2]), expected(reference, prompt + [6, 9, 2])[-2:])


def test_full_context_changes_nothing(reference, model):
    ids = random_ids(64)
    model.forward(ids[:63])
    with pytest.raises(ContextFull):
        model.forward([3, 4])
    assert close(model.forward(ids[63:])[0], expected(reference, ids)[-1])


@pytest.mark.parametrize("vocabulary", [30, 50])
def test_another_models_vocabulary_crashes_neither_side(vocabulary):
    reference = reference_of(*MODELS["gpt-neox"])
    ids, known = [5, 6, 29], min(vocabulary, VOCABULARY)
    before = expected(reference, ids)
    model = wrapped(reference, vocabulary=vocabulary)
    assert model.vocab_size == known and close(model.forward(ids), before[:, :known])
    assert model.forward([vocabulary - 1]).shape == (1, known)
    model.crop(0)
    assert not model.model.get_input_embeddings().weight[VOCABULARY:vocabulary].any()


GEMMA = dict(**SHAPE, num_key_value_heads=2, head_dim=8, max_position_embeddings=64)


@pytest.fixture(
    params=[
        (BloomForCausalLM, BloomConfig(**TOKENS, hidden_size=32, n_layer=2, n_head=4)),
        (Gemma2ForCausalLM, Gemma2Config(**GEMMA, sliding_window=8)),
    ],
    ids=["positions by slot", "a sliding window"],
)
def chain_only(request):
    return reference_of(*request.param)


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
    assert wrapped(reference_of(Gemma2ForCausalLM, Gemma2Config(**GEMMA, sliding_window=64))).supports_tree


def test_a_state_that_cannot_be_cropped_is_refused():
    config = MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=8)
    with pytest.raises(ModelUnavailable, match="tiny cannot take tokens back"):
        wrapped(reference_of(MambaForCausalLM, config))


def test_a_crop_that_leaves_something_behind_is_noticed(monkeypatch):
    monkeypatch.setattr(TransformersModel, "cut_cache", lambda self: None)
    with pytest.raises(ModelUnavailable, match="cannot take tokens back"):
        wrapped(reference_of(*MODELS["gpt-neox"]))


def test_loading_from_a_folder(tmp_path):
    reference = reference_of(*MODELS["gpt-neox"])
    reference.save_pretrained(tmp_path)
    model = load_transformers(tmp_path, precision="float32", label="tiny", context_limit=32)
    logits = model.forward([5, 6])
    assert (model.context_limit, logits.dtype) == (32, torch.float32)
    assert torch.allclose(logits.double(), expected(reference, [5, 6]), atol=1e-3)

    tensors = load_file(tmp_path / "model.safetensors")
    name = next(name for name in tensors if "layers.1" in name and name.endswith("weight"))
    del tensors[name]
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelUnavailable, match=f"The weights of tiny lack the tensor {name}"):
        load_transformers(tmp_path, precision="float32", label="tiny", context_limit=32)


def test_a_folder_without_safetensors_and_one_that_writes_no_text(tmp_path):
    reference_of(*MODELS["gpt-neox"]).save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickled")
    with pytest.raises(ModelUnavailable, match="tiny"):
        load_transformers(tmp_path, precision="float32", label="tiny", context_limit=32)
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    with pytest.raises(ModelUnavailable, match="transformers cannot load tiny"):
        load_transformers(tmp_path, precision="float32", label="tiny", context_limit=32)
