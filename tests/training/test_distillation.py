"""Training a tiny draft: it learns, goes on after a stop, the file loads, the lean decoder agrees."""

import json
from dataclasses import asdict, replace

import pytest
import torch
import torch.nn.functional as F

from duoviz.models.llama import load_llama
from duoviz.training import distillation
from duoviz.training import teacher as teaching
from duoviz.training.corpus import load_corpus
from duoviz.training.distillation import Recipe, agreement, divergence, learning_rate, prepared, train, train_draft
from duoviz.training.fitting import Copied
from duoviz.training.student import cut_from_target, save_draft
from duoviz.training.teacher import Best, Teacher

TINY = Recipe(tokens=4_000, layers=1, embedding_rank=16, output_tokens=48, batch_tokens=200)


@pytest.fixture
def steps(monkeypatch):
    """What each training step was given and its loss."""
    made, step = [], distillation.train_step

    def noted(teacher, progress, rows, lesson):
        made.append((rows, float(step(teacher, progress, rows, lesson))))
        return torch.tensor(made[-1][1])

    monkeypatch.setattr(distillation, "train_step", noted)
    return made


def test_the_teachers_states_are_kept_file_by_file_and_the_same(target, corpus, corpus_files, tmp_path):
    rows = [corpus[number] for number in (3, 270, 9)]
    expected = Teacher(target, torch.float32).hidden(rows)
    first, again, other = (Teacher(target, torch.float32, folder=tmp_path) for _ in range(3))
    first.keep(corpus)
    assert torch.allclose(first.hidden(rows), expected, atol=2e-3)
    again.computed = other.computed = None  # what is kept is not computed
    again.keep(corpus)
    assert torch.equal(again.hidden(rows), first.hidden(rows))
    # Another corpus with a file of this one knows its rows.
    more = load_corpus(corpus_files[::-1], held_out=40)
    other.keep(more)
    assert torch.equal(other.hidden([more[number] for number in (163, 70, 169)]), first.hidden(rows))
    with pytest.raises(TypeError):
        other.hidden([more[4]])


def test_the_targets_best_are_of_the_ids_that_the_draft_knows(teacher, corpus, monkeypatch):
    monkeypatch.setattr(teaching, "BEST", 5)
    rows, known = [corpus[number] for number in (3, 170, 9)], torch.arange(5, 64, 3)
    with torch.no_grad():
        logits = torch.cat([teacher.target(torch.from_numpy(row.ids)[None]).logits[0, row.places - 1] for row in rows])
    share, column = logits[:, known].softmax(-1).topk(5)
    first, again = (teacher.best(each, known) for each in (rows, rows[::-1]))
    assert torch.equal(first.column, column) and torch.allclose(first.probability, share, atol=1e-3)
    assert torch.equal(again.column[: len(rows[2].places)], column[-len(rows[2].places) :])
    assert torch.equal(teacher.greedy(rows), logits.argmax(-1))


def test_the_loss_is_that_of_the_mixture_with_the_rest_as_one():
    torch.manual_seed(0)
    logits = torch.randn(9, 30)
    share, token = torch.randn(9, 30).softmax(-1).topk(5)
    # Nothing is copied, then one of the best ids is, then others.
    copied = Copied(token[:, 1].clone(), torch.tensor([0.0, 0.5, 0.9, 0.3, 0.2, 0.6, 0.1, 0.4, 0.7]))
    copied.column[5:] = torch.zeros(4, 30).scatter(-1, token[5:], 1).argmin(-1)
    mixed = (1 - copied.weight[:, None]) * logits.softmax(-1) + copied.weight[:, None] * F.one_hot(copied.column, 30)
    q = mixed.gather(-1, token)
    plain = -((share * q.log()).sum(-1) + (1 - share.sum(-1)) * (1 - q.sum(-1)).log()).mean()
    assert torch.allclose(divergence(logits, Best(token, share), copied), plain, atol=1e-5)


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
    train(teacher, corpus, replace(TINY, tokens=600, layers=7, start=str(tmp_path)))
    assert sum(loss for _, loss in steps) / len(steps) < sum(losses[:12]) / 12


def test_a_stopped_training_goes_on_to_the_same_end(teacher, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(distillation, "SECONDS_BETWEEN_CHECKPOINTS", 0)
    whole = train(teacher, corpus, TINY)
    step, file, made = distillation.train_step, tmp_path / "checkpoint.pt", []

    def killed(*given):
        if len(made) == 9:
            raise KeyboardInterrupt
        made.append(step(*given))
        return made[-1]

    monkeypatch.setattr(distillation, "train_step", killed)
    with pytest.raises(KeyboardInterrupt):
        train(teacher, corpus, TINY, checkpoint=file)
    monkeypatch.setattr(distillation, "train_step", step)
    rest = train(teacher, corpus, TINY, checkpoint=file)
    assert rest.step == whole.step and rest.tokens == whole.tokens
    for ours, theirs in zip(rest.student.parameters(), whole.student.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
    # The same recipe goes on for longer; another one begins anew, and so does one of another corpus.
    longer = train(teacher, corpus, replace(TINY, tokens=4_500), checkpoint=file)
    assert longer.log[0] == whole.log[0] and longer.step > whole.step
    longer.save(file)
    for other, rows in ((replace(TINY, tokens=300, seed=1), corpus), (replace(TINY, tokens=300), corpus[:200])):
        assert train(teacher, rows, other, checkpoint=file).tokens < 600


def test_agreement_counts_copying(teacher, tested):
    student = cut_from_target(teacher.target, layers=1, embedding_rank=16, known=torch.arange(64)).eval()
    ((_, lesson),) = prepared([tested[:4]], student)
    best = teacher.greedy(tested[:4])
    copied = Copied(best, torch.full((len(best),), 0.999))
    assert agreement(student, [(lesson, best)]) < agreement(student, [(lesson._replace(copied=copied), best)]) == 1.0


def test_one_call_makes_a_draft(target_folder, corpus_files, tmp_path, capsys):
    train_draft(target_folder, corpus_files, tmp_path, replace(TINY, tokens=500))
    assert load_llama(tmp_path, precision="int8", label="draft").vocab_size == 48
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["recipe"] == asdict(replace(TINY, tokens=500)) and record["log"][-1]["tokens"] >= 500
    assert abs(record["held_out"]["float32"] - record["held_out"]["int8"]) < 0.1
    assert len(json.loads((tmp_path / "config.json").read_text())["copying"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "agreement" in lines[0] and "min left" in lines[1] and "copying weights" in lines[-1]
    assert list((tmp_path / "cache" / "teacher").iterdir())
    train_draft(target_folder, corpus_files, tmp_path / "more", replace(TINY, tokens=300, start=str(tmp_path)))
    assert json.loads((tmp_path / "more" / "training.json").read_text())["before"] == record
