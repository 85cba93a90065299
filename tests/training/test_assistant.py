"""The draft as a model of transformers."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz.models.llama import load_llama
from duoviz.training import assistant
from duoviz.training.assistant import export_assistant
from duoviz.training.student import cut_from_target, save_draft


def test_the_assistant_gives_the_drafts_logits_and_nothing_else(target, tmp_path, monkeypatch):
    class Tokenizer:
        def save_pretrained(self, folder):
            (folder / "tokenizer.json").write_text("{}")

    known = torch.arange(64)[torch.arange(64) % 4 > 0]
    monkeypatch.setattr(assistant.AutoTokenizer, "from_pretrained", lambda folder: Tokenizer())
    save_draft(cut_from_target(target, layers=2, embedding_rank=24, tokens=known), tmp_path / "draft")
    export_assistant(tmp_path / "draft", tmp_path, tmp_path / "out")
    ids = torch.randint(0, 64, (21,), generator=torch.Generator().manual_seed(3))
    draft = load_llama(tmp_path / "draft", precision="float32", label="draft")
    want = draft.forward(ids.tolist(), rows=range(len(ids)))
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(ids[None]).logits[0]
    assert logits.shape == (21, 64) and (tmp_path / "out" / "tokenizer.json").is_file()
    assert logits[:, known].numpy() == pytest.approx(want.numpy(), abs=1e-4)
    assert (logits[:, ::4] < -1e4).all()
