"""A template or tokenizer that misbehaves has a sentence."""

import pytest

from duoviz.errors import UserError
from duoviz.models.load import load_pair
from tests.models.hostile import FAILING, PROMPT, hostile


def pair_of(path, kind):
    return load_pair(f"{(made := hostile(path / 'model', kind))} + {made}")


@pytest.mark.parametrize(
    "kind, sentence",
    [
        ("long", "The prompt in the model's chat template is too long: 100,000 characters; the limit is"),
        ("panics", "The tokenizer of .*model cannot read this text .Onig: .*: choose another model."),
        ("cannot be read", "has no tokenizer that can be read .*: choose another model."),
    ],
)
def test_what_goes_wrong_is_a_sentence(kind, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        pair_of(tmp_path, kind).encode(PROMPT)


def test_whatever_a_template_raises_is_a_sentence_that_names_it(two):
    pair = load_pair(f"{two[0]} + {two[1]}")
    for template, reason in FAILING.items():
        pair.tokenizer.inner.chat_template = template
        sentence = rf"^The chat template of {two[0]} cannot be used \({reason}[^\n]*\): choose another model.$"
        with pytest.raises(UserError, match=sentence):
            pair.encode("the cat")


def test_a_tokenizer_that_panics_as_it_writes(tmp_path):
    tokenizer = pair_of(tmp_path, "cannot write").tokenizer
    ids = tokenizer(PROMPT, add_special_tokens=False)["input_ids"]
    with pytest.raises(UserError, match="The tokenizer of .* cannot write its tokens"):
        tokenizer.decode(ids)
