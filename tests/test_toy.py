"""A method that a test adds, in one object, works everywhere with no other file touched."""

import json
import sys

import pytest

from duoviz import commands
from duoviz.__main__ import main
from duoviz.decoding import METHODS
from duoviz.errors import UserError
from duoviz.lab.bench import bench
from duoviz.lab.plan import OTHER, make_plan
from duoviz.lab.report import report_html, sections
from duoviz.lab.results import load, opened
from duoviz.notebook import Run
from duoviz.options import parser
from duoviz.trace.explanation import explain
from duoviz.trace.exports import perfetto_events
from duoviz.trace.reading import checked_trace
from tests.tiny import tiny_engine, traced
from tests.toy import TOY


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(METHODS, TOY.id, TOY)


def test_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: tiny_engine())
    assert main(["generate", "hello", "--method", "again", "--max-new-tokens", "8", "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["settings"]["method"] == "again" and len(result["token_ids"]) == 8
    assert main(["compare", "--prompts", "hello", "--methods", "again", "--max-new-tokens", "4", "--repeats", "1"]) == 0
    assert "again" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["duoviz"])
    with pytest.raises(SystemExit):
        parser().parse_args(["generate", "--help"])
    usage = " ".join(capsys.readouterr().out.split())
    assert "duotree, again; default" in usage and "lookahead, duotree, again)" in usage


def test_the_trace_its_exports_and_the_sentences():
    trace, vanilla = (traced(tiny_engine(), method, max_new_tokens=24) for method in ("again", "vanilla"))
    run = Run(trace)
    assert run.token_ids == Run(vanilla).token_ids
    assert checked_trace(json.loads(json.dumps(trace)), "toy")["header"]["about"]["title"] == "Again"
    assert run.to_csv().count("\n") == len(run.iterations) + 1 and perfetto_events(trace)
    assert any("proposed" in sentence for sentence in explain(("Vanilla", "Again"), (vanilla, trace)))


def test_a_trace_says_how_its_method_is_shown_where_it_is_not_known(monkeypatch):
    trace = traced(tiny_engine(), "again", max_new_tokens=24)
    monkeypatch.delitem(METHODS, "again")
    trace = json.loads(json.dumps(trace))
    assert checked_trace(trace, "toy")["header"]["method"] == "again"
    del trace["header"]["about"]
    with pytest.raises(UserError, match='"header.method" is missing or wrong'):
        checked_trace(trace, "toy")


def test_the_lab(tmp_path):
    questions = tmp_path / "questions.txt"
    questions.write_text("tell me\ndef f\n")
    plan = make_plan(quick=True, file=questions, methods=["again", "speculative"], max_new_tokens=6)
    with opened(tmp_path / "toy") as folder:
        list(bench(tiny_engine(), plan, folder))
    results = load(tmp_path / "toy")
    assert {row["verdict"] for row in results.rows if row["model_id"] == "again"} == {"equal"}
    report = report_html(results, sections(results))
    data = json.loads(report.partition('id="data">')[2].partition("</script>")[0])
    drawn = {trace.get("name") for drawing in data["drawings"].values() for trace in drawing["data"]}
    assert ">Again<" in report and "Again" in drawn and OTHER.colour in report
