"""Architectures of transformers that differ in what they can do: each method's text to the end of the context."""

from dataclasses import replace

import pytest
import torch
import transformers as hf

from duoviz import runs
from duoviz.decoding import METHODS
from duoviz.models.load import load_pair
from tests.models.folders import TEXT, folder, ready
from tests.tiny import traced

CONTEXT = 52
TINY = dict(vocab_size=60, hidden_size=64, num_hidden_layers=2, num_attention_heads=4)
GEMMA = TINY | dict(intermediate_size=96, num_key_value_heads=2, head_dim=16, max_position_embeddings=CONTEXT)
# OPT's table of positions has two rows more, and the context has another name in MPT.
OPT = hf.OPTConfig(**TINY, ffn_dim=96, word_embed_proj_dim=64, max_position_embeddings=CONTEXT)
MPT = hf.MptConfig(vocab_size=60, d_model=64, n_heads=4, n_layers=2, max_seq_len=CONTEXT)
MODELS = {
    "opt": (hf.OPTForCausalLM, OPT, True), "mpt": (hf.MptForCausalLM, MPT, False),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config(**GEMMA, sliding_window=24), False),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_every_method_writes_what_transformers_writes(name, tmp_path):
    kind, config, trees = MODELS[name]
    torch.manual_seed(0)
    model = kind(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # So large that no two tokens are about as good.
            _ = parameter.dim() > 1 and parameter.normal_(0, 0.3)
    model.generation_config.eos_token_id = model.config.eos_token_id = None
    target = folder(tmp_path / "target", model)
    ids = load_pair(str(target)).encode(TEXT[0])
    theirs = model.generate(torch.tensor([ids]), max_new_tokens=CONTEXT - len(ids), do_sample=False, pad_token_id=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * parameter.std(correction=0) * torch.randn_like(parameter)
    engine = ready(replace(load_pair(f"{target} + {folder(tmp_path / 'draft', model)}"), eos=frozenset()))
    assert engine.pair.target.supports_tree == trees
    methods = [id for id, method in METHODS.items() if id != "rest" and (trees or not method.trees)]
    for method in methods:
        trace = traced(engine, method, TEXT[0], max_new_tokens=99)
        assert runs.summary(trace)["token_ids"] == theirs[0, len(ids) :].tolist(), method
        assert trace["end"]["stopped"] == "context"
