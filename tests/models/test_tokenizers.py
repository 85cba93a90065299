"""The tokenizer of a pair: whether two models have the same, and the message for one that misbehaves."""

import shutil

import pytest

from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models import tokenizers
from duoviz.models.load import load_pair
from tests.models.folders import folder, llama, tokenizer
from tests.models.hostile import FAILING, PROMPT, hostile


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
    base = folder(tmp_path / "base", llama(vocab_size=30))
    with pytest.raises(UserError, match="has the id 49, and they have 30 tokens"):
        load_pair(f"{base} + {base}")


def test_whatever_a_template_raises_is_a_sentence_that_names_it(two):
    pair = load_pair(f"{two[0]} + {two[1]}")
    for template, reason in FAILING.items():
        pair.tokenizer.inner.chat_template = template
        sentence = rf"^The chat template of {two[0]} cannot be used \({reason}[^\n]*\): choose another model.$"
        with pytest.raises(UserError, match=sentence):
            pair.encode("the cat")
    pair.tokenizer.inner.chat_template = "{{ 'x' * 10 ** 5 }}"
    with pytest.raises(UserError, match="The prompt in the model's chat template is too long: 100,000 characters; the"):
        pair.encode("the cat")


def test_a_tokenizer_that_panics_as_it_reads_or_writes(tmp_path):
    reads, writes = (load_pair(str(hostile(tmp_path / kind, kind))) for kind in ("cannot read", "cannot write"))
    with pytest.raises(UserError, match="The tokenizer of .* cannot read this text .Onig: .*: choose another model."):
        reads.encode(PROMPT)
    ids = writes.tokenizer(PROMPT, add_special_tokens=False)["input_ids"]
    with pytest.raises(UserError, match="The tokenizer of .* cannot write its tokens"):
        writes.tokenizer.decode(ids)
