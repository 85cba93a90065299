"""Whether two models have the same tokenizer."""

import shutil

import pytest

from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models import tokenizers
from duoviz.models.load import load_pair
from tests.models.folders import folder, llama, tokenizer


def test_tokenizers_that_differ(two, tmp_path):
    more = tokenizer()
    more.add_tokens(["<new>"])
    for other in (more, tokenizer(words=40)):
        draft = folder(tmp_path / "other", llama(), other)
        with pytest.raises(UserError, match=f"The tokenizers of {two[0]} and {draft} differ"):
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
