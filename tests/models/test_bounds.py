"""A template or tokenizer that misbehaves has a sentence, and one that would never end takes only its process along."""

import faulthandler
import multiprocessing
import signal

import pytest

from duoviz.errors import UserError
from duoviz.models import bounds
from duoviz.models.load import load_pair
from tests.models.hostile import ENDLESS, FAILING, LARGE, PROMPT, hostile


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


def what_came(pipe, pair, seconds):
    """In a process of its own, held to small bounds: what is wrong with the prompt, if anything."""
    faulthandler.disable()
    bounds.expend()
    bounds.TEXT, bounds.MEMORY = seconds, 300_000_000
    try:
        pair.encode(PROMPT)
        pipe.send("nothing")
    except UserError as error:
        pipe.send(str(error))


def ended(path, kind, *, seconds=9999):
    """What a process tells of its prompt, None where it was ended; and its exit code."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=what_came, args=(theirs, pair_of(path, kind), seconds))
    process.start()
    theirs.close()
    try:
        told = ours.recv()
    except EOFError:
        told = None
    process.join(120)
    return told, process.exitcode


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_would_never_end_ends_its_process(kind, tmp_path):
    told, code = ended(tmp_path, kind, seconds=0.3)
    assert told is None and code == -signal.SIGPROF and bounds.why_ended(code) == bounds.TOO_LONG


@pytest.mark.parametrize("kind", LARGE)
def test_what_would_take_all_memory_is_a_sentence(kind, tmp_path):
    told, code = ended(tmp_path, kind)
    assert "The chat template of" in told and "it takes too much memory" in told and code == 0


def test_a_tokenizer_that_aborts_has_a_reason(tmp_path):
    told, code = ended(tmp_path, "aborts")
    assert told is None and bounds.why_ended(code) == bounds.KILLED.format(-signal.SIGABRT)


def test_a_model_that_behaves_is_let_be(tmp_path):
    assert ended(tmp_path, "usual") == ("nothing", 0)
