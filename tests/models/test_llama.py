"""The lean decoder against transformers, in float64, for each family that it does."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    LlamaConfig,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from duoviz.models.checkpoint import read_config
from duoviz.models.language_model import ContextFull
from duoviz.models.llama import is_lean, load_llama
from duoviz.models.loading import ModelUnavailable
from tests.models.reference import (
    FAMILIES,
    LINEAR,
    SHAPE,
    close,
    exact_model,
    expected,
    random_ids,
    saved,
)
from tests.tiny import VOCABULARY, lean, reference_model


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    reference = exact_model(request.param)
    return reference, saved(reference, tmp_path_factory.mktemp("model"))


@pytest.fixture
def reference(family):
    return family[0]


@pytest.fixture
def model(family):
    return load_llama(family[1], precision="float64", label="tiny")


def test_prefill(reference, model):
    ids = random_ids(100)
    assert close(model.forward(ids), expected(reference, ids))


def test_chunks(reference, model):
    ids = random_ids(40)
    parts = [model.forward(ids[a:b]) for a, b in ((0, 7), (7, 8), (8, 20), (20, 40))]
    assert close(torch.cat(parts), expected(reference, ids))


def test_rows_are_the_ones_asked_for(reference, model):
    ids = random_ids(10)
    assert close(model.forward(ids, rows=[2, 9]), expected(reference, ids)[[2, 9]])


def test_tree_that_grows_over_several_calls(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    first = model.forward([5, 6, 7], parents=[11, 11, 12])  # 5 and 6 after the prompt, 7 after 5
    second = model.forward([8, 9], parents=[13, 14])  # 8 after 6, 9 after 7
    third = model.forward([10], parents=[16])
    paths = {0: [5], 1: [6], 2: [5, 7]}
    for row, path in paths.items():
        assert close(first[row], expected(reference, prompt + path)[-1])
    assert close(second[0], expected(reference, prompt + [6, 8])[-1])
    assert close(second[1], expected(reference, prompt + [5, 7, 9])[-1])
    assert close(third[0], expected(reference, prompt + [5, 7, 9, 10])[-1])


def test_keep_then_continue(reference, model):
    prompt = random_ids(12)
    model.forward(prompt)
    model.forward([5, 6], parents=[11, 11])
    model.forward([7, 8], parents=[12, 13])
    model.keep([13, 15])
    assert model.length == 14
    assert close(model.forward([9])[0], expected(reference, prompt + [6, 8, 9])[-1])
    # The kept path is a chain again: another tree can grow on it.
    grown = model.forward([3, 4], parents=[14, 13])
    assert close(grown[0], expected(reference, prompt + [6, 8, 9, 3])[-1])
    assert close(grown[1], expected(reference, prompt + [6, 8, 4])[-1])


def test_crop_then_continue(reference, model):
    ids = random_ids(20)
    model.forward(ids)
    model.forward([5, 6], parents=[19, 19])
    model.crop(15)
    assert close(model.forward([7, 8]), expected(reference, ids[:15] + [7, 8])[-2:])
    with pytest.raises(ValueError):
        model.crop(18)


def test_keep_refuses_what_is_not_a_path():
    model = lean(reference_model(3))
    model.forward(random_ids(4))
    model.forward([5, 6], parents=[3, 3])
    with pytest.raises(ValueError):
        model.keep([4, 5])


def test_random_trees():
    generator = torch.Generator().manual_seed(1)
    reference, prompt = reference_model(3), random_ids(9)
    model = lean(reference)
    model.forward(prompt)
    paths = {8: prompt}
    for _ in range(6):
        count = int(torch.randint(1, 5, (1,), generator=generator))
        start, known = model.length, list(paths)
        parents = [known[int(torch.randint(len(known), (1,), generator=generator))] for _ in range(count)]
        tokens = random_ids(count, seed=start)
        logits = model.forward(tokens, parents=parents)
        for row in range(count):
            paths[start + row] = paths[parents[row]] + [tokens[row]]
            assert close(logits[row], expected(reference, paths[start + row])[-1])


def test_full_context_changes_nothing():
    reference = reference_model(1, context=16)
    model, ids = lean(reference), random_ids(16)
    model.forward(ids[:15])
    with pytest.raises(ContextFull):
        model.forward([3, 4])
    assert model.length == 15
    assert close(model.forward(ids[15:])[0], expected(reference, ids)[-1])


WINDOWS = {
    "mistral": (MistralForCausalLM, MistralConfig(**SHAPE, sliding_window=24)),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SHAPE, use_sliding_window=True, sliding_window=24, max_window_layers=1)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_the_context_ends_where_a_sliding_window_would_begin_to_matter(name, tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, name, WINDOWS[name])
    reference = exact_model(name)
    model, ids = load_llama(saved(reference, tmp_path), precision="float64", label="tiny"), random_ids(24)
    assert close(model.forward(ids), expected(reference, ids))
    with pytest.raises(ContextFull):
        model.forward([3])


def test_a_window_that_is_not_used_cuts_nothing(tmp_path):
    config = Qwen2Config(**SHAPE, use_sliding_window=False, sliding_window=24)
    folder = saved(Qwen2ForCausalLM(config), tmp_path)
    assert load_llama(folder, precision="float32", label="tiny").context_limit == 256


@pytest.mark.parametrize(
    "config, answer",
    [(each.to_dict(), True) for _, each in FAMILIES.values()]
    + [
        (LlamaConfig(**SHAPE, hidden_act="gelu").to_dict(), False),
        (LlamaConfig(**SHAPE, rope_parameters={**LINEAR, "rope_type": "dynamic"}).to_dict(), False),
        ({"model_type": "gpt_neox"}, False),
    ],
)
def test_which_models_the_lean_decoder_does(config, answer):
    assert is_lean(config) is answer


def test_a_config_written_by_an_older_transformers_reads_the_same(tmp_path):
    (tmp_path / "config.json").write_text(
        '{"model_type": "llama", "rope_theta": 5e5, "rope_scaling": {"type": "dynamic", "factor": 2.0}}'
    )
    config = read_config(tmp_path)
    assert not is_lean(config) and config["rope_parameters"]["rope_theta"] == 5e5


@pytest.mark.parametrize("precision", ["float64", "int8"])
@pytest.mark.parametrize("vocabulary", [30, 50])
def test_another_models_vocabulary_crashes_neither_side(precision, vocabulary, tmp_path):
    folder = saved(exact_model("qwen2"), tmp_path)
    plain = load_llama(folder, precision=precision, label="tiny")
    model = load_llama(folder, precision=precision, label="tiny", vocabulary=vocabulary)
    known = min(vocabulary, VOCABULARY)
    ids = [5, 6, known - 1]
    assert model.vocab_size == known
    assert close(model.forward(ids).double(), plain.forward(ids)[:, :known].double())
    assert model.forward([vocabulary - 1]).isfinite().all()


@pytest.mark.parametrize("width", [48, 40, 50])
def test_int8_is_close_to_float_at_any_width(width, tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILIES, "wide", (Qwen2ForCausalLM, Qwen2Config(**SHAPE | {"intermediate_size": width})))
    folder = saved(exact_model("wide"), tmp_path)
    exact, ours = (
        load_llama(folder, precision=precision, label="tiny").forward(random_ids(20)).double()
        for precision in ("float64", "int8")
    )
    assert (exact - ours).norm() / exact.norm() < 0.05


@pytest.mark.parametrize("name", ["model.layers.1.self_attn.k_proj.bias", "model.norm.weight", "lm_head.weight"])
def test_a_missing_tensor_is_named(name, tmp_path):
    file = saved(exact_model("qwen2"), tmp_path) / "model.safetensors"
    tensors = load_file(file)
    del tensors[name]
    save_file(tensors, file)
    with pytest.raises(ModelUnavailable, match=f"The weights of tiny lack the tensor {name}"):
        load_llama(tmp_path, precision="float32", label="tiny")


def test_a_checkpoint_in_several_files(tmp_path):
    reference = exact_model("llama")
    reference.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    # What the index does not name is not read, such as another copy of the weights under another name.
    (tmp_path / "consolidated.safetensors").write_bytes(b"something else")
    ids = random_ids(10)
    model = load_llama(tmp_path, precision="float64", label="tiny")
    assert close(model.forward(ids), expected(reference, ids))
