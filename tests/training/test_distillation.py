"""Training a tiny draft: the loss is what it says, the file loads, the lean decoder agrees."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import LlamaConfig, LlamaForCausalLM

from duoviz.models.linear import quantise_rows
from duoviz.models.llama import load_llama
from duoviz.training.corpus import batches, load_corpus, split
from duoviz.training.distillation import distillation_loss, learning_rate, train_draft
from duoviz.training.student import cut_from_target, save_draft


@pytest.fixture(scope="module")
def target_folder(tmp_path_factory):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=128, initializer_range=0.2, tie_word_embeddings=True,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("target")
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    length = rng.integers(12, 30, 80).astype(np.int32)
    file = tmp_path_factory.mktemp("corpus") / "rows.npz"
    np.savez(
        file, flat=rng.integers(0, 64, length.sum()).astype(np.uint16), length=length, prompt=np.full(80, 5, np.int32)
    )
    return file


def test_batches_hold_every_row_once(corpus_file):
    corpus = load_corpus(corpus_file)
    train, held_out = split(corpus, held_out=10)
    groups = batches(corpus, train, tokens=100, rng=np.random.default_rng(1))
    assert sorted(row for group in groups for row in group) == train
    assert not set(train) & set(held_out)
    assert all(len(group) * max(map(corpus.length, group)) <= 100 for group in groups)


def test_loss_is_kl_plus_the_targets_entropy():
    p, q = torch.randn(5, 7), torch.randn(5, 7)
    kl = F.kl_div(q.log_softmax(-1), p.log_softmax(-1), log_target=True, reduction="batchmean")
    entropy = -(p.softmax(-1) * p.log_softmax(-1)).sum(-1).mean()
    assert distillation_loss(q, p) == pytest.approx(float(kl + entropy), rel=1e-5)


def test_learning_rate_warms_up_and_comes_down():
    assert learning_rate(0.01, peak=1) == pytest.approx(0.5)
    assert learning_rate(0.02, peak=1) == pytest.approx(1)
    assert learning_rate(1, peak=1) == pytest.approx(0.02)


def test_a_saved_draft_computes_what_the_student_did(target_folder, tmp_path):
    target = LlamaForCausalLM.from_pretrained(target_folder)
    student = cut_from_target(target, layers=2, embedding_rank=32, output_tokens=48).eval()
    save_draft(student, tmp_path)
    with torch.no_grad():
        for parameter in student.parameters():
            if parameter.dim() == 2:
                quantised, scale = quantise_rows(parameter)
                parameter.copy_(quantised * scale[:, None])
        ids = torch.randint(0, 64, (1, 20))
        expected = student.lm_head(student.hidden(ids))[0]
    ours = load_llama(tmp_path, precision="float32", label="draft").forward(ids[0].tolist())
    assert ours.shape == (20, 48)
    assert torch.allclose(ours, expected, atol=1e-4)
    in_int8 = load_llama(tmp_path, precision="int8", label="draft").forward(ids[0].tolist()).float()
    assert (in_int8 - expected).norm() / expected.norm() < 0.05


def test_training_makes_a_draft(target_folder, corpus_file, tmp_path):
    lines = []
    train_draft(
        target_folder, corpus_file, tmp_path, minutes=0.05, layers=1, embedding_rank=16, output_tokens=48,
        batch_tokens=200, held_out=16, report=lines.append,
    )  # fmt: skip
    assert load_llama(tmp_path, precision="int8", label="draft").vocab_size == 48
    assert "agreement" in lines[0] and (tmp_path / "training.json").is_file()
