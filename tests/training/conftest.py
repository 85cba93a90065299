"""A tiny target and a tiny corpus to train on."""

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from duoviz.training import corpus as files
from duoviz.training import distillation
from duoviz.training.corpus import load_corpus


@pytest.fixture(scope="session")
def target_folder(tmp_path_factory):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=128, initializer_range=0.2, tie_word_embeddings=True,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("target")
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def tiny(monkeypatch, target_folder):
    """The tiny target is the embedded one, and a draft of it is tiny too."""
    monkeypatch.setattr(distillation, "embedded_target", lambda progress: target_folder)
    monkeypatch.setattr(distillation, "EMBEDDING_RANK", 32)
    monkeypatch.setattr(distillation, "LAYERS", 1)
    monkeypatch.setattr(distillation, "KNOWN", 48)
    monkeypatch.setattr(distillation, "has_bfloat16", lambda device: False)
    for module in (files, distillation):
        monkeypatch.setattr(module, "HELD_OUT", 40)


@pytest.fixture(scope="session")
def target(target_folder):
    return LlamaForCausalLM.from_pretrained(target_folder).eval()


def write_rows(file, *, rows, seed):
    """Rows of 12 to 29 random tokens with two stretches of answer each."""
    rng = np.random.default_rng(seed)
    length = rng.integers(12, 30, rows).astype(np.int32)
    answer = np.concatenate([(np.arange(n) >= 4) & (np.arange(n) % 7 != 0) for n in length])
    np.savez(
        file, flat=rng.integers(0, 64, length.sum()).astype(np.uint16), length=length, answer=answer,
        greedy=rng.random(rows) < 0.5,
    )  # fmt: skip
    return file


@pytest.fixture(scope="session")
def corpus_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return [write_rows(folder / "one.npz", rows=200, seed=0), write_rows(folder / "two.npz", rows=160, seed=1)]


@pytest.fixture
def corpus(corpus_files):
    return load_corpus(corpus_files)


@pytest.fixture
def tested(corpus):
    return [row for row in corpus if row.held_out]
