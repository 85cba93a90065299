"""Folders whose files are damaged: each ends in a sentence; and what is no damage loads."""

import json
import os
import shutil
from functools import partial

import pytest
import torch
from safetensors.torch import load_file, save_file

from duoviz.errors import UserError
from duoviz.models.files import look_into
from duoviz.models.load import load_pair
from tests.models.folders import TEXT, folder, gpt2, llama, loaded, neox, ready, set_config, texts, tokenizer

ARCHITECTURES = {"llama": partial(llama, tie_word_embeddings=True), "gpt2": gpt2, "neox": neox}
INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"


def changed(**changes):
    return lambda base: set_config(base, **changes)


def retensored(change):
    """Changes the tensors, given by name."""

    def apply(base):
        tensors = load_file(base / "model.safetensors")
        change(tensors)
        save_file(tensors, base / "model.safetensors", metadata={"format": "pt"})

    return apply


def resized(name, rows, columns):
    return retensored(lambda held: held.update({name: held[name][:rows, :columns].contiguous()}))


def without(name):
    return retensored(lambda held: held.pop(name))


def overwritten(name, content=b'{"a": {'):
    return lambda base: (base / name).write_bytes(content)


def indexed(content):
    """Leaves an index with this content and, under another name, what it should name."""

    def index(base):
        (base / "model.safetensors").rename(base / "model-1.safetensors")
        (base / INDEX).write_text(json.dumps(content))

    return index


FAULTS = {
    "damaged config": (overwritten("config.json"), "config.json is damaged .it is not JSON"),
    "a config that is none": (overwritten("config.json", b"[]"), "config.json is damaged .it holds no object"),
    "damaged config of the tokenizer": (overwritten("tokenizer_config.json"), "tokenizer_config.json is damaged"),
    "damaged tokenizer": (overwritten("tokenizer.json"), "has no tokenizer that can be read"),
    "damaged weights": (overwritten("model.safetensors"), "are incomplete or damaged"),
    "no config": (lambda base: (base / "config.json").unlink(), "There is no model in .*config.json"),
    "many kinds": (changed(model_type=["llama"]), "does not know its kind, \\['llama'\\]"),
    "unknown kind": (changed(model_type="abacus"), "transformers .* does not know its kind, 'abacus'"),
    "impossible config": (changed(hidden_size="wide"), "cannot be loaded .hidden_size is 'wide'"),
    "more layers than memory holds": (changed(num_hidden_layers=10**12), "num_hidden_layers is 1000000000000, at most"),
    "no words": (
        changed(vocab_size=None, model_type="vit"), "is not a language model|for this kind of AutoModel"
    ),
    "quantised": (changed(quantization_config={"quant_method": "gptq"}), "are quantised"),
    "no weights": (lambda base: (base / WEIGHTS).rename(base / "pytorch_model.bin"), "has no safetensors weights"),
    "cut short": (lambda base: os.truncate(base / WEIGHTS, 99_000), "are incomplete or damaged"),
    "an index without a map": (indexed({}), "cannot be loaded .it lacks weight_map"),
    "an index that names no files": (indexed({"weight_map": {"a": {}}}), "cannot be loaded"),
    "an index of files that are gone": (indexed({"weight_map": {"a": "model-2.safetensors"}}), "cannot be loaded"),
    "an index of names that cannot be": (indexed({"weight_map": {"a": "a\0b"}}), "cannot be loaded"),
    "a layer's tensor": (without("model.layers.1.mlp.up_proj.weight"), "it lacks model.layers.1.mlp.up_proj"),
    "the head": (without("lm_head.weight"), "it lacks lm_head.weight"),
    "weights of another width": (changed(head_dim=24), "proj.weight is .* and not"),
    "a table of another width": (resized("model.embed_tokens.weight", 60, 63), "is .60, 63. and not .60, 64."),
    "fewer words than the config says": (resized("lm_head.weight", 59, 64), "lm_head has 59 rows and not 60"),
    "heads that cannot be shared": (changed(num_key_value_heads=3), "cannot share 3 of keys"),
    "no tokenizer": (lambda base: [file.unlink() for file in base.glob("tokenizer*")], "has no tokenizer that can be"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_folder_with_a_fault_is_refused(fault, two, tmp_path):
    spoil, sentence = FAULTS[fault]
    spoil(spoilt := folder(tmp_path / "spoilt", llama()))
    for name in (f"{spoilt} + {two[1]}", f"{two[0]} + {spoilt}"):
        with pytest.raises(UserError, match=sentence) as refused:
            load_pair(name).draft.load()
        assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def rename_table(tensors):
    """Of the two names of the tied table the other one."""
    table = next(name for name in tensors if name.split(".")[-2] in ("embed_tokens", "wte"))
    tensors["lm_head.weight"] = tensors.pop(table)


NO_DAMAGE = {
    "quantised by nothing": changed(quantization_config=None),
    "an index besides": lambda base: (base / INDEX).write_text('{"weight_map": {"a": "model-1-of-2.safetensors"}}'),
    "its head alone": retensored(rename_table),
}


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
@pytest.mark.parametrize("change", NO_DAMAGE)
def test_what_is_no_damage_changes_no_logits(change, architecture, tmp_path):
    base = folder(tmp_path / "base", ARCHITECTURES[architecture]())
    NO_DAMAGE[change](other := shutil.copytree(base, tmp_path / "changed"))
    for precision in ("float32", "bfloat16"):
        one, same = (loaded(model, precision).forward([3, 14, 15]) for model in (base, other))
        assert torch.equal(one, same)
    assert look_into(other, "tiny").parameters == look_into(base, "tiny").parameters


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_added_token_that_the_weights_lack_matters_only_in_a_prompt(architecture, tmp_path):
    own, padded = tokenizer(), tokenizer()
    for each in (own, padded):
        each.add_tokens([f"<{place}>" for place in range(60 - len(each))])
    padded.add_special_tokens({"pad_token": "[PAD]"})
    assert padded.convert_tokens_to_ids("[PAD]") == 60
    model = ARCHITECTURES[architecture]()
    plain, more = folder(tmp_path / "plain", model, own), folder(tmp_path / "more", model, padded)
    expected = texts(ready(load_pair(f"{plain} + {plain}")), TEXT[0])
    for target, draft in ((plain, more), (more, plain)):
        pair = load_pair(f"{target} + {draft}")
        assert texts(ready(pair), TEXT[0]) == expected
    for raw in (False, True):
        with pytest.raises(UserError, match=r"The prompt has the token '\[PAD\]', which .*more does not know"):
            pair.encode("the cat [PAD] sat", raw=raw)
