"""A gguf, converted by us and read by transformers' own loader."""

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from duoviz.models.checkpoint import LLAMA_FIELDS, read_json
from duoviz.models.embedded import convert_gguf
from tests.models.small_gguf import write_gguf


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny gguf and, in `converted`, what became of it."""
    folder = tmp_path_factory.mktemp("gguf")
    write_gguf(folder / "tiny.gguf")
    (folder / "converted").mkdir()
    convert_gguf(folder / "tiny.gguf", folder / "converted", lambda done, text: None)
    return folder


def test_the_numbers_are_those_that_transformers_reads(folder):
    expected = AutoModelForCausalLM.from_pretrained(folder, gguf_file="tiny.gguf", dtype=torch.float32)
    ours = load_file(folder / "converted" / "model.safetensors")
    theirs = {name: tensor for name, tensor in expected.state_dict().items() if name in ours}
    assert set(expected.state_dict()) - set(ours) == {"lm_head.weight"} and len(theirs) == len(ours)
    assert all(torch.equal(ours[name], tensor) for name, tensor in theirs.items())


def test_the_config_says_all_that_the_decoder_reads(folder):
    config = read_json(folder / "converted" / "config.json")
    theirs = AutoConfig.from_pretrained(folder, gguf_file="tiny.gguf").to_dict()
    assert set(config) >= LLAMA_FIELDS
    assert all(config[field] == theirs[field] for field in LLAMA_FIELDS | {"bos_token_id", "eos_token_id"})


def test_the_tokenizer_is_the_one_that_transformers_reads(folder):
    ours = AutoTokenizer.from_pretrained(folder / "converted")
    theirs = AutoTokenizer.from_pretrained(folder, gguf_file="tiny.gguf")
    text = "".join(theirs.convert_ids_to_tokens([45, 50, 60]))
    assert ours.get_vocab() == theirs.get_vocab() and ours(text) == theirs(text)
    assert ours.eos_token_id == theirs.eos_token_id == 1
