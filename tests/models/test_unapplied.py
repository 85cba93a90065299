"""What a model sets for transformers' greedy text is named where it changes that text, and only there."""

import json

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz import commands
from duoviz.__main__ import main
from duoviz.models.load import load_pair
from duoviz.models.unapplied import NEUTRAL, unapplied
from tests.models.folders import bloom, folder, llama, neox
from tests.tiny import change_pair, tiny_engine


def greedy(base, settings):
    """What transformers writes with these settings in the folder's generation_config.json."""
    (base / "generation_config.json").write_text(json.dumps({"eos_token_id": 2} | settings))
    model = AutoModelForCausalLM.from_pretrained(base).double()
    with torch.no_grad():
        return model.generate(torch.tensor([[5, 9, 7, 3]]), max_new_tokens=8, pad_token_id=0)[0, 4:].tolist()


@pytest.mark.parametrize("make", [llama, neox, bloom])
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
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps(config | {"num_beams": 4, "repetition_penalty": None}))
    told = "sets num_beams 4 for transformers' generate(): duoviz does not apply this."
    assert load_pair(f"{base} + {base}").unapplied == f"{base} {told}"


def test_generate_says_so_once(monkeypatch, capsys):
    engine = change_pair(tiny_engine(), unapplied="It sets num_beams 4.")
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: engine)
    for command in (["generate", "hi"], ["compare", "--prompts", "hi", "--methods", "vanilla"]):
        assert main([*command, "--max-new-tokens", "3"]) == 0
        assert capsys.readouterr().err.count("duoviz: It sets num_beams 4.\n") == 1
