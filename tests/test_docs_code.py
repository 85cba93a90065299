"""The Python in the docs runs as it stands, on tiny models."""

import re
from importlib.util import find_spec

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from duoviz import Run
from tests.app import ROOT
from tests.models import folders
from tests.models.small_gguf import write_gguf
from tests.tiny import tiny_engine


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/other-engines.md"])
def test_every_block_of_python_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("duoviz.decoding.engine.load_engine", lambda *names: tiny_engine(noise=0.3))
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda name: folders.tokenizer())
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda name: folders.llama().eval())
    write_gguf(tmp_path / "model.gguf")
    blocks, names = blocks_of(page), {}
    # That engine's package is no requirement.
    for block in blocks if find_spec("llama_cpp") else [each for each in blocks if "llama_cpp" not in each]:
        exec(compile(block, page, "exec"), names)
    assert blocks


def test_the_third_adapter_writes_the_models_own_text():
    block = next(block for block in blocks_of("docs/other-engines.md") if "def write" in block)
    model, tokenizer = folders.llama().eval(), folders.tokenizer()
    names = {"model": model, "tokenizer": tokenizer}
    exec(block[: block.index("\nrun = ")], names)
    prompt = tokenizer("the cat sat on the mat", return_tensors="pt")["input_ids"]
    options = {"do_sample": False, "max_new_tokens": 80, "eos_token_id": None, "pad_token_id": 0}
    own = model.generate(prompt, **options)
    run = Run(names["write"]("the cat sat on the mat", 80))
    assert run.token_ids[:80] == own[0, prompt.shape[1] :].tolist() and run.metrics["acceptance"] > 0
