"""The Python in the docs runs as it stands, on a tiny pair."""

import re

import pytest

from tests.app import ROOT
from tests.tiny import tiny_engine

PAGES = ["docs/python.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_python_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("duoviz.decoding.engine.load_engine", lambda *names: tiny_engine(noise=0.3))
    blocks, names = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL), {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert blocks
