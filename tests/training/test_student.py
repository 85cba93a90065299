"""The draft as it learns, as it is saved, and as transformers reads it."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz.training import student as module
from duoviz.training.distillation import hidden
from duoviz.training.student import cut_from_target, export_assistant, read_student, save_draft
from tests.models.folders import loaded

KNOWN = torch.arange(64)[torch.arange(64) % 4 > 0]


@pytest.fixture
def saved(target, tmp_path):
    save_draft(cut_from_target(target, layers=2, known=KNOWN), tmp_path)
    return tmp_path


@torch.no_grad()
def test_a_saved_draft_computes_what_the_student_does(saved):
    student, ids = read_student(saved), torch.randint(0, 64, (1, 20), generator=torch.Generator().manual_seed(0))
    expected = student.lm_head(hidden(student, ids, torch.arange(20)))
    draft = loaded(saved, "float32")
    assert torch.equal(student.lm_head.known, KNOWN) and torch.equal(draft.known, KNOWN)
    assert torch.allclose(draft.forward(ids[0].tolist()), expected, atol=1e-4)
    in_int8 = loaded(saved, "int8").forward(ids[0].tolist()).float()
    assert (in_int8 - expected).norm() / expected.norm() < 0.05


@torch.no_grad()
def test_the_assistant_gives_the_drafts_logits_and_nothing_else(saved, tmp_path, monkeypatch):
    class Tokenizer:
        def save_pretrained(self, folder):
            (folder / "tokenizer.json").write_text("{}")

    monkeypatch.setattr(module.AutoTokenizer, "from_pretrained", lambda folder: Tokenizer())
    export_assistant(saved, tmp_path, tmp_path / "out")
    ids = torch.randint(0, 64, (21,), generator=torch.Generator().manual_seed(3))
    want = loaded(saved, "float32").forward(ids.tolist())
    logits = AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32).eval()(ids[None]).logits[0]
    assert logits.shape == (21, 64) and (tmp_path / "out" / "tokenizer.json").is_file()
    assert logits[:, KNOWN].numpy() == pytest.approx(want.numpy(), abs=1e-4)
    assert (logits[:, ::4] < -1e4).all()
