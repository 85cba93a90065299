"""Training's command line: a mistake ends in one line, before anything is loaded or written."""

import numpy as np
import pytest

from duoviz.training.__main__ import main


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["draft", "--corpus", "README.md"], "README.md is no corpus: it needs the arrays flat, length, answer"),
        (["draft", "--corpus", "SMALL"], "The last 40 rows of each corpus are for testing: it needs more"),
        (["chances", "--corpus", "nowhere.npz"], "nowhere.npz is no corpus: it needs the arrays flat, length, answer"),
    ],
)
def test_a_training_that_cannot_be_is_told_at_once(arguments, sentence, tmp_path_factory, tmp_path, capsys):
    small, rows = tmp_path_factory.mktemp("other") / "small.npz", np.ones(40, int)
    np.savez(small, flat=rows, length=rows, answer=rows, greedy=rows)
    arguments = [argument.replace("SMALL", str(small)) for argument in arguments]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"duoviz: {sentence}") and told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_training_without_its_package_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("duoviz.training.distillation.find_spec", lambda name: None)
    assert main(["draft", "--out", str(tmp_path)]) == 1
    assert "install requirements-dev.txt" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["draft", "chances"])
def test_what_is_made_in_training_needs_a_place(command, tmp_path, capsys):
    (letter := tmp_path / "letter").write_text("dear")
    assert main([command, "--out", str(letter)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"duoviz: {letter} cannot be written: ") and told.count("\n") == 1
    assert letter.read_text() == "dear"
