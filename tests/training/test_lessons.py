"""What a training step is given."""

import numpy as np
import torch

from duoviz.training import lessons
from duoviz.training.lessons import Lessons, look_ups, prepared


def test_look_ups_are_those_of_the_text_before_each_answer_token():
    ids = [5, 6, 7, 5, 6, 7, 5, 9]
    by_kind = [[0.1, 0.2, 0.3]] * 3
    found = look_ups(ids, [3, 5, 6, 7], by_kind, columns={5: 1, 6: 2, 7: 3})
    # Before place 3 nothing repeats; then 5 6 → 7, 5 6 7 → 5, 7 5 → 6 (the longest known end).
    assert found == [(0, 0.0), (3, 0.2), (1, 0.3), (2, 0.3)]
    assert look_ups(ids, [5], by_kind, columns={5: 0, 6: 1}) == [(0, 0.0)]


def test_a_lessons_places_are_those_before_the_answers_tokens(corpus, teacher):
    groups = [[3, 170, 9], [4]]
    first, second = prepared(Lessons(corpus, torch.arange(64), groups), torch.device("cpu"))
    assert (first.rows, second.rows) == ([3, 170, 9], [4])
    answers = np.concatenate([corpus.row(row)[corpus.answered(row)] for row in groups[0]])
    assert first.ids.flatten()[first.places + 1].tolist() == answers.tolist()
    assert len(first.copied.column) == len(first.copied.weight) == len(answers)


def test_other_processes_prepare_the_same_lessons(corpus, monkeypatch):
    groups = [[3, 170], [4], [5, 6, 7]]
    alone = list(prepared(Lessons(corpus, torch.arange(64), groups), torch.device("cpu")))
    monkeypatch.setattr(lessons.Lesson, "to", lambda lesson, device: lesson)
    monkeypatch.setattr(lessons, "available_cores", lambda: [0, 1, 2])
    beside = list(prepared(Lessons(corpus, torch.arange(64), groups), torch.device("meta")))
    for ours, theirs in zip(alone, beside, strict=True):
        assert ours.rows == theirs.rows and torch.equal(ours.ids, theirs.ids)
        assert torch.equal(ours.places, theirs.places) and torch.equal(ours.copied.weight, theirs.copied.weight)
