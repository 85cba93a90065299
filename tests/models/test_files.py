"""Where a model's files are, and what they tell before its weights are read."""

from math import inf
from pathlib import Path

import pytest
import transformers as hf

from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models import hub
from duoviz.models.checkpoint import read_config
from duoviz.models.files import ModelFiles, context_of, fetch_pair, look_into, version_of
from duoviz.models.load import load_pair
from duoviz.models.pair import CONTEXT_LIMIT
from tests.models.folders import folder, llama

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
    "none is named": (hf.BloomConfig(), CONTEXT_LIMIT),
    "none is there": (hf.XLNetConfig(), CONTEXT_LIMIT),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_context_of_a_config(name):
    config, limit = CONTEXTS[name]
    assert context_of(ModelFiles("a model", Path(), config.to_dict(), 0)) == limit <= 8192


def test_a_config_with_numbers_that_json_lacks(tmp_path):
    hf.BambaConfig().save_pretrained(tmp_path)
    assert tuple(read_config(tmp_path)["time_step_limit"]) == (0.0, inf)


def test_the_drafts_version_changes_with_its_weights(two, tmp_path):
    version = version_of(look_into(two[1], "draft"))
    assert version and version_of(look_into(two[1], "the same")) == version
    assert version_of(look_into(folder(tmp_path / "other", llama(7)), "other")) != version


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

    def stop(fraction, text):
        raise Stopped

    with pytest.raises(Stopped):
        load_pair("them/model + them/draft", stop)


def test_the_progress_begins_with_what_is_to_be_done(two, monkeypatch):
    def fractions(name):
        updates = []
        load_pair(name, lambda *update: updates.append(update))
        return [fraction for fraction, _ in updates]

    here = fractions(f"{two[0]} + {two[1]}")
    assert here[0] == 0 and here == sorted(here) and len(here) == 2
    monkeypatch.setattr(hub, "fetch", lambda model_id, progress: progress(0.0, "begins") or two[1])
    assert fractions(f"{two[0]} + them/draft")[:2] == [0, 0]
