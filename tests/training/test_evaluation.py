"""Agreement by position, by task and at temperature 1."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from duoviz.models.copying import Copying
from duoviz.models.llama import load_llama
from duoviz.training.evaluation import Agreement, answer_logits, evaluate, scores
from duoviz.training.lessons import Lessons
from duoviz.training.losses import Copied
from duoviz.training.student import cut_from_target, save_draft
from duoviz.training.teacher import Teacher


def test_positions_are_conditional_on_the_ones_before():
    corpus = SimpleNamespace(task=np.array(["qa", "code"]), file=np.array([1, 0]), greedy=np.array([True, False]))
    found = Agreement(corpus, [0, 1], [np.array([1, 1, 0, 1, 1, 1], bool), np.array([0, 0], bool)])
    # Drafts that begin at each of six places: right at five of six; then at 3 of the 4 that have a second place.
    assert found.by_position[:4] == [5 / 6, 3 / 4, 1 / 2, 0.0]
    assert found.top1 == 5 / 8 and found.by_task == {"code": 0.0, "qa": 5 / 6}
    assert found.by_file == [0.0, 5 / 6]


def test_the_target_agrees_with_itself(teacher):
    rows = teacher.corpus.rows(held_out=True)[:10]
    found, logits = Agreement(teacher.corpus), teacher.exact_logits(rows)
    found.add(rows, logits, logits, torch.arange(64), sampled=True)
    assert found.top1 == 1.0 and found.shared_noise == 1.0 and found.classical == pytest.approx(1.0, abs=1e-5)
    assert found.drawn == sum(len(teacher.corpus.answered(row)) for row in rows) == sum(map(len, found.same))


def test_a_draft_without_knowledge_has_the_overlap_of_a_flat_distribution(teacher):
    rows = teacher.corpus.rows(held_out=True)[:10]
    known = torch.arange(64)[torch.arange(64) % 4 > 0]
    found, theirs = Agreement(teacher.corpus), teacher.exact_logits(rows)
    found.add(rows, theirs, torch.zeros(len(theirs), 48), known, sampled=True)
    p = theirs.softmax(-1)[:, known]
    assert found.classical == pytest.approx(float(p.clamp(max=1 / 48).sum(-1).mean()), abs=1e-5)
    assert found.top1 < 0.2 and found.shared_noise < found.classical + 0.1


def test_copying_counts(teacher):
    rows = teacher.corpus.rows(held_out=True)[:4]
    student = cut_from_target(teacher.target, layers=1, embedding_rank=16, tokens=torch.arange(64)).eval()

    lesson = Lessons(teacher.corpus, student.known, [rows])[0]
    best = teacher.exact_logits(rows).argmax(-1)
    copied = Copied(best, torch.full((len(best),), 0.999))
    assert evaluate(student, teacher, [lesson._replace(copied=copied)]).top1 == 1.0


def top1(draft, teacher):
    found = Agreement(teacher.corpus)
    for row in teacher.corpus.rows(held_out=True):
        found.add([row], teacher.exact_logits([row]), answer_logits(draft, teacher.corpus, row), draft.known)
    return round(found.top1, 4)


def test_a_saved_draft_is_scored_by_the_exact_target_and_with_its_own_copying(teacher, tmp_path):
    student = cut_from_target(teacher.target, layers=1, embedding_rank=16, tokens=torch.arange(48)).eval()
    save_draft(student, tmp_path)
    file, rounded = tmp_path / "config.json", Teacher(teacher.target, teacher.corpus, torch.bfloat16)
    found = []
    for weights in ([[0.0, 0.0]] * 3, [[0.9, 0.9]] * 3):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"copying": weights}))
        draft = Copying(load_llama(tmp_path, precision="int8", label="draft"), weights)
        found.append(scores(rounded, student, tmp_path))
        assert found[-1]["copying"]["top1"] == top1(draft, teacher) != top1(draft, rounded)
    without, with_copying = found
    assert without["copying"]["top1"] == without["int8"] == with_copying["int8"] != with_copying["copying"]["top1"]
