"""Loading pairs of tiny models from folders."""

import shutil
from dataclasses import replace
from functools import partial

import pytest

from duoviz.models.copying import Copying
from duoviz.models.load import load_pair, prepare_pair
from tests.models.folders import TEXT, bloom, folder, llama, neox, ready, set_config, texts


@pytest.mark.parametrize(
    "make_target, make_draft, precision",
    [
        (llama, partial(llama, 1), "int8"),
        (llama, partial(llama, 1, tokens=90), "int8"),
        (partial(llama, tokens=64), partial(llama, 1), "int8"),
        (neox, partial(neox, 0), "float32"),
        (llama, partial(neox, 1, tokens=90), "float32"),
        (bloom, bloom, "float32"),
    ],
    ids=["llama", "the draft knows more ids", "the draft knows fewer ids", "transformers", "mixed", "chains only"],
)
def test_any_two_folders_make_a_pair(make_target, make_draft, precision, tmp_path):
    target, draft = folder(tmp_path / "a", make_target()), folder(tmp_path / "b", make_draft())
    updates = []
    pair = load_pair(f"{target} + {draft}", lambda *update: updates.append(update))
    engine = ready(pair)
    assert pair.target.precision == "float32" and pair.target.label == str(target)
    assert pair.draft.precision == precision and pair.draft.label == f"{draft} ({precision})"
    assert engine.draft_beside.model.vocab_size <= pair.target.vocab_size
    vanilla, duo = texts(engine, TEXT[0])
    assert vanilla and vanilla == duo
    assert [fraction for fraction, _ in updates] == sorted(fraction for fraction, _ in updates)


def test_a_draft_can_be_loaded_before_the_target_and_copies_where_its_config_says_so(two, tmp_path):
    draft = shutil.copytree(two[1], tmp_path / "draft")
    set_config(draft, copying=[[0.1, 0.6]] * 3)
    prepared = prepare_pair(f"{two[0]} + {draft}")
    copying = prepared.draft.load()
    assert isinstance(copying, Copying) and copying.weights == [[0.1, 0.6]] * 3
    pair = prepared.load()
    assert pair.draft == prepared.draft and pair.cores == prepared.cores and not isinstance(pair.target, Copying)


@pytest.mark.parametrize("contexts", [(256, 24), (24, 256)])
def test_the_shorter_context_is_that_of_both(contexts, tmp_path):
    target, draft = (
        folder(tmp_path / name, llama(context=context)) for name, context in zip("ab", contexts, strict=True)
    )
    pair = replace(load_pair(f"{target} + {draft}"), eos=frozenset())
    engine = ready(pair)
    assert pair.target.context_limit == engine.draft_beside.model.context_limit == 24
    vanilla, duo = texts(engine, TEXT[0], tokens=100)
    assert vanilla == duo and len(pair.encode(TEXT[0])) + len(duo) == 24
