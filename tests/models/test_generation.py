"""What a model says of generation, against transformers: what ends a text, and what changes it and is not applied."""

import json

import pytest
import torch
import transformers as hf

from duoviz import commands
from duoviz.__main__ import main
from duoviz.models.checkpoint import NEUTRAL, end_tokens, unapplied
from duoviz.models.load import load_pair
from tests.models.folders import folder, llama, neox, set_config
from tests.tiny import DigitTokenizer, change_pair, tiny_engine

END = "eos_token_id"
# What generation_config.json says, None where there is no such file, and config.json; and what ends a text besides the
# tokenizer's 1.
STATED = {
    "an id": ({END: 5}, {}, {5}),
    "several": ({END: [5, 6]}, {}, {5, 6}),
    "none": ({END: None}, {}, set()),
    "the config is not asked": ({}, {END: 9}, set()),
    "of the config": (None, {END: 9}, {9}),
    "several of the config": (None, {END: [2, 9]}, {2, 9}),
    "the first id": (None, {END: 0}, {0}),
    "of the part that writes": (None, {END: None, "text_config": {END: [7, 8]}}, {7, 8}),
    "none in the config": (None, {END: None}, set()),
}


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("kind", [hf.LlamaConfig, hf.GPTNeoXConfig, hf.Gemma3Config])
def test_a_text_ends_where_transformers_ends_it(kind, stated, tmp_path):
    generation, config, expected = STATED[stated]
    config = kind().to_dict() | {END: None} | config
    (tmp_path / "config.json").write_text(json.dumps(config))
    theirs = hf.GenerationConfig.from_model_config(config)
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
        theirs = hf.GenerationConfig.from_pretrained(tmp_path)
    ids = theirs.eos_token_id if isinstance(theirs.eos_token_id, list) else [theirs.eos_token_id]
    assert end_tokens(tmp_path, DigitTokenizer()) == {1, *ids} - {None} == {1, *expected}


def greedy(base, settings):
    """What transformers writes with these settings in the folder's generation_config.json."""
    (base / "generation_config.json").write_text(json.dumps({"eos_token_id": 2} | settings))
    model = hf.AutoModelForCausalLM.from_pretrained(base).double()
    with torch.no_grad():
        return model.generate(torch.tensor([[5, 9, 7, 3]]), max_new_tokens=8, pad_token_id=0)[0, 4:].tolist()


@pytest.mark.parametrize("make", [llama, neox])
def test_what_changes_the_text_is_named(make, tmp_path):
    base = folder(tmp_path, make())
    plain = greedy(base, {"do_sample": False, "temperature": 0.7, "top_p": 0.8, "max_length": 20, "use_cache": True})
    assert unapplied(base, "It") == ""
    first = plain[0]
    for name, value in {
        "repetition_penalty": 9.0,
        "no_repeat_ngram_size": 1,
        "suppress_tokens": [first],
        "begin_suppress_tokens": [first],
        "bad_words_ids": [[first]],
        "sequence_bias": [[[first], -99.0]],
        "forced_eos_token_id": 2,
    }.items():
        neutral = NEUTRAL[name]
        if name == "no_repeat_ngram_size" and len(set(plain)) == len(plain):
            continue
        assert greedy(base, {name: value}) != plain, name
        assert unapplied(base, "It").startswith(f"It sets {name} ")
        if neutral != []:
            assert greedy(base, {name: neutral}) == plain
            assert unapplied(base, "It") == ""


def test_without_a_generation_config_the_config_says_so(tmp_path):
    base = folder(tmp_path, llama())
    (base / "generation_config.json").unlink()
    set_config(base, num_beams=4, repetition_penalty=None)
    told = "sets num_beams 4 for transformers' generate(): duoviz does not apply this."
    assert load_pair(f"{base} + {base}").unapplied == f"{base} {told}"


def test_generate_says_so_once(monkeypatch, capsys):
    engine = change_pair(tiny_engine(), unapplied="It sets num_beams 4.")
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: engine)
    for command in (["generate", "hi"], ["compare", "--prompts", "hi", "--methods", "vanilla"]):
        assert main([*command, "--max-new-tokens", "3"]) == 0
        assert capsys.readouterr().err.count("duoviz: It sets num_beams 4.\n") == 1
