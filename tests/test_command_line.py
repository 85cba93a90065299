"""The command line: results on stdout, mistakes in one line on stderr, never a traceback."""

import csv
import json
import os
from io import BytesIO, TextIOWrapper

import pytest

from duoviz import commands
from duoviz.__main__ import main
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.worker.protocol import DraftDied
from tests.tiny import Failing, draft_with, tiny_engine


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: tiny_engine(context=640))


def test_generate_prints_one_json_object_last_of_a_run_with_its_options(capsys, tmp_path):
    file = tmp_path / "run.duoviz.json"
    options = ["--temperature", "1.1", "--top-k", "12", "--top-p", "0.9", "--seed", "4", "--acceptance", "rejection"]
    asked = {"temperature": 1.1, "top_k": 12, "top_p": 0.9, "seed": 4, "acceptance": "rejection", "raw": False}
    assert main(["generate", "hello", "--max-new-tokens", "12", "--json", "--trace", str(file), *options]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(result) == {"text", "token_ids", "stopped", "settings", "metrics"} and len(result["token_ids"]) == 12
    assert result["settings"].items() >= (asked | {"method": "duodecoding"}).items()
    assert json.loads(file.read_text())["end"]["text"] == result["text"]


def test_without_a_run_no_trace_file_stays_and_nothing_else_goes(capsys, tmp_path):
    empty, full = tmp_path / "new.json", tmp_path / "old.json"
    full.write_text("mine")
    for file in (empty, full):
        assert main(["generate", "word " * 3000, "--raw", "--trace", str(file)]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["old.json"] and full.read_text() == "mine"


def test_compare_asks_the_first_turn_of_each_question_and_a_method_named_twice_once(capsys, tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question_id": 1, "category": "qa", "turns": ["one", "two"]}\n')
    arguments = ["compare", "--prompts", str(file), "--max-new-tokens", "5", "--repeats", "1", "--json"]
    assert main([*arguments, "--methods", "duodecoding,duodecoding"]) == 0
    table = json.loads(capsys.readouterr().out.splitlines()[-1])["table"]
    assert [(line["method"], line["runs"]) for line in table] == [("vanilla", 1), ("vanilla", 1), ("duodecoding", 1)]
    file.write_text('{"turns": []}')
    assert main(arguments) == 1
    assert capsys.readouterr().err == f"duoviz: {file} has a question without turns: write one at least.\n"


def test_compare_tells_agreement_and_reasons_and_keeps_the_traces(capsys, tmp_path):
    arguments = ["compare", "--prompts", "hello", "--methods", "speculative,duodecoding", "--max-new-tokens", "5"]
    folder = tmp_path / "new" / "traces"
    table = tmp_path / "runs.csv"
    assert main([*arguments, "--repeats", "2", "--json", "--trace", str(folder), "--csv", str(table)]) == 0
    *shown, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert [line for line in shown if line.startswith("duodecoding")][0].endswith("  2/0/0")
    assert {each["verdict"] for each in found["agreements"]} == {"equal"} and len(found["agreements"]) == 6
    assert set(found["reasons"]) == {"speculative", "duodecoding"}
    assert found["reasons"]["speculative"][0] in " ".join(shown)
    assert found["disturbance"] is None
    traces = {file.name: json.loads(file.read_text()) for file in folder.iterdir()}
    with table.open(newline="", encoding="utf-8") as file:
        lines = [(line["lane"], line["cores"], line["repeat"]) for line in csv.DictReader(file)]
    assert len(set(lines)) == 8 and ("vanilla", "target", "1") in lines
    assert len(traces) == 8 and traces["001-vanilla-target-2.duoviz.json"]["header"]["settings"]["cores"] == "target"


def test_compare_concludes_nothing_on_a_busy_machine(capsys, monkeypatch):
    monkeypatch.setattr("duoviz.comparison.LARGEST_SPREAD", 0.99)
    arguments = ["compare", "--prompts", "hello", "--methods", "speculative", "--max-new-tokens", "5"]
    assert main([*arguments, "--repeats", "2", "--json"]) == 0
    told = capsys.readouterr().out
    found = json.loads(told.splitlines()[-1])
    assert found["disturbance"] in told.splitlines() and found["reasons"] == {}
    assert all(line["phi"] and line["tps"] for line in found["table"])


def test_a_method_that_fails_leaves_the_table_of_those_that_ran(capsys, monkeypatch):
    def dies_after_its_warm_up(plan):
        warms_up = plan.settings.max_new_tokens <= 16
        return Drafter() if warms_up else Failing(DraftDied("The draft process died."), after=0)

    draft_with(monkeypatch, "duodecoding", dies_after_its_warm_up)
    assert main(["compare", "--prompts", "hello", "--methods", "duodecoding", "--max-new-tokens", "18"]) == 1
    told = capsys.readouterr()
    assert told.err.splitlines()[-1] == "duoviz: duodecoding: The draft process died."
    assert [line.split()[:2] for line in told.out.splitlines()[1:]] == [["vanilla", "auto"], ["vanilla", "target"]]


@pytest.mark.parametrize("typed", ["é prompt\n", "\ufeffé prompt\r\n", "é prompt"])
def test_a_prompt_from_standard_input(typed, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(typed.encode())))
    asked = []
    monkeypatch.setattr(commands, "check_prompt", lambda prompt: asked.append(prompt))
    assert main(["generate", "-", "--max-new-tokens", "2"]) == 0 and asked == ["é prompt"]
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"\xff")))
    assert main(["generate", "-"]) == 1
    assert capsys.readouterr().err.endswith("duoviz: Standard input is no text in UTF-8.\n")


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["generate", ""], "prompt is empty"),
        (["generate", "x" * 700], "too long"),
        (["generate", "hi", "--temperature", "2.5"], "Temperature: enter 0 (greedy) or a number from 1e-05 to 2"),
        (["generate", "hi", "--budget", "9" * 5000], "Draft budget γ (budget): enter auto or a whole number from 1 to"),
        (["compare", "--prompts", "hi\udcff"], "The prompt contains an invalid character (an unpaired surrogate)"),
        (["generate", "hi", "--method", "magic"], "no method named"),
        (["generate", "hi", "--trace", "/no/such/folder/x.json"], "cannot be written"),
        (["generate", "hi", "--max-new-tokens", "2", "--trace", "/dev/full"], "/dev/full cannot be written: No space"),
        (["compare", "--prompts", "missing.jsonl"], "cannot be read"),
        (["compare", "--prompts", "hi", "--trace", "README.md"], "README.md cannot be written"),
        (["compare", "--prompts", "hi", "--csv", "no/such.csv"], "no/such.csv cannot be written"),
    ],
)
def test_mistakes(arguments, part, capsys):
    assert main(arguments) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("duoviz: ")]
    assert len(errors) == 1 and part in errors[0]


def test_unknown_pair(monkeypatch, capsys):
    monkeypatch.undo()
    for name, shown in (("nobody", "'nobody'"), ("a + \udcff", r"'a + \udcff'")):
        assert main(["generate", "hi", "--pair", name]) == 1
        assert f"There is no pair named {shown}: choose one of embedded, " in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["generate", "hi", "--max-new-tokens", "many"], "invalid int value: 'many'"),
        (["compare", "--prompts", "hi", "--repeats", "0"], "--repeats: enter a whole number from 1 to 1000, not '0'"),
        (["bench", "--out", "x", "--repeats", "9" * 5000], "--repeats: enter a whole number from 1 to 1000, not '999"),
        (["serve", "--port", "65536"], "--port: enter a whole number from 1 to 65535, not '65536'"),
    ],
)
def test_arguments_that_cannot_be_read(arguments, part, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    told = capsys.readouterr().err
    assert told.startswith("duoviz: argument ") and part in told and told.count("\n") == 1 and len(told) < 400


def test_a_file_without_prompts_is_told_before_anything_is_loaded(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands, "load_engine", None)
    empty, pipe = tmp_path / "empty", tmp_path / "pipe"
    empty.touch()
    os.mkfifo(pipe)
    for file in (empty, pipe, "/dev/null", tmp_path):
        assert main(["compare", "--prompts", str(file)]) == 1
        told = capsys.readouterr().err
        assert told in (
            f"duoviz: {file} has no questions.\n",
            f"duoviz: The questions cannot be read: Is a directory: {file}.\n",
        )
