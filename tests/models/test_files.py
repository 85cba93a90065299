"""A pair's name, where a model's files are, and what they tell before the weights are read."""

import json
from math import inf
from unittest.mock import Mock

import pytest
import transformers as hf

from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models import hub
from duoviz.models.files import end_tokens, fetch_pair, look_into, read_config
from duoviz.models.llama_config import context_of, is_lean
from duoviz.models.load import load_pair
from duoviz.models.pair import CONTEXT_LIMIT
from duoviz.models.registry import PAIRS, Models, find_pair, needs_the_hub
from tests.models.folders import folder, llama, loaded
from tests.models.reference import FAMILIES, LINEAR, SHAPE, close, exact_model, expected, random_ids
from tests.tiny import DigitTokenizer

CONTEXTS = {
    "lean": (hf.LlamaConfig(max_position_embeddings=24), 24),
    "a long one is cut": (hf.LlamaConfig(max_position_embeddings=131_072), CONTEXT_LIMIT),
    "transformers": (hf.GPTNeoXConfig(max_position_embeddings=24), 24),
    "n_positions": (hf.GPT2Config(n_positions=24), 24),
    "max_seq_len": (hf.MptConfig(max_seq_len=24), 24),
    "max_target_positions": (hf.WhisperConfig(max_target_positions=24), 24),
    "model_max_length": (hf.KimiLinearConfig(model_max_length=24), 24),
    "context_length": (hf.RwkvConfig(context_length=24), 24),
    "of the part that writes": (hf.Gemma3Config(text_config={"max_position_embeddings": 24}), 24),
    "of a window": (hf.MistralConfig(sliding_window=24), 24),
    "of some layers' window": (hf.Qwen2Config(sliding_window=24, use_sliding_window=True, max_window_layers=1), 24),
    "a window that is not used": (hf.Qwen2Config(sliding_window=24, use_sliding_window=False), CONTEXT_LIMIT),
    "a window that transformers heeds": (hf.Gemma2Config(sliding_window=24), CONTEXT_LIMIT),
    "none is named": (hf.BloomConfig(), CONTEXT_LIMIT),
    "none is there": (hf.XLNetConfig(), CONTEXT_LIMIT),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_context_of_a_config(name):
    config, limit = CONTEXTS[name]
    assert context_of(config.to_dict()) == limit <= 8192


def test_a_config_with_numbers_that_json_lacks(tmp_path):
    hf.BambaConfig().save_pretrained(tmp_path)
    assert tuple(read_config(tmp_path)["time_step_limit"]) == (0.0, inf)


def test_the_drafts_version_changes_with_its_weights(two, tmp_path):
    version = look_into(two[1], "draft").version
    assert version and look_into(two[1], "the same").version == version
    assert look_into(folder(tmp_path / "other", llama(7)), "other").version != version


@pytest.mark.parametrize("name", ["/nowhere/at/all", "./here", "~nobody-of-this-name/mine", "a/b/c", "/" + "a" * 300])
def test_a_folder_that_is_not_there(name, two):
    with pytest.raises(UserError, match=f"There is no folder {name}"):
        fetch_pair(f"{name} + {two[1]}")


def test_ids_are_fetched_from_the_hub_and_the_progress_ends_it(two, monkeypatch):
    asked, updates = [], []

    def fetch(model_id, progress):
        asked.append(model_id)
        progress(0.5, "half of it")
        return two[0]

    monkeypatch.setattr(hub, "fetch", fetch)
    pair = load_pair("them/model + them/draft", lambda *update: updates.append(update))
    assert asked == ["them/model", "them/draft"] and [text for _, text in updates[:2]] == ["half of it"] * 2
    fractions = [fraction for fraction, _ in updates]
    assert fractions[0] == pytest.approx(0.36) and fractions == sorted(fractions) and fractions[2] < 0.7
    assert pair.target.label == "them/model" and pair.name == "them/model + them/draft"
    with pytest.raises(Stopped):
        load_pair("them/model + them/draft", Mock(side_effect=Stopped))
    # Where nothing is to be fetched, the progress begins with loading.
    updates.clear()
    load_pair(f"{two[0]} + {two[1]}", lambda *update: updates.append(update))
    assert [fraction for fraction, _ in updates] == [0, pytest.approx(0.3)]


def test_which_models_the_lean_decoder_does():
    assert all(is_lean(config.to_dict()) for config in FAMILIES.values())
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
    model = loaded(tmp_path, "float64")
    assert close(model.forward(ids), expected(reference, ids))


END = "eos_token_id"


@pytest.mark.parametrize(
    "generation, config, ids",
    [({END: 5}, {}, {5}), ({END: [5, 6]}, {}, {5, 6}), ({}, {END: 9}, set()), (None, {END: 9}, {9}),
     (None, {END: [2, 9]}, {2, 9}), (None, {"text_config": {END: [7, 8]}}, {7, 8}), (None, {}, set())],
)  # fmt: skip
def test_a_text_ends_where_transformers_ends_it(generation, config, ids, tmp_path):
    """By generation_config.json, or config.json where there is no such file, and the tokenizer's 1."""
    config = hf.LlamaConfig().to_dict() | {END: None} | config
    (tmp_path / "config.json").write_text(json.dumps(config))
    theirs = hf.GenerationConfig.from_model_config(config)
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
        theirs = hf.GenerationConfig.from_pretrained(tmp_path)
    found = theirs.eos_token_id if isinstance(theirs.eos_token_id, list) else [theirs.eos_token_id]
    assert end_tokens(tmp_path, DigitTokenizer()) == {1, *found} - {None} == {1, *ids}


def test_two_models_or_one_make_a_pair():
    assert find_pair("embedded") is PAIRS["embedded"]
    assert find_pair("a/b + embedded") == Models("a/b", "embedded")
    assert find_pair("a/b") == Models("a/b", "")


@pytest.mark.parametrize("name", ["nobody", "a + b + c", " + b", "a+b", ""])
def test_an_unknown_name_tells_what_can_be_named(name):
    with pytest.raises(UserError, match=r"embedded, embedded-as-360m, .*TARGET \+ DRAFT"):
        find_pair(name)


def test_which_pairs_need_the_hub(tmp_path):
    assert not needs_the_hub("embedded") and not needs_the_hub(f"{tmp_path} + {tmp_path}")
    assert not needs_the_hub("./here + ~/there")
    assert needs_the_hub("them/model") and not needs_the_hub(str(tmp_path))
    assert needs_the_hub("smollm2-1.7b") and needs_the_hub(f"{tmp_path} + them/draft")
