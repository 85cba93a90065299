"""Loading pairs of tiny models from folders, whole and damaged."""

import json
import shutil
from dataclasses import replace
from functools import partial

import pytest
from safetensors.torch import load_file, save_file

from duoviz.errors import UserError
from duoviz.models.copying import Copying
from duoviz.models.load import load_pair, prepare_pair
from tests.models.folders import TEXT, bloom, folder, llama, neox, ready, texts


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
    for prompt in TEXT[:3]:
        vanilla, duo = texts(engine, prompt)
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
    vanilla, duodecoding = texts(ready(pair), "the cat sat on the mat")
    assert vanilla == duodecoding


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


def set_config(base, **changes):
    """Change fields of a folder's config.json; None takes one out."""
    config = json.loads((base / "config.json").read_text()) | changes
    (base / "config.json").write_text(json.dumps({name: value for name, value in config.items() if value is not None}))


def write(name, content):
    return lambda base: (base / name).write_bytes(content)


def changed(**changes):
    return lambda base: set_config(base, **changes)


def resized(name, rows, columns):
    """Makes one of the tensors smaller."""

    def resize(base):
        tensors = load_file(base / "model.safetensors")
        tensors[name] = tensors[name][:rows, :columns].contiguous()
        save_file(tensors, base / "model.safetensors")

    return resize


def cut_short(base):
    weights = base / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def without_tokenizer(base):
    for file in base.glob("tokenizer*"):
        file.unlink()


INDEX = b'{"weight_map": {"a": "model-1-of-2.safetensors"}}'
FAULTS = {
    "no config": (lambda base: (base / "config.json").unlink(), "There is no model in .*config.json"),
    "damaged config": (write("config.json", b"{"), "config.json is damaged"),
    "nested config": (write("config.json", b'{"a":' * 100_000), "config.json is damaged"),
    "many kinds": (changed(model_type=["llama"]), "does not know: \\['llama'\\]"),
    "unknown kind": (changed(model_type="abacus"), "transformers .* does not know: 'abacus'"),
    "impossible config": (
        write("config.json", b'{"model_type": "llama", "hidden_size": "wide"}'), "config.json cannot be used"
    ),
    "no words": (
        changed(vocab_size=None, model_type="vit"), "is not a language model|cannot load .* for this kind of AutoModel"
    ),
    "quantised": (changed(quantization_config={"quant_method": "gptq"}), "are quantised"),
    "no weights": (
        lambda base: (base / "model.safetensors").rename(base / "pytorch_model.bin"), "has no safetensors weights"
    ),
    "cut short": (cut_short, "are incomplete or damaged"),
    "damaged weights": (write("model.safetensors", b"\0" * 1000), "are incomplete or damaged"),
    "a file of several is missing": (
        lambda base: (base / "model.safetensors").rename(base / "model.safetensors.index.json").write_bytes(INDEX),
        "cannot be read",
    ),
    "weights of another width": (changed(head_dim=24), "do not fit its config.json"),
    "a table of another width": (resized("model.embed_tokens.weight", 60, 63), "do not fit its config.json"),
    "fewer words than the config says": (resized("lm_head.weight", 59, 64), "do not fit its config.json"),
    "heads that cannot be shared": (changed(num_key_value_heads=3), "do not fit its config.json"),
    "no tokenizer": (without_tokenizer, "has no tokenizer that can be read"),
    "damaged tokenizer": (write("tokenizer.json", b"{}"), "has no tokenizer that can be read"),
}  # fmt: skip


@pytest.mark.parametrize("side", ["target", "draft"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_folder_with_a_fault_is_refused(fault, side, two, tmp_path):
    spoil, sentence = FAULTS[fault]
    spoilt = folder(tmp_path / "spoilt", llama())
    spoil(spoilt)
    name = f"{spoilt} + {two[1]}" if side == "target" else f"{two[0]} + {spoilt}"
    with pytest.raises(UserError, match=sentence) as refused:
        load_pair(name).draft.load()
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
