"""Loading pairs of tiny models from folders, a target alone, and whether they fit in memory."""

import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from duoviz import commands
from duoviz.__main__ import main
from duoviz.decoding.engine import load_engine
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.errors import UserError
from duoviz.models import hub, load
from duoviz.models.copying import Copying
from duoviz.models.files import ModelFiles
from duoviz.models.load import check_room, load_pair, precisions, prepare_pair
from duoviz.models.registry import Models
from tests.models.folders import TEXT, bloom, folder, llama, neox, ready, set_config, texts
from tests.tiny import traced


@pytest.mark.parametrize(
    "make_target, make_draft, precision",
    [
        (llama, partial(llama, 1), "int8"),
        (llama, partial(llama, 1, vocab_size=90), "int8"),
        (partial(llama, vocab_size=64), partial(llama, 1), "int8"),
        (neox, partial(neox, 0), "float32"),
        (llama, partial(neox, 1, vocab_size=90), "float32"),
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
    source, cores, load_rest = prepare_pair(f"{two[0]} + {draft}")
    copying = source.load()
    assert isinstance(copying, Copying) and copying.weights == [[0.1, 0.6]] * 3
    pair = load_rest()
    assert pair.draft == source and pair.cores == cores and not isinstance(pair.target, Copying)


@pytest.mark.parametrize("contexts", [(256, 24), (24, 256)])
def test_the_shorter_context_is_that_of_both(contexts, tmp_path):
    target, draft = (
        folder(tmp_path / name, llama(max_position_embeddings=context))
        for name, context in zip("ab", contexts, strict=True)
    )
    pair = replace(load_pair(f"{target} + {draft}"), eos=frozenset())
    engine = ready(pair)
    assert pair.target.context_limit == engine.draft_beside.model.context_limit == 24
    vanilla, duo = texts(engine, TEXT[0], tokens=100)
    assert vanilla == duo and len(pair.encode(TEXT[0])) + len(duo) == 24


def test_a_pair_must_fit_in_what_is_free_or_will_be_given_back(two, monkeypatch):
    name = f"{two[0]} + {two[1]}"
    needed = load_pair(name).memory["cpu"]
    # The target in float32, and the draft in int8 twice.
    assert needed == (4 + 2 * 1) * sum(p.numel() for p in llama().parameters())
    monkeypatch.setattr(load, "free_memory", lambda device: needed - 1000)
    with pytest.raises(UserError, match=r"target \+ .*draft needs 0.0 GB of memory, and this machine has 0.0 GB free"):
        load_pair(name)
    with pytest.raises(UserError, match="needs .* GB of memory"):
        check_room(name, {"cpu": 999})
    check_room(name, {"cpu": 1000})


@pytest.fixture
def on_gpu(monkeypatch):
    """Targets are for a GPU, but loaded on the CPU; what each model was loaded with, and what was to fit in memory."""
    loaded, checked, load_model = [], [], load.load_model

    def record(files, **options):
        loaded.append(options)
        return load_model(files, **(options | {"device": "cpu"}))

    monkeypatch.setattr(load, "load_model", record)
    monkeypatch.setattr(load, "target_device", lambda: "cuda")
    monkeypatch.setattr(load, "check_fit", lambda name, needs: checked.append(needs))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **options: True)
    return loaded, checked


def test_on_a_gpu_the_pair_names_the_precision_and_each_side_has_its_own_memory(two, on_gpu):
    loaded, checked = on_gpu
    pair = load_pair(f"{two[0]} + {two[1]}")
    assert (loaded[0]["precision"], loaded[0]["device"]) == ("bfloat16", "cuda")
    half = 2 * sum(p.numel() for p in llama().parameters())
    assert checked == [{"cuda": 2 * half, "cpu": half // 2}]
    pair.draft.load()
    assert loaded[1].get("device", "cpu") == "cpu"


@pytest.mark.parametrize("kind, precision", [("float32", "float32"), ("bfloat16", "float16")])
def test_a_gpu_without_bfloat16_has_float16(kind, precision, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *, including_emulation: including_emulation)
    models, draft = Models("a", "b", gpu_precision=kind), ModelFiles("draft", Path(), {"model_type": "gpt_neox"}, 0)
    assert precisions(models, draft, "cuda")[0] == precision and precisions(models, draft, "cpu")[0] == "float32"


@pytest.mark.parametrize("kind, last", [(llama, "down_proj"), (neox, "4h_to_h.weight")])
def test_a_target_that_overflows_in_float16_is_a_sentence(kind, last, two, tmp_path, on_gpu, monkeypatch):
    monkeypatch.setattr(load, "precisions", lambda *arguments: ("float16", "int8"))
    model = kind()
    assert load_pair(f"{folder(tmp_path / 'fits', model)} + {two[1]}").target.precision == "float16"
    with torch.no_grad():
        model.get_input_embeddings().weight *= 1e5
        next(part for name, part in model.named_parameters() if last in name).mul_(1e6)
    with pytest.raises(UserError, match="too-large overflows in float16, and this GPU has no bfloat16"):
        load_pair(f"{folder(tmp_path / 'too-large', model)} + {two[1]}")


def test_a_pair_that_is_too_large_is_refused_before_its_weights_are_fetched(two, monkeypatch):
    def fetch(model, *, local):
        assert local
        raise UserError("It is not here.")

    monkeypatch.setattr(hub, "outline", lambda model: (two[0], 70_000_000_000))
    monkeypatch.setattr(hub, "fetch", fetch)
    with pytest.raises(UserError, match=r"them/model \+ embedded needs .* GB of memory, and this machine has"):
        check_room("them/model + embedded")
    # A copy is looked into, and the hub is not asked.
    monkeypatch.setattr(hub, "fetch", lambda model, *, local: two[0])
    check_room("them/model + embedded")


@pytest.mark.parametrize(
    "limit, used, stat, free",
    [
        ("16000000000", "10000000000", "anon 5\ninactive_file 2000000000\n", 8_000_000_000),
        ("16000000000", "1", "", None),
        ("max", "10000000000", "", None),
        (None, None, None, None),
    ],
    ids=["a limit", "more than the machine has", "no limit", "no container"],
)
def test_a_containers_limit_counts(limit, used, stat, free, tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("limit", "used", "stat")]
    for file, content in zip(files, (limit, used, stat), strict=True):
        if content is not None:
            file.write_text(content)
    (meminfo := tmp_path / "meminfo").write_text("MemTotal: 99999999 kB\nMemAvailable: 9000000 kB\n")
    monkeypatch.setattr(load, "GROUPS", [files])
    monkeypatch.setattr(load, "MEMINFO", meminfo)
    assert load.free_memory("cpu") == (free or 9_000_000 * 1024)


NEEDS_A_DRAFT = 'is a target without a draft, which this needs: write "TARGET + DRAFT".'


@pytest.mark.parametrize("make", [llama, neox, bloom])
def test_methods_without_a_draft_run(make, tmp_path):
    model = make()
    name = str(folder(tmp_path, model))
    with load_engine(name) as engine:
        # REST's datastore is of another tokenizer; Lookahead's trees not every model reads.
        methods = ["vanilla", "prompt_lookup", *(["lookahead"] if engine.pair.target.supports_tree else [])]
        runs_of = {method: traced(engine, method, TEXT[0], max_new_tokens=8) for method in methods}
        assert len({trace["end"]["text"] for trace in runs_of.values()}) == 1 and runs_of["vanilla"]["end"]["text"]
        assert engine.pair.memory == {"cpu": 4 * sum(p.numel() for p in model.parameters())}
        with pytest.raises(UserError, match=re.escape(NEEDS_A_DRAFT)):
            engine.draft(beside=False)
        with pytest.raises(DraftDied, match=re.escape(NEEDS_A_DRAFT)):
            engine.draft(beside=True)


@pytest.mark.parametrize(
    "command",
    [["generate", "hi"], ["compare", "--prompts", "hi"], ["bench", "--out", "x"]],
    ids=lambda command: command[0],
)
def test_what_needs_a_draft_says_so_before_anything_is_loaded(command, two, monkeypatch, capsys):
    monkeypatch.setattr(commands, "load_engine", None)
    assert main([*command, "--pair", str(two[0])]) == 1
    told = capsys.readouterr().err
    assert told.startswith("duoviz: ") and told.endswith(f"{NEEDS_A_DRAFT}\n") and told.count("\n") == 1
