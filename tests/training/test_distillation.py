"""Training a tiny draft: it learns, goes on after a stop, the file loads, the lean decoder agrees."""

import json
from dataclasses import asdict, replace

import pytest
import torch

from duoviz.models.llama import load_llama
from duoviz.training import distillation
from duoviz.training import teacher as teaching
from duoviz.training.corpus import load_corpus
from duoviz.training.distillation import Recipe, learning_rate, load_teacher, train, train_draft
from duoviz.training.student import cut_from_target, read_student, save_draft, with_head
from duoviz.training.teacher import Teacher, padded

TINY = Recipe(tokens=4_000, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


def test_the_teachers_states_are_kept_file_by_file_and_the_same(target, corpus, corpus_files, tmp_path):
    rows = [3, 270, 9]
    expected = Teacher(target, corpus, torch.float32).hidden(rows)
    first = Teacher(target, corpus, torch.float32, folder=tmp_path)
    assert torch.allclose(first.hidden(rows), expected, atol=2e-3)
    again = Teacher(target, corpus, torch.float32, folder=tmp_path)
    again.computed = None  # what is kept is not computed
    assert torch.equal(again.hidden(rows), first.hidden(rows))
    # Another corpus with a file of this one knows its rows.
    more = load_corpus(corpus_files[::-1], held_out=40)
    other = Teacher(target, more, torch.float32, folder=tmp_path)
    other.computed = None
    assert torch.equal(other.hidden([163, 70, 169]), first.hidden(rows))
    with pytest.raises(TypeError):
        other.hidden([4])
    whole = target(padded(corpus, rows)).logits[1, corpus.answered(270) - 1]
    assert torch.allclose(Teacher(target, corpus, torch.float32).exact_logits([270]), whole, atol=1e-4)


def test_the_targets_best_are_of_the_ids_that_the_draft_knows(teacher, monkeypatch):
    monkeypatch.setattr(teaching, "BEST", 5)
    rows = [3, 170, 9]
    known = torch.arange(5, 64, 3)
    p = teacher.exact_logits(rows)[:, known].softmax(-1)
    first, again = (teacher.best(each, known) for each in (rows, rows[::-1]))
    share, column = p.topk(5)
    assert torch.equal(first.column, column) and torch.allclose(first.probability, share, atol=1e-3)
    assert torch.equal(again.column[: len(teacher.corpus.answered(9))], column[-len(teacher.corpus.answered(9)) :])


def test_learning_rate_warms_up_and_comes_down():
    assert learning_rate(0.01, peak=1) == pytest.approx(0.505)
    assert learning_rate(0.02, peak=1) == pytest.approx(1)
    assert learning_rate(1, peak=1) == pytest.approx(0.02)


def test_a_saved_draft_computes_what_the_student_did(target, tmp_path):
    known = torch.arange(64)[torch.arange(64) % 4 > 0]
    student = cut_from_target(target, layers=2, embedding_rank=32, tokens=known).eval()
    save_draft(student, tmp_path)
    student = read_student(tmp_path)  # what int8 left of it
    assert torch.equal(student.known, known)
    with torch.no_grad():
        ids = torch.randint(0, 64, (1, 20), generator=torch.Generator().manual_seed(0))
        expected = student.lm_head(student.hidden(ids, torch.arange(20)))
    draft = load_llama(tmp_path, precision="float32", label="draft")
    ours = draft.forward(ids[0].tolist())
    assert ours.shape == (20, 48) and torch.equal(draft.known, known)
    assert torch.allclose(ours, expected, atol=1e-4)
    in_int8 = load_llama(tmp_path, precision="int8", label="draft").forward(ids[0].tolist()).float()
    assert (in_int8 - expected).norm() / expected.norm() < 0.05


def test_another_head_keeps_the_rows_that_it_has_and_guesses_the_others(target):
    known, other = torch.arange(0, 64, 2)[:24], torch.arange(10, 64)
    student = cut_from_target(target, layers=1, embedding_rank=16, tokens=known)
    table = torch.randn(64, 20, generator=torch.Generator().manual_seed(1))
    turned = torch.randn(20, 64, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        student.lm_head.weight.copy_(table[known] @ turned)
    again = with_head(student, other, table, ridge=1e-9)
    assert torch.equal(again.known, other) and again.shape.output_tokens == len(other)
    assert torch.allclose(again.lm_head.weight, table[other] @ turned, atol=1e-3)
    with torch.no_grad():
        again.lm_head.weight += 1.0
    both = torch.tensor([10, 11, 20])
    kept = with_head(again, both, table).lm_head.weight
    assert torch.allclose(kept, table[both] @ turned + 1, atol=1e-3)


def test_the_loss_comes_down_and_a_saved_draft_goes_on_from_there(teacher, tmp_path, monkeypatch):
    losses = []
    step = distillation.train_step
    monkeypatch.setattr(distillation, "train_step", lambda *given: losses.append(step(*given)) or losses[-1])
    progress = train(teacher, replace(TINY, tokens=12_000), report=lambda line: None)
    assert progress.tokens >= 12_000 and progress.step == len(losses)
    assert sum(losses[-12:]) < 0.994 * sum(losses[:12])
    save_draft(progress.student, tmp_path)
    begun = len(losses)
    train(teacher, replace(TINY, tokens=600, layers=7, start=str(tmp_path)), report=lambda line: None)
    assert sum(losses[begun:]) / len(losses[begun:]) < sum(losses[:12]) / 12


def test_questions_are_learnt_and_held_out_rows_are_not(teacher, monkeypatch):
    learnt = {}
    step = distillation.train_step

    def noted(teacher, recipe, progress, lesson):
        learnt.update({row: len(teacher.corpus.answered(row)) for row in lesson.rows})
        return step(teacher, recipe, progress, lesson)

    monkeypatch.setattr(distillation, "train_step", noted)
    corpus = teacher.corpus
    train(teacher, replace(TINY, tokens=9_000), report=lambda line: None)
    assert learnt == {row: corpus.length(row) - 1 for row in corpus.rows(held_out=False)}  # they share no beginning


def test_a_stopped_training_goes_on_to_the_same_end(teacher, corpus_files, tmp_path, monkeypatch):
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
    # So does one of another corpus.
    other.save(file, replace(TINY, tokens=300, seed=1))
    one = teacher.of(load_corpus(corpus_files[:1], held_out=40))
    for corpus, lines in ((teacher, 3), (one, 2)):
        again = train(corpus, replace(TINY, tokens=600, seed=1), checkpoint=file, report=lambda line: None)
        assert [line["tokens"] > 0 for line in again.log] == [False, True, True][:lines]


def test_one_call_makes_a_draft(target_folder, corpus_files, tmp_path):
    lines = []
    train_draft(target_folder, corpus_files, tmp_path, replace(TINY, tokens=500), report=lines.append)
    assert load_llama(tmp_path, precision="int8", label="draft").vocab_size == 48
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["recipe"] == asdict(replace(TINY, tokens=500)) and record["log"][-1]["tokens"] >= 500
    assert abs(record["held_out"]["float32"] - record["held_out"]["int8"]) < 0.1
    assert len(json.loads((tmp_path / "config.json").read_text())["copying"]) == 3
    assert "agreement" in lines[0] and "min left" in lines[1] and "copying weights" in lines[-1]
    goes_on = replace(TINY, tokens=300, start=str(tmp_path))
    train_draft(target_folder, corpus_files, tmp_path / "more", goes_on, report=lines.append)
    assert json.loads((tmp_path / "more" / "training.json").read_text())["before"] == record


def test_the_teachers_states_go_to_the_cache(target_folder, corpus_files, tmp_path):
    teacher = load_teacher(target_folder, corpus_files, held_out=5)
    teacher.hidden([0])
    kept = sorted((tmp_path / "cache" / "teacher").iterdir())
    assert [file.suffix for file in kept] == [".bin", ".done"] * len(corpus_files)
