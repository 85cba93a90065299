"""Runs and races as objects: what they hold, what they are saved as, and what reads it again."""

import csv
import io
import json
import subprocess
import sys

import pytest

import duoviz
from duoviz.__main__ import main
from duoviz.decoding import METHODS
from duoviz.folders import ASSETS
from duoviz.trace.exports import perfetto_events
from duoviz.trace.metrics import metrics
from duoviz.web.replay import replay_page
from tests.app import ROOT
from tests.tiny import tiny_engine

SETTINGS = duoviz.Settings(max_new_tokens=24)
FILES = ("zip", "html", "csv")
RECORDED = sorted((ASSETS / "traces" / "story").glob("*.duoviz.json"))


@pytest.fixture(scope="module")
def run():
    return duoviz.run(tiny_engine(noise=0.3), "speculative", "hello", SETTINGS)


@pytest.fixture(scope="module")
def race():
    return duoviz.race(tiny_engine(noise=0.3), ["vanilla", "speculative"], "hello", SETTINGS, repeats=2)


def test_a_run_is_what_its_events_say(run):
    events = list(duoviz.generate(tiny_engine(noise=0.3), "speculative", "hello", SETTINGS))
    assert [event["type"] for event in events] == ["header"] + ["iteration"] * len(run.iterations) + ["end"]
    assert run.text == events[-1]["end"]["text"] and run.stopped == "length" and run.message == ""
    assert run.metrics == metrics(run.trace) and run.metrics["new_tokens"] == 24
    tokens = run.tokens_to_pandas()
    assert list(tokens["id"]) == run.token_ids and "".join(tokens["text"]) == run.text
    assert list(tokens["iteration"]) == [each["index"] for each in run.iterations for _ in each["committed"]]
    assert set(tokens["source"]) == {"draft", "target"}
    assert tokens["p"].notna().all() and (tokens["q"].notna() == (tokens["source"] == "draft")).all()
    lines = run.to_pandas()
    assert list(lines.columns) == run.to_csv().splitlines()[0].split(",")
    assert "".join(lines["text"]) == run.text and lines["new_tokens"].sum() == 24
    assert repr(run).startswith("<Run of speculative: 24 tokens, ")


def test_what_is_saved_is_read_again(run, race, tmp_path):
    names = "a.json", "a.html", "a.csv", "a.perfetto.json"
    made = {name: run.save(tmp_path / name).read_bytes().decode() for name in names}
    assert duoviz.open(tmp_path / "a.json").trace == run.trace
    assert made["a.html"] == replay_page(json.dumps(run.trace, ensure_ascii=False))
    assert made["a.csv"] == run.to_csv()
    assert json.loads(made["a.perfetto.json"]) == perfetto_events(run.trace)
    again = duoviz.open(race.save(tmp_path / "b.json"))
    assert again.table.equals(race.table) and again.result == race.result
    assert [each.trace for each in again.runs] == [each.trace for each in race.runs]
    with pytest.raises(duoviz.UserError, match=r"a\.txt: end the file's name with one of \.html"):
        run.save(tmp_path / "a.txt")
    with pytest.raises(duoviz.UserError, match="nowhere"):
        run.save(tmp_path / "nowhere" / "a.json")


def test_a_race_is_a_line_a_run_and_a_line_a_lane(race, tmp_path):
    assert race.to_pandas()["lane"].tolist() == ["vanilla", "speculative", "speculative", "vanilla"]
    assert race.table["method"].tolist() == ["vanilla", "speculative"] and race.table["same_text"].tolist() == [2, 2]
    assert race.table["tau"][1] == race.runs[1].metrics["tau"] > 1
    lines = list(csv.DictReader(io.StringIO(race.save(tmp_path / "a.csv").read_text())))
    assert [line["text"] for line in lines] == [each.text for each in race.runs]
    assert race.result["verdict"]["verdict"] == "equal"
    assert "speculative" in race._repr_html_()


def test_a_race_of_more_lanes_or_prompts_is_saved_run_by_run(tmp_path):
    hot = duoviz.Lane("hot", "vanilla", duoviz.Settings(max_new_tokens=4, temperature=1.0))
    settings = duoviz.Settings(max_new_tokens=4)
    race = duoviz.race(tiny_engine(), ["vanilla", hot, "speculative"], ["a", "b"], settings)
    assert len(race.runs) == 6 and race.to_pandas()["prompt"].nunique() == 2
    with pytest.raises(duoviz.UserError, match="two lanes on one prompt"):
        race.save(tmp_path / "a.json")
    assert not (tmp_path / "a.json").exists()


def test_what_is_no_race_is_refused_in_a_sentence(tmp_path, race):
    value = race.file()
    first = value["recordings"][0]
    header = {name: part for name, part in first["trace"]["header"].items() if name != "target"}
    headless = first | {"trace": first["trace"] | {"header": header}}
    spoilt = {
        "schema 2": value | {"schema": 2},
        '"lanes" is missing': {name: value[name] for name in value if name != "lanes"},
        'Run 1 of .* "header.target" is missing': value | {"recordings": [headless]},
    }
    for words, content in spoilt.items():
        (tmp_path / "a.json").write_text(json.dumps(content))
        with pytest.raises(duoviz.UserError, match=words):
            duoviz.open(tmp_path / "a.json")


def test_the_labs_results_are_an_object_with_the_same_verbs(tmp_path):
    (tmp_path / "q.txt").write_text("hello\nabc\n")
    said, options = [], {"questions": tmp_path / "q.txt", "methods": ["speculative"], "max_new_tokens": 6}
    engine, out = tiny_engine(noise=0.3), tmp_path / "out"
    results = duoviz.bench(engine, **options, table_1=True, out=out, report=said.append)
    assert said[-1].startswith("6 of 6 answers: ") and not results.forwards
    lines = results.to_pandas()
    assert lines["lane"].tolist() == [row["model_id"] for row in results.rows] and len(lines) == 6
    assert lines["tps"].tolist() == pytest.approx([6 / seconds for seconds in lines["seconds"]])
    of_sps = results.tables["table-1"].query("Method == 'SpS' and column == 'φ over vanilla'")
    assert of_sps["n"].tolist() == [2] and (of_sps["value"] > 0).all()
    assert results.figures["figure-3"].data and "Table 1" in results._repr_html_()
    made = {kind: results.save(tmp_path / f"a.{kind}").read_bytes().decode(errors="replace") for kind in FILES}
    assert len(made["csv"].splitlines()) == 7 and "<title>duoviz Lab: out" in made["html"]
    for place in (out, tmp_path / "a.zip"):
        again = duoviz.open(place)
        assert (again.plan, again.environment) == (results.plan, results.environment)
        assert [*map(str, again.rows)] == [*map(str, results.rows)]
    # What the folder holds is not measured again, and without a folder nothing stays.
    assert duoviz.bench(engine, **options, table_1=True, out=out).rows == results.rows
    assert len(duoviz.bench(engine, **options, table_1=True).rows) == 6


def test_the_results_that_come_along_are_opened_and_shipped_as_they_lie(tmp_path):
    file = ASSETS / "results" / "two-cores.zip"
    assert len(duoviz.open(file).tables["table-1"]) > 50
    assert main(["ship", str(file), "--name", "again", "--out", str(tmp_path)]) == 0
    assert duoviz.open(tmp_path / "again.zip").rows == duoviz.open(file).rows


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.name)
def test_a_notebook_shows_every_recording_in_a_frame_of_bounded_size(file):
    shown = duoviz.open(file)._repr_html_()
    assert shown.startswith("<iframe sandbox='allow-scripts allow-downloads'") and len(shown.encode()) <= 500_000


def test_a_run_too_long_for_a_notebook_says_how_to_see_it(run, monkeypatch):
    monkeypatch.setattr("duoviz.web.replay.MOST_IN_A_FRAME", 1000)
    assert "run.save('run.html')" in run._repr_html_() and "iframe" not in run._repr_html_()


def test_every_method_is_one_for_a_type_checker():
    from duoviz.api import Method

    assert list(Method.__args__) == list(METHODS)


def test_every_public_name_is_there_and_what_only_reads_needs_no_torch():
    code = """if True:
        import sys, duoviz
        run = duoviz.open(sys.argv[1])
        run._repr_html_(), run.to_pandas(), duoviz.Settings(), duoviz.Lane, duoviz.Race
        assert "torch" not in sys.modules
        assert {*duoviz.__all__, "open"} <= {*dir(duoviz)}
        [getattr(duoviz, name) for name in dir(duoviz)]
    """
    subprocess.run([sys.executable, "-c", code, RECORDED[0]], cwd=ROOT, check=True)
