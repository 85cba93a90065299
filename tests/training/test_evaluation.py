"""Agreement by position and at temperature 1."""

import json

import numpy as np
import pytest
import torch

from duoviz.training.evaluation import by_position, scores
from duoviz.training.student import cut_from_target, save_draft


def test_positions_are_conditional_on_the_ones_before():
    # Drafts that begin at each of six places: right at five of six; then at 3 of the 4 that have a second place.
    assert by_position([np.array([1, 1, 0, 1, 1, 1])])[:4] == [0.8333, 3 / 4, 1 / 2, 0.0]


def test_a_saved_draft_is_scored_as_it_is_used(target, target_folder, tested, tmp_path):
    student = cut_from_target(target, layers=3, embedding_rank=64, known=torch.arange(64)).eval()
    save_draft(student, tmp_path)
    file, found = tmp_path / "config.json", []
    for weights in ([[0.0, 0.0]] * 3, [[0.9, 0.9]] * 3):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"copying": weights}))
        found.append(scores(target_folder, student, tmp_path, tested[::5]))
    # A student that is all of the target agrees with it; in int8 nearly; copying what is random misleads it.
    (alone, misled), exact = (each["copying"] for each in found), found[0]["float32"]
    assert exact > 0.99 and alone["top1"] == found[0]["int8"] == found[1]["int8"] > 0.9 > misled["top1"]
    assert alone["classical at temperature 1"] > 0.9
    assert len(alone["by_position"]) == 8


def test_a_draft_without_knowledge_has_the_overlap_of_a_flat_distribution(target, target_folder, tested, tmp_path):
    known = torch.arange(64)[torch.arange(64) % 4 > 0]
    student = cut_from_target(target, layers=1, embedding_rank=16, known=known).eval()
    with torch.no_grad():
        student.lm_head.weight.zero_()
    save_draft(student, tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"copying": [[0.0]] * 3}))
    found = scores(target_folder, student, tmp_path, [tested[0]])["copying"]
    with torch.no_grad():
        p = target(torch.from_numpy(tested[0].ids)[None]).logits[0, tested[0].places - 1].softmax(-1)[:, known]
    expected = float(p.clamp(max=1 / 48).sum(-1).mean())
    assert found["classical at temperature 1"] == pytest.approx(expected, abs=1e-4) and found["top1"] < 0.2
