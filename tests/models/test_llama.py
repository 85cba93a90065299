"""What the lean decoder does and does not do, against transformers."""

import pytest
import transformers as hf

from duoviz.models.language_model import ContextFull
from duoviz.models.llama import load_llama
from duoviz.models.llama_config import is_lean
from tests.models.reference import FAMILIES, LINEAR, SHAPE, close, exact_model, expected, random_ids, saved

LATE = dict(use_sliding_window=True, max_window_layers=1)
WINDOWS = {
    "mistral": (hf.MistralForCausalLM, hf.MistralConfig(**SHAPE, sliding_window=24)),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config(**SHAPE, **LATE, sliding_window=24)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_the_context_ends_where_a_sliding_window_would_begin_to_matter(name, tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, name, WINDOWS[name])
    reference = exact_model(name)
    model, ids = load_llama(saved(reference, tmp_path), precision="float64", label="tiny"), random_ids(24)
    assert close(model.forward(ids), expected(reference, ids))
    with pytest.raises(ContextFull):
        model.forward([3])


def test_a_window_that_is_not_used_cuts_nothing(tmp_path):
    config = hf.Qwen2Config(**SHAPE, use_sliding_window=False, sliding_window=24)
    folder = saved(hf.Qwen2ForCausalLM(config), tmp_path)
    assert load_llama(folder, precision="float32", label="tiny").context_limit == 256


def test_which_models_the_lean_decoder_does():
    assert all(is_lean(config.to_dict()) for _, config in FAMILIES.values())
    assert not is_lean({"model_type": "gpt_neox"})
    for change in ({"hidden_act": "gelu"}, {"rope_parameters": LINEAR | {"rope_type": "proportional"}}):
        assert not is_lean(hf.LlamaConfig(**SHAPE, **change).to_dict())


def test_a_checkpoint_in_several_files(tmp_path):
    reference = exact_model("llama")
    reference.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    # What the index does not name is not read, such as another copy of the weights under another name.
    (tmp_path / "consolidated.safetensors").write_bytes(b"something else")
    ids = random_ids(10)
    model = load_llama(tmp_path, precision="float64", label="tiny")
    assert close(model.forward(ids), expected(reference, ids))
