"""A trace as a table, a timeline and a page, and the command that writes them."""

import copy
import csv
import io
import json
import os
import re
import time
from pathlib import Path

import pytest

from duoviz.__main__ import main
from duoviz.models.cache import cache_folder
from duoviz.notebook import Run
from duoviz.trace.exports import token_rows
from tests.app import ROOT
from tests.tiny import tiny_engine, traced
from tests.trace.made import made, node, step

HOSTILE = ["=cmd|' /C calc'!A0", "a,b;c\nd", '"quoted"', "</script><script>alert(1)</script>", "\u2028", "é"]


@pytest.fixture(scope="module")
def trace():
    return traced(tiny_engine(noise=0.3), max_new_tokens=40)


@pytest.fixture
def hostile(trace):
    changed = copy.deepcopy(trace)
    for each, text in zip(changed["iterations"], HOSTILE * 40, strict=False):
        for entry in (*each["committed"], *each["drafted"], *each["candidates"]):
            entry["text"] = text
    return changed


@pytest.fixture
def file(hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.duoviz.json"
    path.write_text(json.dumps(hostile))
    return path


def rows_of(table):
    return list(csv.DictReader(io.StringIO(table, newline="")))


def test_the_table_has_a_row_an_iteration_that_adds_up(trace):
    rows = rows_of(Run(trace).to_csv())
    assert len(rows) == len(trace["iterations"])
    assert sum(int(row["new_tokens"]) for row in rows) == 40
    assert "".join(row["text"] for row in rows) == trace["end"]["text"]
    for row, each in zip(rows, trace["iterations"], strict=True):
        assert float(row["target_end"]) == each["target"]["end"] and float(row["sync"]) == each["sync"]
        assert row["k"] == ("" if each["sequences"] is None else str(each["sequences"]))
        assert row["outcome"] == each["verdict"]["outcome"]
        busy = sum(step["end"] - step["start"] for step in each["draft"])
        assert float(row["draft_busy"]) == pytest.approx(busy, abs=1e-6)


@pytest.mark.parametrize("overlap, mode", [("beside", "parallel"), ("in_turn", "sequential")])
def test_the_table_says_how_duotrees_draft_worked(overlap, mode):
    trace = traced(tiny_engine(noise=0.3), "duotree", max_new_tokens=24, overlap=overlap)
    rows = rows_of(Run(trace).to_csv())
    assert rows[0]["mode"] == "prefill" and rows[2]["mode"] == mode


def test_of_equal_tokens_each_has_its_own_chances():
    checked = [node("accepted") | {"id": 7, "q": q, "p": 2 * q} for q in (0.5, 0.25)]
    rows = token_rows(made("speculative", [step(0.1, ids=[7, 7], sources=["draft"] * 2, checked=checked)]))
    assert [(row["q"], row["p"]) for row in rows] == [(0.5, 1.0), (0.25, 0.5)]


def test_the_tables_columns_are_documented(trace):
    told = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").partition("The columns of `to_pandas()`")[2]
    heads = re.findall(r"^\| (`.*?`) \|", told.partition("The columns of")[0], re.MULTILINE)
    assert re.findall(r"\w+", ", ".join(heads)) == list(rows_of(Run(trace).to_csv())[0])


@pytest.mark.parametrize("kind, name", [("csv", "run.csv"), ("perfetto", "run.perfetto.json"), ("html", "run.html")])
def test_the_command_writes_beside_and_where_it_is_told(file, hostile, tmp_path, capsys, kind, name):
    assert main(["export", str(file), "--to", kind]) == 0
    assert capsys.readouterr().out == f"{name}\n"
    assert main(["export", str(file), "--to", kind, "--out", str(tmp_path / "other")]) == 0
    saved = Run(hostile).save(tmp_path / f"saved.{name}").read_text(encoding="utf-8")
    assert {(tmp_path / each).read_text(encoding="utf-8") for each in (name, "other")} == {saved}


def test_a_replay_holds_its_trace_as_text_and_reaches_for_nothing(hostile):
    page = Run(hostile).to_html()
    held = re.search(r'<script type="application/json" id="trace">(.*?)</script>', page, re.DOTALL).group(1)
    assert "<" not in held and json.loads(held) == hostile
    names = r"http://www\.w3\.org/\S+|https://json-schema\.org/[\w/-]+"
    assert page.count("<script") == 3 and "://" not in re.sub(names, "", page)


def test_a_saved_run_is_shown_in_the_browser(file, hostile, capsys, monkeypatch):
    opened, folder = [], cache_folder() / "opened"
    monkeypatch.setattr("webbrowser.open", opened.append)
    folder.mkdir(parents=True, exist_ok=True)
    for name, days in (("old.html", 2), ("new.html", 0)):
        (folder / name).write_text("")
        os.utime(folder / name, (time.time() - days * 86400,) * 2)
    for _ in range(2):
        assert main(["open", "run.duoviz.json"]) == 0
    assert sorted(file.name for file in folder.iterdir()) == ["new.html", "run.duoviz.json.html"]
    opened.pop()
    page = Path(capsys.readouterr().out.split()[-1])
    assert opened == [page.as_uri()]
    assert page.read_text() == Run(hostile).to_html()
    assert main(["open", "no.json"]) == 1
    assert capsys.readouterr().err.startswith("duoviz: There is no file")


@pytest.mark.parametrize(
    "content, options, sentence",
    [
        (None, ["--to", "csv"], "There is no file"),
        (b"{}", ["--to", "csv"], '"header" is missing'),
        ("trace", ["--to", "csv", "--out", "run.duoviz.json"], "--out would overwrite the trace"),
        ("trace", ["--to", "csv", "--out", "no/such/folder/x.csv"], "cannot be written"),
        ("trace", ["--to", "csv", "--out", "."], "cannot be written"),
    ],
)
def test_mistakes_are_told_in_one_line(file, capsys, content, options, sentence):
    before = file.read_text()
    if content is None:
        file.unlink()
    elif content != "trace":
        file.write_bytes(content)
    assert main(["export", "run.duoviz.json", *options]) == 1
    told = capsys.readouterr().err
    assert told.startswith("duoviz: ") and sentence in told and told.count("\n") == 1
    assert content != "trace" or file.read_text() == before
