"""What ends a text, against transformers."""

import json

import pytest
import transformers as hf

from duoviz.models.files import end_tokens
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
