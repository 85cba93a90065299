"""Folders whose files are damaged, or are no files: each ends in a sentence at once; and what is no damage loads."""

import json
import os
import resource
import shutil
from pathlib import Path

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from duoviz.errors import UserError
from duoviz.models.files import look_into
from duoviz.models.load import load_model, load_pair
from tests.models.folders import SHAPE, TEXT, folder, llama, neox, ready, texts, tokenizer

TIED = SHAPE | dict(vocab_size=60, num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=True)
ARCHITECTURES = {
    "llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**TIED)),
    "qwen2": lambda: hf.Qwen2ForCausalLM(hf.Qwen2Config(**TIED)),
    "mistral": lambda: hf.MistralForCausalLM(hf.MistralConfig(**TIED, head_dim=16)),
    "gpt2": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=60, n_embd=64, n_layer=2, n_head=4, n_positions=256)),
    "neox": neox,
    "bloom": lambda: hf.BloomForCausalLM(hf.BloomConfig(vocab_size=60, hidden_size=64, n_layer=2, n_head=4)),
}
# Bytes that a test may take besides those in use.
MEMORY = 2_000_000_000

NO_FILES = {
    "pipe": os.mkfifo,
    "endless": lambda file: file.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "loop": lambda file: file.symlink_to(file),
    "link to nothing": lambda file: file.symlink_to(file.parent / "nothing"),
}
TEXTS = {
    "empty": b"", "list": b"[]", "null": b"null", "number": b"5", "string": b'"x"', "cut": b'{"a": {',
    "NaN": b'{"a": NaN}', "digits": b'{"a": ' + b"9" * 5000 + b"}",
    "deep": b'{"a":' * 100_000, "closed": b'{"a":' * 900 + b"1" + b"}" * 900,
    "noise": bytes(range(256)) * 20, "half a character": b'{"a": "\\ud800"}',
}  # fmt: skip
DAMAGES = NO_FILES | {
    name: lambda file, text=text: file.write_bytes(text) for name, text in TEXTS.items()
} | {"larger than memory": lambda file: (file.touch(), os.truncate(file, 10**12))}  # fmt: skip
OBJECTS = ("added_tokens", "config", "generation_config", "special_tokens_map", "tokenizer", "tokenizer_config")
INDEX = "model.safetensors.index.json"
FILES = (*(f"{name}.json" for name in OBJECTS), INDEX, "model.safetensors", "chat_template.jinja", "vocab.json",
         "additional_chat_templates/own.jinja")  # fmt: skip


@pytest.fixture(autouse=True)
def little_memory():
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, limits)


def made(path, architecture):
    torch.manual_seed(0)
    return folder(path, ARCHITECTURES[architecture]())


def outcome(target, draft):
    """What loading says, with a prompt read by the tokenizer; None where it succeeds."""
    try:
        pair = load_pair(f"{target} + {draft}")
        pair.draft.load()
        pair.encode(TEXT[0])
    except UserError as error:
        assert "\n" not in str(error) and str(error).endswith(".")
        return str(error)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("damage", DAMAGES)
def test_each_file_with_each_damage_ends_in_a_sentence_or_loads(damage, tmp_path):
    for architecture in ("llama", "neox", "gpt2"):
        base = made(tmp_path / architecture, architecture)
        other = shutil.copytree(base, tmp_path / f"{architecture} whole")
        for name in FILES:
            kept = {file: file.read_bytes() for file in (base / name, base / "model.safetensors") if file.is_file()}
            for file in kept if name == INDEX else [base / name]:
                file.unlink(missing_ok=True)
            (base / name).parent.mkdir(exist_ok=True)
            DAMAGES[damage](base / name)
            said = outcome(base, other)
            if damage in NO_FILES:
                assert said == f"{base / name} is not a file: remove it, or download the model again."
            elif name.endswith(".json") and name != "vocab.json":
                assert str(base / name) in said and "is damaged (it " in said
            elif name == "model.safetensors":
                assert said.startswith(f"The weights of {base} are incomplete or damaged")
            elif name.endswith(".jinja") and damage in ("noise", "larger than memory"):
                assert said.startswith(f"{base / name} is damaged (it ")
            (shutil.rmtree if damage == "folder" else os.unlink)(base / name)
            for file, content in kept.items():
                file.write_bytes(content)
        assert outcome(base, other) is outcome(other, base) is None


def with_config(base, path, value):
    """Set what a path of names leads to in a folder's config.json."""
    config = json.loads((base / "config.json").read_text())
    place = config
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    (base / "config.json").write_text(json.dumps(config))


def paths(value, before=()):
    for name, part in value.items():
        yield (*before, name)
        if isinstance(part, dict):
            yield from paths(part, (*before, name))


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize("architecture", ["llama", "gpt2", "neox"])
def test_no_value_of_a_config_breaks_it(architecture, tmp_path):
    base = made(tmp_path / "base", architecture)
    text = (base / "config.json").read_text()
    for path in paths(json.loads(text)):
        for value in (None, "x", -1, [[]], 10**12, 10**300):
            with_config(base, path, value)
            outcome(base, base)
            (base / "config.json").write_text(text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "architecture, name",
    [("gpt2", "n_layer"), ("neox", "num_hidden_layers"), ("bloom", "n_layer"), ("llama", "num_hidden_layers")],
)
def test_more_layers_than_memory_holds(architecture, name, tmp_path):
    base = made(tmp_path / "base", architecture)
    with_config(base, [name], 10**12)
    with pytest.raises(UserError, match=f"config.json cannot be used .{name} is 1000000000000, at most"):
        load_pair(f"{base} + {base}")


@pytest.mark.parametrize(
    "copying",
    [{"a": "b"}, "x", 0.5, [], [[0.1]], [[]] * 3, [[0.1], [0.1], [float("nan")]], [[1.0]] * 3, [[-0.1]] * 3,
     [[True]] * 3, [[0.1, 0.2], [0.1], [0.1]], [["a"]] * 3, [{}] * 3],
)  # fmt: skip
def test_weights_to_copy_with_that_are_none(copying, two, tmp_path):
    draft = shutil.copytree(two[1], tmp_path / "draft")
    with_config(draft, ["copying"], copying)
    with pytest.raises(UserError, match="config.json (cannot be used .copying|is damaged .it has NaN)"):
        load_pair(f"{two[0]} + {draft}")


@pytest.mark.parametrize("known", [[3, 2], [-1, 2], [2, 2], [[1], [2]]])
def test_a_head_whose_ids_are_none(known, two, tmp_path):
    draft = shutil.copytree(two[1], tmp_path / "draft")
    weights = load_file(draft / "model.safetensors")
    save_file(weights | {"lm_head.known": torch.tensor(known)}, draft / "model.safetensors")
    with pytest.raises(UserError, match="do not fit its config.json .lm_head.known does not ascend"):
        load_pair(f"{two[0]} + {draft}").draft.load()


@pytest.mark.parametrize(
    "index", [[], None, {}, {"weight_map": []}, {"weight_map": {"a": {}}}, {"weight_map": {"a": None}}]
)
def test_an_index_that_names_no_files(index, tmp_path):
    base = folder(tmp_path / "base", llama())
    (base / INDEX).write_text(json.dumps(index))
    assert outcome(base, base) is None
    (base / "model.safetensors").rename(base / "model-1.safetensors")
    assert f"{base / INDEX} is damaged" in outcome(base, base)


@pytest.mark.parametrize("name", ["nothing.safetensors", "../nothing", "x" * 5000, "a\0b"])
def test_an_index_of_files_that_are_not_there(name, tmp_path):
    base = folder(tmp_path / "base", llama())
    (base / "model.safetensors").rename(base / INDEX)
    (base / INDEX).write_text(json.dumps({"weight_map": {"a": name}}))
    assert str(base) in outcome(base, base)


def quantised_by_nothing(base):
    with_config(base, ["quantization_config"], None)


def with_an_index_of_files_that_are_gone(base):
    (base / INDEX).write_text('{"weight_map": {"a": "model-1-of-2.safetensors"}}')


def with_its_head_alone(base):
    """Of the two names of the tied table the other one."""
    weights = load_file(base / "model.safetensors")
    table = next(name for name in weights if name.split(".")[-2] in ("embed_tokens", "wte", "word_embeddings"))
    weights["lm_head.weight"] = weights.pop(table)
    save_file(weights, base / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("change", [quantised_by_nothing, with_an_index_of_files_that_are_gone, with_its_head_alone])
def test_what_is_no_damage_changes_no_logits(change, architecture, tmp_path):
    if change is with_its_head_alone and architecture == "neox":
        pytest.skip("its head is not tied")
    base = made(tmp_path / "base", architecture)
    for precision in ("float32", "bfloat16"):
        load = dict(label="tiny", precision=precision, context_limit=64)
        expected = load_model(base, **load).forward([3, 14, 15])
        changed = shutil.copytree(base, tmp_path / precision)
        change(changed)
        assert torch.equal(load_model(changed, **load).forward([3, 14, 15]), expected)
        assert look_into(changed, "tiny").parameters == look_into(base, "tiny").parameters


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_added_token_that_the_weights_lack_matters_only_in_a_prompt(architecture, tmp_path):
    own = tokenizer()
    own.add_tokens([f"<{place}>" for place in range(60 - len(own))])
    padded = tokenizer()
    padded.add_tokens([f"<{place}>" for place in range(60 - len(padded))])
    padded.add_special_tokens({"pad_token": "[PAD]"})
    assert padded.convert_tokens_to_ids("[PAD]") == 60
    torch.manual_seed(0)
    model = ARCHITECTURES[architecture]()
    plain, more = folder(tmp_path / "plain", model, own), folder(tmp_path / "more", model, padded)
    expected = texts(ready(load_pair(f"{plain} + {plain}")), TEXT[0])
    for target, draft in ((more, more), (more, plain), (plain, more)):
        pair = load_pair(f"{target} + {draft}")
        assert texts(ready(pair), TEXT[0]) == expected
    pair = load_pair(f"{more} + {plain}")
    for raw in (False, True):
        with pytest.raises(UserError, match=r"The prompt has the token '\[PAD\]', which .*more does not know"):
            pair.encode("the cat [PAD] sat", raw=raw)
