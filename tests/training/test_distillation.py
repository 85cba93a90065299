"""A tiny draft: it learns, goes on after a stop, is scored, saved and read."""

import json

import pytest
import torch
import torch.nn.functional as F
from transformers import Trainer

from duoviz.training import distillation
from duoviz.training.__main__ import main
from duoviz.training.distillation import cut_from_target, hidden, save_draft
from duoviz.training.fitting import LONGEST, agreement
from tests.models.folders import loaded

KNOWN = torch.arange(64)[torch.arange(64) % 4 > 0]


@pytest.fixture
def steps(monkeypatch):
    """How many answer tokens each training step had, and its loss; a KeyboardInterrupt in it ends the tenth."""
    made, step = [], Trainer.training_step

    def noted(trainer, model, inputs, *args):
        if KeyboardInterrupt in made and len(made) == 10:
            made.clear()
            raise KeyboardInterrupt
        tokens, loss = len(inputs["states"]), step(trainer, model, inputs, *args)
        made.append((tokens, float(loss)))
        return loss

    monkeypatch.setattr(Trainer, "training_step", noted)
    return made


@pytest.fixture
def draft(corpus_files, capsys):
    """Makes a draft of one layer in a folder, and gives the last line that was printed."""

    def make(out, *arguments, tokens=4_000):
        options = ["--rows", "10", "--tokens", str(tokens), *arguments]
        code = main(["draft", "--out", str(out), "--corpus", *map(str, corpus_files), *options])
        return code, capsys.readouterr().out.splitlines()[-1:]

    return make


def test_a_draft_learns(draft, corpus, tmp_path, steps):
    code, (told,) = draft(tmp_path / "one", tokens=12_000)
    losses = [loss for _, loss in steps]
    assert code == 0 and sum(losses[-12:]) < 0.994 * sum(losses[:12])
    # Questions are learnt, and held-out rows are not: two epochs and a half of 280 rows.
    assert len(losses) * 10 > 500 and max(tokens for tokens, _ in steps) <= 10 * 28
    record = json.loads((tmp_path / "one" / "training.json").read_text())
    assert record["recipe"]["tokens"] == "12000" and record["log"][-1]["epoch"] > 2
    assert str(record["held_out"]) in told and 0 <= record["held_out"]["top1"] <= 1
    assert loaded(tmp_path / "one", "int8").vocab_size == 48
    config = json.loads((tmp_path / "one" / "config.json").read_text())
    assert [len(weights) for weights in config["copying"]] == [LONGEST] * 3
    assert not [file for file in (tmp_path / "one").iterdir() if file.is_dir()]


def test_a_stopped_training_goes_on_to_the_same_end(draft, tmp_path, steps):
    draft(tmp_path / "whole")
    count = len(steps)
    steps[:] = [KeyboardInterrupt]
    assert draft(tmp_path / "parts")[0] == 130
    draft(tmp_path / "parts")
    assert 0 < len(steps) < count
    whole, parts = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


def test_a_draft_cut_out_has_the_map_to_the_targets_states(target, corpus):
    with torch.no_grad():
        found = distillation.new_student(target, corpus), cut_from_target(target, torch.arange(64))
        texts = distillation.padded([row.ids for row in corpus[:20]])
        theirs = target.lm_head(hidden(target, **texts))
        mapped, plain = (
            F.mse_loss(student.lm_head(hidden(student, **texts)), theirs[:, student.lm_head.known]) for student in found
        )
    assert mapped < 0.8 * plain


def test_a_draft_that_knows_nothing_has_the_overlap_of_a_flat_distribution(target, target_folder, tested, tmp_path):
    student = cut_from_target(target, KNOWN)
    with torch.no_grad():
        student.lm_head.weight.zero_()
        p = target(torch.from_numpy(tested[0].ids)[None]).logits[0, tested[0].places - 1].softmax(-1)[:, KNOWN]
    save_draft(student, tmp_path)
    theirs = loaded(target_folder, "float32")
    found = agreement(theirs, loaded(tmp_path, "int8"), tested[:1])
    assert found["classical at temperature 1"] == pytest.approx(float(p.clamp(max=1 / 48).sum(-1).mean()), abs=1e-4)
    assert found["top1"] < 0.2


@torch.no_grad()
def test_a_saved_draft_computes_what_the_student_does(target, tmp_path):
    student, ids = cut_from_target(target, KNOWN), torch.randint(0, 64, (20,), generator=torch.manual_seed(0))
    save_draft(student, tmp_path)
    expected = student.lm_head(hidden(student, ids[None], torch.arange(20)))
    for precision in ("float32", "int8"):
        draft = loaded(tmp_path, precision)
        assert torch.equal(draft.known, KNOWN)
        assert (draft.forward(ids.tolist()) - expected).norm() / expected.norm() < 0.05
