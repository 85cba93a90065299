"""`python -m duoviz bench`: results in a folder, mistakes in one line."""

import json

import pytest

from duoviz import commands
from duoviz.__main__ import main
from duoviz.lab import bench
from tests.tiny import tiny_engine


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: tiny_engine())


def test_a_run_goes_on_in_the_same_folder_and_stands_beside_another(questions, finished, tmp_path, capsys, monkeypatch):
    out = tmp_path / "new" / "results"
    command = ["bench", "--quick", "--questions", str(questions), "--max-new-tokens", "6", "--out", str(out)]

    def interrupted(*arguments):
        if len(list(out.glob("answers/*.jsonl"))) == 2:
            raise KeyboardInterrupt
        return answer(*arguments)

    answer = bench.answer
    monkeypatch.setattr(bench, "answer", interrupted)
    assert main([*command, "--methods", "vanilla,speculative"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "duoviz: stopped; run the same command again to resume"
    assert (out / "report.html").is_file()
    monkeypatch.undo()
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: tiny_engine())
    assert main([*command, "--methods", "speculative", "--beside", str(finished)]) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == str(out / "report.html")
    assert "answers, less than a minute left: " in shown.err and " tokens/s, equal" in shown.err
    report = (out / "report.html").read_text()
    assert "This is a quick run" in report and "Several results side by side" in report
    rows = [json.loads(line) for line in (out / "answers" / "speculative.jsonl").read_text().splitlines()]
    assert len({row["question_id"] for row in rows}) == len(rows) > 0


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--tasks", "qa,poetry"], "There is no task named 'poetry': choose one of mt_bench,"),
        (["--methods", "magic"], "There is no method named 'magic'"),
        (["--questions", "nowhere.jsonl"], "The questions cannot be read: No such file or directory: nowhere.jsonl."),
        (["--questions", "x.jsonl", "--tasks", "qa"], "Choose either tasks or a file of questions."),
        (["--max-new-tokens", "0"], "Max new tokens (max_new_tokens): enter a whole number from 1 to 4096, not 0."),
        (["--beside", "nowhere"], "nowhere holds no Lab results, or damaged ones: it has no environment.json."),
    ],
)
def test_mistakes_are_told_in_one_line_before_anything_is_loaded(arguments, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands, "load_engine", None)
    assert main(["bench", *arguments, "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"duoviz: {sentence}") and told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["bench", "--tasks", "qa", "--out", str(tmp_path / "file" / "out")]) == 1
    assert " cannot be written: " in capsys.readouterr().err
