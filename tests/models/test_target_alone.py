"""A target without a draft, for the methods that need none."""

import re

import pytest

from duoviz import commands, runner
from duoviz.__main__ import main
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.errors import UserError
from tests.models.folders import TEXT, bloom, folder, llama, neox

NEEDS_A_DRAFT = 'is a target without a draft, which this needs: write "TARGET + DRAFT".'


@pytest.mark.parametrize("make", [llama, neox, bloom])
def test_methods_without_a_draft_run(make, tmp_path):
    model = make()
    name = str(folder(tmp_path, model))
    settings = Settings(max_new_tokens=8)
    with load_engine(name) as engine:
        # REST's datastore is of another tokenizer; Lookahead's trees not every model reads.
        methods = ["vanilla", "prompt_lookup", *(["lookahead"] if engine.pair.target.supports_tree else [])]
        runs_of = {method: runner.collect(runner.stream(engine, method, TEXT[0], settings)) for method in methods}
        assert len({trace["end"]["text"] for trace in runs_of.values()}) == 1 and runs_of["vanilla"]["end"]["text"]
        assert engine.pair.memory == {"cpu": 4 * sum(p.numel() for p in model.parameters())}
        with pytest.raises(UserError, match=re.escape(NEEDS_A_DRAFT)):
            engine.draft(beside=False)
        with pytest.raises(DraftDied, match=re.escape(NEEDS_A_DRAFT)):
            engine.draft(beside=True)


@pytest.mark.parametrize(
    "command",
    [["generate", "hi"], ["compare", "--prompts", "hi"], ["bench", "--out", "x"]],
    ids=lambda command: command[0],
)
def test_what_needs_a_draft_says_so_before_anything_is_loaded(command, two, monkeypatch, capsys):
    monkeypatch.setattr(commands, "load_engine", None)
    assert main([*command, "--pair", str(two[0])]) == 1
    told = capsys.readouterr().err
    assert told.startswith("duoviz: ") and told.endswith(f"{NEEDS_A_DRAFT}\n") and told.count("\n") == 1
