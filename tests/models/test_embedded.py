"""Fetching, checking and converting the embedded target; the pair itself."""

import multiprocessing
import subprocess

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.models import embedded
from duoviz.models.embedded import ModelUnavailable, embedded_target, is_complete
from duoviz.models.llama import load_llama
from duoviz.models.pairs import load_pair
from tests.benchmarks.methods import questions
from tests.equality import judge, rounding_delta


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fake_fetch(scratch, progress):
    return scratch / "model.gguf"


def fake_convert(gguf, folder, progress):
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")


def test_a_conversion_that_fails_leaves_nothing_half_made(cache, monkeypatch):
    def failing(gguf, folder, progress):
        fake_convert(gguf, folder, progress)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(embedded, "fetch_gguf", fake_fetch)
    monkeypatch.setattr(embedded, "convert_gguf", failing)
    with pytest.raises(ModelUnavailable, match="No space left"):
        embedded_target()
    assert [path.name for path in cache.iterdir() if path.is_dir()] == []
    monkeypatch.setattr(embedded, "convert_gguf", fake_convert)
    assert is_complete(embedded_target())


def test_a_cut_file_is_made_again(cache, monkeypatch):
    monkeypatch.setattr(embedded, "fetch_gguf", fake_fetch)
    monkeypatch.setattr(embedded, "convert_gguf", fake_convert)
    folder = embedded_target()
    (folder / "model.safetensors").write_bytes(b"we")
    assert not is_complete(folder)
    assert (embedded_target() / "model.safetensors").read_bytes() == b"weights"


def convert_and_note(notes):
    def convert(gguf, folder, progress):
        notes.put(1)
        fake_convert(gguf, folder, progress)

    embedded.fetch_gguf, embedded.convert_gguf = fake_fetch, convert
    embedded_target()


def test_two_starts_convert_once(cache):
    context = multiprocessing.get_context("spawn")
    notes = context.Queue()
    starts = [context.Process(target=convert_and_note, args=(notes,)) for _ in range(2)]
    for each in starts:
        each.start()
    for each in starts:
        each.join()
    assert [each.exitcode for each in starts] == [0, 0]
    assert notes.get(timeout=5) and notes.empty()


@pytest.mark.parametrize(
    "complaint, sentence", [("No module named pip", "ensurepip"), ("ERROR: no network", "Check the network")]
)
def test_no_pip_and_no_network(cache, monkeypatch, complaint, sentence):
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr=complaint)
    monkeypatch.setattr(embedded.subprocess, "run", lambda *args, **options: failed)
    with pytest.raises(ModelUnavailable, match=sentence):
        embedded_target()


def test_another_file_is_refused(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"something else")
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        embedded.check_gguf(file)


@pytest.fixture(scope="module")
def embedded_pair():
    pair = load_pair()
    yield pair
    pair.resources["draft"].close() if "draft" in pair.resources else None


@pytest.mark.slow
def test_logits_equal_transformers_in_float32(embedded_pair):
    reference = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    ids = embedded_pair.encode("Name three rivers in Europe and the seas they flow into.")
    with torch.no_grad():
        expected = reference(torch.tensor([ids])).logits[0]
    model = embedded_pair.target
    model.crop(0)
    chunks = torch.cat([model.forward(ids[:20]), model.forward(ids[20:-1]), model.forward(ids[-1:])])
    assert (chunks - expected).abs().max() < 1e-3


@pytest.mark.slow
def test_duodecoding_writes_vanillas_text(embedded_pair):
    exact = load_llama(embedded_target(), precision="float64", label="exact", context_limit=1024)
    settings = Settings(max_new_tokens=48)
    delta = rounding_delta(embedded_pair.target, embedded_pair.encode("Tell me about the history of bread. " * 6))
    traces = []
    for prompt in questions(1)[::2]:
        texts = []
        for method in ("vanilla", "duodecoding"):
            traces.append(runner.collect(runner.stream(embedded_pair, method, prompt, settings)))
            texts.append(runner.summary(traces[-1])["token_ids"])
        assert judge(exact, embedded_pair.encode(prompt), *texts, delta) != "defect"
    accepted = sum(each["verdict"]["accepted"] for trace in traces for each in trace["iterations"])
    assert accepted > 20  # the draft is a real one
