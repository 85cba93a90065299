"""Whether two models have the same tokenizer, and what ends a text."""

import json
import shutil

import pytest
import transformers as hf

from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models import tokenizers
from duoviz.models.files import ModelFiles
from duoviz.models.load import load_pair
from duoviz.models.tokenizers import end_tokens
from tests.models.folders import folder, llama, tokenizer
from tests.tiny import DigitTokenizer

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
@pytest.mark.parametrize("kind", [hf.LlamaConfig, hf.Qwen2Config, hf.MistralConfig, hf.GPTNeoXConfig, hf.Gemma3Config])
def test_a_text_ends_where_transformers_ends_it(kind, stated, tmp_path):
    generation, config, expected = STATED[stated]
    config = kind().to_dict() | {END: None} | config
    (tmp_path / "config.json").write_text(json.dumps(config))
    theirs = hf.GenerationConfig.from_model_config(config)
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
        theirs = hf.GenerationConfig.from_pretrained(tmp_path)
    ids = theirs.eos_token_id if isinstance(theirs.eos_token_id, list) else [theirs.eos_token_id]
    assert end_tokens(ModelFiles("tiny", tmp_path, config, 0), DigitTokenizer()) == {1, *ids} - {None} == {1, *expected}


def test_tokenizers_that_differ(two, tmp_path):
    made = tokenizer()
    made.add_tokens(["<new>"])
    for other, sentence in (
        (made, f"id {len(made) - 1} is no token in the first and '<new>' in the second"),
        (tokenizer(words=40), "id 40 is '.*' in the first and no token in the second"),
    ):
        draft = folder(tmp_path / "other", llama(), other)
        with pytest.raises(UserError, match=f"differ .{sentence}"):
            load_pair(f"{two[0]} + {draft}")


def test_drafts_that_were_trained_here_want_the_embedded_tokenizer(two, tmp_path, monkeypatch):
    own = shutil.copytree(DRAFT_FOLDER, tmp_path / "own")
    drafts = (("embedded", DRAFT_FOLDER, "duoviz draft"), (own, own, own))
    for draft, _, label in drafts:
        with pytest.raises(UserError, match=f"{label} works only with SmolLM2's tokenizer"):
            load_pair(f"{two[0]} + {draft}")
    monkeypatch.setattr(tokenizers, "EMBEDDED_VOCABULARY", tokenizers.fingerprint(tokenizer().get_vocab()))
    for draft, place, label in drafts:
        pair = load_pair(f"{two[0]} + {draft}")
        assert pair.draft.label == f"{label} (int8)" and pair.draft.folder == place
        known = pair.draft.load().known
        # Of the ids that its head knows, those that the target has.
        assert len(known) > 0 and known.max() < 60


def test_a_tokenizer_with_more_ids_than_the_weights(tmp_path):
    base = folder(tmp_path / "base", llama(tokens=30))
    with pytest.raises(UserError, match="has the id 49, and they have 30 tokens"):
        load_pair(f"{base} + {base}")
