"""The command line: results on stdout, mistakes in one line on stderr, never a traceback."""

import json

import pytest

from duoviz import __main__ as command_line
from duoviz.__main__ import main
from tests.conftest import tiny_pair


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(command_line, "load_pair", lambda name, progress: tiny_pair(context=640))


def test_generate_prints_one_json_object_last(capsys, tmp_path):
    file = tmp_path / "run.duoviz.json"
    assert main(["generate", "hello", "--max-new-tokens", "12", "--json", "--trace", str(file)]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(result) >= {"text", "token_ids", "settings", "metrics"}
    assert {
        "tps",
        "ttft",
        "tau",
        "acceptance",
        "yield",
        "overlap",
        "idle_target",
        "idle_draft",
        "new_tokens",
        "target_forwards",
    } <= set(result["metrics"])
    assert len(result["token_ids"]) == 12 and result["settings"]["method"] == "duodecoding"
    assert json.loads(file.read_text())["end"]["text"] == result["text"]


def test_sampling_options_reach_the_run(capsys):
    def text(*options):
        assert main(["generate", "hello", "--max-new-tokens", "20", "--json", *options]) == 0
        return json.loads(capsys.readouterr().out.splitlines()[-1])["token_ids"]

    sampled = ["--temperature", "1.1", "--top-k", "12", "--top-p", "0.9", "--seed", "4"]
    assert text(*sampled) == text(*sampled) == text(*sampled, "--method", "vanilla") != text()
    assert text(*sampled) != text(*sampled[:-1], "5")
    assert len(text(*sampled, "--acceptance", "rejection")) == 20


def test_compare(capsys, tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question_id": 1, "category": "qa", "turns": ["one", "two"]}\n')
    assert main(["compare", "--prompts", str(file), "--max-new-tokens", "5", "--repeats", "1", "--json"]) == 0
    table = json.loads(capsys.readouterr().out.splitlines()[-1])["table"]
    assert [line["method"] for line in table] == ["duodecoding", "vanilla", "vanilla"]


def test_calibrate(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    assert main(["calibrate", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["draft"][0]) == 8


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["generate", ""], "prompt is empty"),
        (["generate", "x" * 700], "too long"),
        (["generate", "hi", "--max-new-tokens", "0"], "max_new_tokens must be"),
        (["generate", "hi", "--max-new-tokens", "1000000"], "max_new_tokens must be"),
        (["generate", "hi", "--sequences", "nine"], "sequences must be"),
        (["generate", "hi", "--budget", "-1"], "budget must be"),
        (["generate", "hi", "--temperature", "2.5"], "temperature must be a number from 0 to 2"),
        (["generate", "hi", "--temperature", "nan"], "temperature must be a number from 0 to 2"),
        (["generate", "hi", "--top-k", "-1"], "top_k must be"),
        (["generate", "hi", "--top-p", "0"], "top_p must be a number from 0.01 to 1"),
        (["generate", "hi", "--seed", "-1"], "seed must be"),
        (["generate", "hi", "--acceptance", "odd"], "acceptance must be one of coupled, rejection"),
        (["generate", "hi", "--draft-mode", "odd"], "draft_mode must be"),
        (["generate", "hi", "--method", "magic"], "no method named"),
        (["generate", "hi", "--trace", "/no/such/folder/x.json"], "cannot be written"),
        (["generate", "hi", "--trace", "."], "cannot be written"),
        (["compare", "--prompts", "missing.jsonl"], "cannot be read"),
        (["compare", "--prompts", "hi", "--repeats", "0"], "at least 1"),
    ],
)
def test_mistakes(arguments, part, capsys):
    assert main(arguments) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("duoviz: ")]
    assert len(errors) == 1 and part in errors[0]


def test_unknown_pair(monkeypatch, capsys):
    monkeypatch.undo()
    assert main(["generate", "hi", "--pair", "nobody"]) == 1
    assert "There is no pair named 'nobody'; there are: embedded, " in capsys.readouterr().err


def test_arguments_that_cannot_be_read(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["generate", "hi", "--max-new-tokens", "many"])
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("line", ["{", "[]", '{"turns": []}', '{"turns": "abc"}', '{"turns": [5]}'])
def test_questions_in_another_format(line, tmp_path, capsys):
    file = tmp_path / "questions.jsonl"
    file.write_text(line + "\n")
    assert main(["compare", "--prompts", str(file)]) == 1
    assert "not in the question format" in capsys.readouterr().err


def test_a_method_named_twice_runs_once(capsys):
    arguments = ["compare", "--prompts", "hi", "--methods", "duodecoding,duodecoding", "--max-new-tokens", "3"]
    assert main([*arguments, "--repeats", "1"]) == 0
    assert capsys.readouterr().out.count("duodecoding") == 1


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["draft", "--tokens", "0"], "--tokens must be at least 1."),
        (["draft", "--layers", "99"], "--layers must be a whole number from 1 to 8, not 99."),
        (["sweep", "--corpus", "nowhere.npz"], "There is no corpus file nowhere.npz."),
        (["draft", "--corpus", "README.md"], "README.md is no corpus: it needs the arrays flat, length, answer"),
        (["corpus", "--rows", "0"], "--rows and --slots must be at least 1."),
    ],
)
def test_a_training_that_cannot_be_is_told_at_once(arguments, sentence, tmp_path, capsys):
    assert main(["train", *arguments, "--out", str(tmp_path / "out.npz")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"duoviz: {sentence}") and told.count("\n") == 1
    assert not list(tmp_path.iterdir())
