"""Training a tiny draft: it learns, goes on after a stop, the file loads, the lean decoder agrees."""

import json
from dataclasses import asdict, replace

import pytest
import torch

from duoviz.models.linear import quantise_rows
from duoviz.models.llama import load_llama
from duoviz.training import distillation
from duoviz.training.distillation import Recipe, learning_rate, load_teacher, redrafted, train, train_draft
from duoviz.training.student import cut_from_target, save_draft
from duoviz.training.teacher import Teacher

TINY = Recipe(tokens=4_000, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


def test_the_teachers_states_are_kept_and_the_same(target, corpus, tmp_path):
    rows = [3, 170, 9]
    expected = Teacher(target, corpus, torch.float32).hidden(rows)
    first = Teacher(target, corpus, torch.float32, folder=tmp_path)
    assert torch.allclose(first.hidden(rows), expected, atol=2e-3)
    again = Teacher(target, corpus, torch.float32, folder=tmp_path)
    again.computed = None  # what is kept is not computed
    assert torch.equal(again.hidden(rows), first.hidden(rows))
    assert torch.allclose(first.logits(rows, tokens=20), first.exact_logits(rows)[:, :20], atol=1e-4)


def test_learning_rate_warms_up_and_comes_down():
    assert learning_rate(0.01, peak=1) == pytest.approx(0.505)
    assert learning_rate(0.02, peak=1) == pytest.approx(1)
    assert learning_rate(1, peak=1) == pytest.approx(0.02)


@pytest.mark.parametrize("width", [None, 32])
def test_a_saved_draft_computes_what_the_student_did(target, width, tmp_path):
    rank = 32 if width is None else 16
    student = cut_from_target(target, layers=2, embedding_rank=rank, output_tokens=48, width=width).eval()
    save_draft(student, tmp_path)
    with torch.no_grad():
        for parameter in student.parameters():
            if parameter.dim() == 2:
                quantised, scale = quantise_rows(parameter)
                parameter.copy_(quantised * scale[:, None])
        ids = torch.randint(0, 64, (1, 20), generator=torch.Generator().manual_seed(0))
        expected = student.lm_head(student.hidden(ids))[0]
    ours = load_llama(tmp_path, precision="float32", label="draft").forward(ids[0].tolist())
    assert ours.shape == (20, 48)
    assert torch.allclose(ours, expected, atol=1e-4)
    in_int8 = load_llama(tmp_path, precision="int8", label="draft").forward(ids[0].tolist()).float()
    assert (in_int8 - expected).norm() / expected.norm() < 0.05


@pytest.mark.parametrize(
    "change", [{}, {"copying": False}, {"loss": "total_variation"}, {"drafted": 0.3}, {"width": 32}]
)
def test_the_loss_comes_down(teacher, change, monkeypatch):
    losses = []
    step = distillation.train_step
    monkeypatch.setattr(distillation, "train_step", lambda *given: losses.append(step(*given)) or losses[-1])
    progress = train(teacher, replace(TINY, tokens=12_000, **change), report=lambda line: None)
    assert progress.tokens >= 12_000 and progress.step == len(losses)
    assert sum(losses[-12:]) < 0.994 * sum(losses[:12])


def test_a_stopped_training_goes_on_to_the_same_end(teacher, tmp_path, monkeypatch):
    monkeypatch.setattr(distillation, "SECONDS_BETWEEN_CHECKPOINTS", 0)
    whole = train(teacher, TINY, report=lambda line: None)
    step, file, made = distillation.train_step, tmp_path / "checkpoint.pt", []

    def killed(*given):
        if len(made) == 9:
            raise KeyboardInterrupt
        made.append(step(*given))
        return made[-1]

    monkeypatch.setattr(distillation, "train_step", killed)
    with pytest.raises(KeyboardInterrupt):
        train(teacher, TINY, checkpoint=file, report=lambda line: None)
    monkeypatch.setattr(distillation, "train_step", step)
    rest = train(teacher, TINY, checkpoint=file, report=lambda line: None)
    assert rest.step == whole.step and rest.tokens == whole.tokens
    for ours, theirs in zip(rest.student.parameters(), whole.student.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
    # The same recipe goes on for longer; another one begins anew.
    longer = train(teacher, replace(TINY, tokens=5_000), checkpoint=file, report=lambda line: None)
    assert longer.tokens >= 5_000 and longer.log[0] == whole.log[0] and longer.step > whole.step
    other = train(teacher, replace(TINY, tokens=300, seed=1), checkpoint=file, report=lambda line: None)
    assert other.tokens < 600


def test_redrafted_rows_differ_in_answers_only(teacher):
    student = cut_from_target(teacher.target, layers=1, embedding_rank=16, output_tokens=48)
    rows = [0, 5, 11]
    other = redrafted(student, teacher, rows, share=0.5, rng=torch.Generator().manual_seed(0)).corpus
    changed = other.flat != teacher.corpus.flat
    assert not (changed & ~teacher.corpus.answer).any()
    of_rows = sum(int(changed[other.starts[row] : other.starts[row + 1]].sum()) for row in rows)
    assert of_rows == changed.sum() and 0.2 < of_rows / sum(len(other.answered(row)) for row in rows) < 0.7


def test_one_call_makes_a_draft(target_folder, corpus_files, tmp_path):
    lines = []
    train_draft(target_folder, corpus_files, tmp_path, replace(TINY, tokens=500), report=lines.append)
    assert load_llama(tmp_path, precision="int8", label="draft").vocab_size == 48
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["recipe"] == asdict(replace(TINY, tokens=500)) and record["log"][-1]["tokens"] >= 500
    assert abs(record["held_out"]["float32"] - record["held_out"]["int8"]) < 0.1
    assert len(json.loads((tmp_path / "config.json").read_text())["copying"]) == 8
    assert "agreement" in lines[0] and "min left" in lines[1] and "copying weights" in lines[-1]


def test_the_teachers_states_go_to_the_cache(target_folder, corpus_files, tmp_path):
    teacher = load_teacher(target_folder, corpus_files, held_out=5)
    teacher.hidden([0])
    assert [file.suffix for file in sorted((tmp_path / "cache" / "teacher").iterdir())] == [".bin", ".done"]
