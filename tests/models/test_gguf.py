"""A gguf, converted by us and read by transformers' own loader."""

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from duoviz.models.embedded import convert_gguf
from duoviz.models.files import LLAMA_FIELDS, read_json
from tests.models.small_gguf import write_gguf

MORE = {"bos_token_id", "eos_token_id", "head_dim", "num_key_value_heads", "tie_word_embeddings"}


def test_weights_config_and_tokenizer_are_those_that_transformers_reads(tmp_path):
    write_gguf(tmp_path / "tiny.gguf")
    (made := tmp_path / "converted").mkdir()
    convert_gguf(tmp_path / "tiny.gguf", made, lambda done, text: None)
    expected = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="tiny.gguf", dtype=torch.float32).state_dict()
    ours = load_file(made / "model.safetensors")
    assert set(expected) - set(ours) == {"lm_head.weight"} and set(ours) <= set(expected)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in ours.items())
    config, theirs = (
        read_json(made / "config.json"),
        AutoConfig.from_pretrained(tmp_path, gguf_file="tiny.gguf").to_dict(),
    )
    # All that the decoder reads, so that it need not ask transformers.
    assert set(config) >= LLAMA_FIELDS
    assert all(config[field] == theirs[field] for field in LLAMA_FIELDS | MORE)
    mine, other = AutoTokenizer.from_pretrained(made), AutoTokenizer.from_pretrained(tmp_path, gguf_file="tiny.gguf")
    text = "".join(other.convert_ids_to_tokens([45, 50, 60]))
    assert mine.get_vocab() == other.get_vocab() and mine(text) == other(text)
    assert mine.eos_token_id == other.eos_token_id == 1
