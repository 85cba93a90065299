"""Training a tiny draft: it learns, goes on after a stop, the file loads, the lean decoder agrees."""

import json
from dataclasses import asdict, replace

import pytest
import torch
import torch.nn.functional as F

from duoviz.models.llama import load_llama
from duoviz.training import distillation
from duoviz.training import teacher as teaching
from duoviz.training.distillation import Recipe, agreement, divergence, learning_rate, train, train_draft
from duoviz.training.student import cut_from_target, save_draft
from duoviz.training.teacher import Lesson

TINY = Recipe(tokens=4_000, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


@pytest.fixture
def steps(monkeypatch):
    """What each training step was given and its loss; a KeyboardInterrupt in it is raised before a tenth step."""
    made, step = [], distillation.train_step

    def noted(teacher, progress, rows):
        if KeyboardInterrupt in made and len(made) == 10:
            made.clear()
            raise KeyboardInterrupt
        loss = step(teacher, progress, rows)
        made.append((rows, float(loss)))
        return loss

    monkeypatch.setattr(distillation, "train_step", noted)
    return made


def test_a_lesson_is_of_the_ids_that_the_draft_knows(teacher, corpus, monkeypatch):
    monkeypatch.setattr(teaching, "BEST", 5)
    rows, known = [corpus[number] for number in (3, 170, 9)], torch.arange(5, 64, 3)
    with torch.no_grad():
        logits = torch.cat([teacher.target(torch.from_numpy(row.ids)[None]).logits[0, row.places - 1] for row in rows])
    share, column = logits[:, known].softmax(-1).topk(5)
    first, again = (teacher.lesson(each, known) for each in (rows, rows[::-1]))
    assert torch.equal(first.column, column) and torch.allclose(first.probability, share, atol=1e-3)
    assert torch.equal(again.column[: len(rows[2].places)], column[-len(rows[2].places) :])
    assert torch.equal(teacher.greedy(rows), logits.argmax(-1))


def test_the_loss_is_that_of_the_mixture_with_the_rest_as_one():
    torch.manual_seed(0)
    logits = torch.randn(9, 30)
    share, token = torch.randn(9, 30).softmax(-1).topk(5)
    # Nothing is copied, then one of the best ids is, then others.
    copied, weight = token[:, 1].clone(), torch.tensor([0.0, 0.5, 0.9, 0.3, 0.2, 0.6, 0.1, 0.4, 0.7])
    copied[5:] = torch.zeros(4, 30).scatter(-1, token[5:], 1).argmin(-1)
    q = ((1 - weight[:, None]) * logits.softmax(-1) + weight[:, None] * F.one_hot(copied, 30)).gather(-1, token)
    plain = -((share * q.log()).sum(-1) + (1 - share.sum(-1)) * (1 - q.sum(-1)).log()).mean()
    assert torch.allclose(divergence(logits, Lesson(token, share, copied, weight)), plain, atol=1e-5)


def test_learning_rate_warms_up_and_comes_down():
    assert [learning_rate(part, peak=1) for part in (0.01, 0.02, 1)] == pytest.approx([0.505, 1, 0.02])


def test_the_loss_comes_down_and_a_saved_draft_goes_on_from_there(teacher, corpus, tmp_path, steps):
    progress = train(teacher, corpus, replace(TINY, tokens=12_000))
    losses = [loss for _, loss in steps]
    assert progress.tokens >= 12_000 and progress.step == len(losses)
    assert sum(losses[-12:]) < 0.994 * sum(losses[:12])
    # Questions are learnt, and held-out rows are not.
    learnt = {row: len(row.places) for rows, _ in steps for row in rows}
    assert sorted(learnt.values()) == sorted(len(row.ids) - 1 for row in corpus if not row.held_out)
    save_draft(progress.student, tmp_path)
    steps.clear()
    train(teacher, corpus, replace(TINY, tokens=600, start=str(tmp_path)))
    assert sum(loss for _, loss in steps) / len(steps) < sum(losses[:12]) / 12


def test_a_stopped_training_goes_on_to_the_same_end(teacher, corpus, tmp_path, steps, monkeypatch):
    monkeypatch.setattr(distillation, "SECONDS_BETWEEN_CHECKPOINTS", 0)
    whole, file = train(teacher, corpus, TINY), tmp_path / "checkpoint.pt"
    steps[:] = [KeyboardInterrupt]
    with pytest.raises(KeyboardInterrupt):
        train(teacher, corpus, TINY, checkpoint=file)
    rest = train(teacher, corpus, TINY, checkpoint=file)
    assert len(steps) == whole.step - 9
    assert rest.step == whole.step and rest.tokens == whole.tokens
    for ours, theirs in zip(rest.student.parameters(), whole.student.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    # Another recipe begins anew.
    assert train(teacher, corpus, replace(TINY, tokens=300, seed=1), checkpoint=file).tokens < whole.tokens


def test_agreement_is_of_the_draft_that_also_copies(teacher, tested):
    student = cut_from_target(teacher.target, layers=1, embedding_rank=16, known=torch.arange(64)).eval()
    rows, best = tested[:4], teacher.greedy(tested[:4])
    lesson = teacher.lesson(rows, student.known)
    copied = lesson._replace(copied=best, weight=torch.full((len(best),), 0.999))
    assert agreement(student, rows, lesson, best) < agreement(student, rows, copied, best) == 1.0


def test_one_call_makes_a_draft(target_folder, corpus_files, tmp_path, capsys):
    train_draft(target_folder, corpus_files, tmp_path, replace(TINY, tokens=500))
    assert load_llama(tmp_path, precision="int8", label="draft").vocab_size == 48
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["recipe"] == asdict(replace(TINY, tokens=500)) and record["log"][-1]["tokens"] >= 500
    assert abs(record["held_out"]["float32"] - record["held_out"]["int8"]) < 0.1
    assert len(json.loads((tmp_path / "config.json").read_text())["copying"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "agreement" in lines[0] and "min left" in lines[1] and "copying weights" in lines[-1]
    train_draft(target_folder, corpus_files, tmp_path / "more", replace(TINY, tokens=300, start=str(tmp_path)))
    assert json.loads((tmp_path / "more" / "training.json").read_text())["before"] == record
