"""The Lab's job on the hardware, and what the tab is sent."""

import json

import pytest

from duoviz.lab.plan import make_plan
from duoviz.lab.results import load, zipped
from duoviz.lab.rows import key
from duoviz.lab.tasks import LabError
from duoviz.web import lab_run
from duoviz.web.app import build_app
from duoviz.web.lab_run import LabRun, available, folder_named
from duoviz.web.pages.lab import PARTS, take_in
from tests.lab.conftest import QUESTIONS, hold_after
from tests.web.conftest import events_of, start


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lab_run, "RECORDED", tmp_path / "recorded")
    (tmp_path / "recorded").mkdir()


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return file


def lab_run_of(file, **options):
    """Two lanes on the six good questions of eight."""
    plan = make_plan(quick=True, file=file, methods=["vanilla"], max_new_tokens=8, **options)
    return LabRun(pair="embedded", plan=plan, path=folder_named("mine"))


def test_a_run_is_shown_as_it_goes_and_has_a_report_at_its_end(hardware, questions, monkeypatch):
    monkeypatch.setattr(lab_run, "LOOK_EVERY", 0)
    job = lab_run_of(questions)
    hardware.start(job)
    events = events_of(hardware, job)
    progress = [event["progress"] for event in events if event["type"] == "progress"]
    looks = [len(event["results"].rows) for event in events if event["type"] == "results"]
    assert looks == sorted(looks) and looks[0] == 0 and looks[-1] == 12 and len(set(looks)) == 13
    assert progress[-1].done == progress[-1].total == 16
    assert events[-1] == {"type": "end", "stopped": False}
    assert (job.path / "report.html").is_file() and list(available(recorded_only=False)) == ["mine"]
    shown = {part.name for event in events if event["type"] == "results" for part in event["sections"]}
    assert shown <= set(PARTS) and "table-1" in shown


def test_a_visitor_who_leaves_loses_no_answer_and_the_next_one_gets_the_place(hardware, questions, monkeypatch):
    job = lab_run_of(questions, repeats=5)
    with monkeypatch.context() as patched:
        hold_after(4, patched)
        hardware.start(job)
        stream = hardware.batches(job)
        while not any(event["type"] == "progress" and event["progress"].done == 4 for event in next(stream)):
            pass
        # The tab is closed.
        stream.close()
        assert events_of(hardware, start(hardware))[-1]["type"] == "end"
    kept = load(job.path)
    assert len(kept.rows) == 4 and (job.path / "report.html").is_file()
    again = lab_run_of(questions, repeats=1)
    hardware.start(again)
    events_of(hardware, again)
    rows = load(job.path).rows
    assert all(row in rows for row in kept.rows) and len({key(row) for row in rows}) == len(rows) >= 12


def test_mistakes_reach_the_visitor_in_a_sentence(hardware, questions):
    hardware.start(first := lab_run_of(questions))
    events_of(hardware, first)
    plan = make_plan(file=questions, methods=["vanilla"], max_new_tokens=9)
    hardware.start(other := LabRun(pair="embedded", plan=plan, path=first.path))
    assert events_of(hardware, other)[-1] == {"type": "error", "message": other.error}
    assert "another max new tokens" in other.error
    for name in ("", "../up", "a/b", ".hidden", "x" * 61):
        with pytest.raises(LabError, match="A name has letters"):
            folder_named(name)


def test_a_loaded_zip_is_kept_under_a_name_of_its_own(hardware, questions, tmp_path):
    hardware.start(job := lab_run_of(questions))
    events_of(hardware, job)
    file = tmp_path / "mine.zip"
    file.write_bytes(zipped(job.path))
    update, told = take_in(str(file), ["other"])
    assert update["value"] == ["other", "mine 2"] and told == ""
    assert set(available(recorded_only=False)) == {"mine", "mine 2"} and available(recorded_only=True) == {}
    assert load(available(recorded_only=False)["mine 2"]).rows == load(job.path).rows
    file.write_bytes(b"nothing")
    assert "holds no results" in take_in(str(file), [])[1]


def test_a_space_shows_recorded_results_and_runs_nothing(make_hardware, hardware, questions, tmp_path):
    hardware.start(job := lab_run_of(questions))
    events_of(hardware, job)
    (tmp_path / "recorded" / "then.zip").write_bytes(zipped(job.path))
    space = build_app(make_hardware(on_space=True))
    ids = {getattr(block, "elem_id", None) for block in space.blocks.values()}
    assert {"lab-results", "lab-save", "lab-table-1"} <= ids
    assert not {"lab-run", "lab-stop", "lab-load", "lab-name"} & ids
    functions = {each.name: each.fn for each in space.fns.values()}
    assert "measure" not in functions and "take_in" not in functions
    assert functions["look"]([])["choices"] == functions["look"](["mine"])["value"] == ["then"]
    shown = {block.elem_id: update for block, update in functions["show"](["then"]).items()}
    assert "Table 1" in shown["lab-table-1"]["value"] and shown["lab-table-1"]["visible"]
    assert shown["lab-save"]["interactive"] and not shown["lab-table-4"]["visible"]
    shown = {block.elem_id: update for block, update in functions["show"]([]).items()}
    assert "No results are shown" in shown["lab-about"]["value"] and not shown["lab-table-1"]["visible"]
    assert not shown["lab-save"]["interactive"]
    assert functions["show"](["mine"]) == functions["show"]([])
