"""The Lab's job on the hardware, and what the tab is sent."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from duoviz.errors import UserError
from duoviz.lab.plan import make_plan
from duoviz.lab.results import load, zipped
from duoviz.lab.shipping import ship
from duoviz.web import results_store
from duoviz.web.app import build_app
from duoviz.web.pages import results as page
from duoviz.web.pages.results import take_in
from duoviz.web.results_store import available, folder_named, keep_loaded, loaded_folder, own_folder
from duoviz.workers.tasks import Measurement
from tests.lab.asked import QUESTIONS, hold_after, written
from tests.web.visits import events_of, start, started, visitor


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(results_store, "RECORDED", tmp_path / "recorded")
    results_store.made.cache_clear()
    (tmp_path / "recorded").mkdir()


@pytest.fixture
def questions(tmp_path):
    return written(tmp_path)


def measurement_of(file, **options):
    """Two lanes on the six good questions of eight."""
    plan = make_plan(quick=True, file=file, methods=["vanilla"], max_new_tokens=8, **options)
    return Measurement(pair="embedded", plan=plan, path=folder_named("mine"))


def test_a_run_is_left_and_goes_on_is_shown_meanwhile_and_has_a_report_at_each_end(hardware, tmp_path, monkeypatch):
    task = measurement_of(written(tmp_path, QUESTIONS[4:6]))
    monkeypatch.setattr("duoviz.workers.worker.LOOK_EVERY", 0)
    with monkeypatch.context() as patched:
        hold_after(2, patched)
        stream = hardware.batches(started(hardware, task))
        while not any(event["type"] == "progress" and event["progress"].done == 2 for event in next(stream)):
            pass
        # The tab is closed, and the next visitor gets the place.
        stream.close()
        assert events_of(hardware, start(hardware))[-1]["type"] == "end"
    assert len(load(task.path).rows) == 2 and (task.path / "report.html").is_file()
    (task.path / "report.html").unlink()
    events = events_of(hardware, started(hardware, task))
    progress = [event["progress"] for event in events if event["type"] == "progress"]
    results = [event for event in events if event["type"] == "results"]
    looks = [event["answers"] for event in results]
    assert looks == sorted(looks) and set(looks) >= {3, 4} and progress[-1].done == progress[-1].total == 4
    assert events[-1] == {"type": "end", "stopped": False}
    assert (task.path / "report.html").is_file() and list(available(recorded_only=False)) == ["mine"]
    assert {"table-1", "environment"} <= {*results[-1]["parts"]} and results[-1]["view"]["overview"]["speeds"]["lines"]


def test_mistakes_reach_the_visitor_in_a_sentence(hardware, questions):
    first = measurement_of(questions)
    events_of(hardware, started(hardware, first))
    plan = make_plan(file=questions, methods=["vanilla"], max_new_tokens=9)
    other = started(hardware, Measurement(pair="embedded", plan=plan, path=first.path))
    assert events_of(hardware, other)[-1] == {"type": "error", "message": other.error}
    assert "a different max new tokens" in other.error
    (first.path / "report.html").unlink()
    (first.path / "report.html").mkdir()
    last = started(hardware, measurement_of(questions))
    assert " cannot be written: " in events_of(hardware, last)[-1]["message"]


def functions(hardware):
    """The page's functions by name; of two with one name the Lab's."""
    return {each.name: each.fn for each in build_app(hardware).fns.values()}


def by_id(updates):
    """What the page is sent, by the ids of its components."""
    return {block.elem_id: update for block, update in updates.items()}


@pytest.fixture(scope="module")
def lab(shared_hardware):
    """The functions of a page on which nothing stays behind."""
    return functions(shared_hardware)


ASKED = {"size": "quick", "pair": "embedded", "name": "mine", "tasks": ["qa"], "methods": ["vanilla"]}
NAMES, TICKED = ("", "../up", ".hidden", "x" * 61, "good (loaded)", "a\ud800", None, []), (None, [], "qa", {}, [["qa"]])
MISTAKES = [
    *(({"name": name}, "Name: use letters, digits, spaces, dots, ") for name in NAMES),
    *(({"name": name}, "Name: leave out .zip") for name in ("x.zip", "x.ZIP ")),
    *(({"tasks": ticked}, "Choose at least one task.") for ticked in TICKED),
    ({"methods": []}, "Choose at least one method."),
]


def test_a_measurement_that_cannot_be_is_told(lab):
    for changes, told in MISTAKES:
        (update,) = lab["measure"](visitor("ann"), **ASKED | changes)
        assert told in by_id(update)["lab-status"] and not list(own_folder().glob("*")), changes


def test_a_run_that_ends_before_its_first_answer_leaves_what_is_shown(hardware, questions, monkeypatch):
    hold_after(0, monkeypatch)
    plan = measurement_of(questions).plan
    monkeypatch.setattr(page, "make_plan", lambda **options: plan)
    stream = functions(hardware)["measure"](visitor("ann"), **ASKED)
    shown = by_id(next(stream))
    (job,) = hardware.queue.jobs
    assert not shown["lab-save"]["interactive"]
    job.stop.set()
    for updates in stream:
        shown |= by_id(updates)
    assert "Stopped" in shown["lab-status"]
    assert not {"lab-view", "lab-about", "lab-results"} & set(shown) and not available(recorded_only=False)


@pytest.fixture(scope="module")
def finished(shared_hardware, tmp_path_factory):
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUOVIZ_CACHE", str(folder / "cache"))
        return made(shared_hardware, written(folder))


def copied(finished, name="mine"):
    """A finished run of the user's."""
    return shutil.copytree(finished, folder_named(name))


def zip_of(path, file):
    """A run as a zip in this file."""
    file.write_bytes(zipped(path))
    return str(file)


def made(hardware, questions, name="mine", **options):
    """A finished run of the user's, made anew."""
    task = Measurement(pair="embedded", plan=measurement_of(questions, **options).plan, path=folder_named(name))
    events_of(hardware, started(hardware, task))
    return task.path


def test_what_was_loaded_and_what_is_run_are_told_apart_whatever_their_names(hardware, lab, finished, tmp_path):
    file = zip_of(copied(finished, "earlier"), tmp_path / "good.zip")
    update, told = take_in(file, ["earlier"])
    assert told == "" and update["value"] == ["earlier", "good (loaded)"] == sorted(update["choices"])
    own = made(hardware, written(tmp_path), "good", repeats=2)
    found = available(recorded_only=False)
    assert found["good"] == own and found["good (loaded)"].read_bytes() == Path(file).read_bytes()
    for names, answers in ((["good"], 24), (["good (loaded)"], 12)):
        shown = by_id(lab["show"](names, "environment"))
        saved = shown["lab-save"]["value"]
        assert len(load(Path(saved)).rows) == answers and saved.endswith("/good.zip")
        assert f"{names[0]}<" in shown["lab-part"]["value"]
    # Both side by side, each under its own name, in the order in which they were chosen.
    compared = by_id(lab["show"](["good (loaded)", "good", "gone"], "compared"))["lab-part"]["value"]
    assert compared.index(">good (loaded)<") < compared.index(">good<")


def test_what_is_loaded_replaces_nothing(finished, tmp_path):
    path = copied(finished)
    loaded_folder().mkdir()
    for folder in (tmp_path, tmp_path / "recorded", loaded_folder()):
        file = zip_of(path, folder / "mine.zip")
    assert set(available(recorded_only=False)) == {"mine", "mine (recorded)", "mine (loaded)"}
    names = [take_in(file, [])[0]["value"][0] for _ in range(2)]
    assert names == ["mine 2 (loaded)", "mine 3 (loaded)"]
    found = available(recorded_only=False)
    assert all(load(found[name]).rows == load(path).rows for name in names) and len(found) == 5
    assert available(recorded_only=True).keys() == {"mine (recorded)"}
    (tmp_path / "nothing.zip").write_bytes(b"nothing")
    assert "holds no Lab results" in take_in(str(tmp_path / "nothing.zip"), [])[1]
    assert len(list(loaded_folder().glob("*"))) == 3
    update, told = take_in(file, ["mine", "mine", [], *"abcdef"])
    assert told == "" and update["value"] == [*"bcdef", "mine 4 (loaded)"]
    assert "choose a .zip of results" in take_in(None, [])[1]


def test_a_place_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="cannot be written: Not a directory"):
        keep_loaded(tmp_path / "file")


def test_whatever_names_a_browser_sends_each_results_are_loaded_once(lab, finished, monkeypatch):
    mine, loaded = copied(finished), []
    monkeypatch.setattr(results_store, "load", lambda path: loaded.append(path.name) or load(path))
    for names in (None, "mine", {}, [["mine"]], [5, "gone"], ["\ud800"], ["mine"] * 10**5):
        lab["show"](names, "environment"), lab["open_part"](names, "environment")
        assert by_id(lab["look"](names))["lab-results"]["value"] == ["mine"]
    # Once for what is shown first, and once for its parts; and anew when they are others.
    assert loaded == ["mine"] * 2
    os.utime(mine / "plan.json", (2e9, 2e9))
    lab["show"](["mine"], "environment")
    assert loaded == ["mine"] * 4


def test_the_latest_results_come_first(finished):
    for name, written_at in (("old", 1e9), ("new", 2e9)):
        os.utime(copied(finished, name), (written_at, written_at))
    assert list(available(recorded_only=False)) == ["new", "old"]


def test_only_so_many_are_shown_side_by_side(lab, finished, monkeypatch):
    names = [copied(finished, f"mine {number}").name for number in range(page.MOST + 1)]
    drawn, loaded = [], []
    monkeypatch.setattr(results_store, "load", lambda path: loaded.append(path.name) or load(path))
    monkeypatch.setattr("duoviz.lab.report.parts_beside", lambda parts, several: drawn.append(several) or parts)
    about = by_id(lab["show"](names[1:], ""))["lab-about"]
    # What is shown first is of the first alone, and says so.
    assert f"This is {names[1]}. “Several results side by side” also shows {', '.join(names[2:])}." in str(about)
    assert len(drawn[0]) == page.MOST and loaded == [names[1], names[1], *names[1:]]
    # Of what stands beside others only sums are shown, and how fast the machine was, which vanilla's passes say.
    assert {row["model_id"] for results in drawn[0] for row in results.rows if row["measured"]} == {"vanilla"}
    assert by_id(lab["look"](names))["lab-results"]["value"] == names[:-1]
    drawn.clear()
    lab["show"](names, "")
    assert len(drawn[0]) == page.MOST


def test_folders_of_strangers_have_names_that_a_page_can_show_and_replace_nothing(finished, tmp_path):
    zip_of(copied(finished), tmp_path / "recorded" / "then.zip")
    for name in ("then (recorded)", "=1+1", b"\xff".decode(errors="surrogateescape")):
        shutil.copytree(finished, own_folder() / name)
    (own_folder() / "empty" / "answers").mkdir(parents=True)
    for name in ("environment.json", "answers/vanilla.jsonl"):
        (own_folder() / "empty" / name).symlink_to("nowhere")
    found = available(recorded_only=False)
    assert set(found) == {"then (recorded)", "mine", "then _recorded_", "_1+1", "_"}
    assert found["then (recorded)"].name == "then.zip" and json.dumps(list(found)).encode()


def test_only_what_came_along_is_shown_as_it_was_kept(lab, finished):
    path = copied(finished)
    path.with_suffix(".json.gz").write_bytes(gzip.compress(b'{"first": {"about": "stranger"}}'))
    assert "stranger" not in by_id(lab["look"](["mine"]))["lab-about"]


def test_a_space_shows_recorded_results_and_runs_nothing(make_hardware, finished, tmp_path):
    zip_of(copied(finished), tmp_path / "recorded" / "then.zip")
    space = build_app(make_hardware(on_space=True))
    ids = {getattr(block, "elem_id", None) for block in space.blocks.values()}
    assert {"lab-results", "lab-save", "lab-view"} <= ids
    assert not {"lab-run", "lab-stop", "lab-load", "lab-name"} & ids
    functions = {each.name: each.fn for each in space.fns.values()}
    assert "measure" not in functions and "take_in" not in functions
    for names in ([], ["mine"]):
        looked = by_id(functions["look"](names))
        assert looked["lab-results"]["value"] == looked["lab-results"]["choices"] == ["then (recorded)"]
        assert json.loads(looked["lab-view"])["overview"]["speeds"]["lines"][0]["here"]
    shown = by_id(functions["show"](["then (recorded)"], "table-1"))
    assert "Table 1" in shown["lab-part"]["value"] and shown["lab-part"]["visible"]
    assert shown["lab-save"]["interactive"] and not shown["lab-figure"]["visible"]
    assert json.loads(shown["lab-view"])["opened"] == "table-1"
    shown = by_id(functions["show"]([], ""))
    assert "No results are shown" in shown["lab-about"] and not shown["lab-part"]["visible"]
    assert not shown["lab-save"]["interactive"]
    assert functions["show"](["mine"], "") == functions["show"]([], "")


def test_what_is_shipped_is_shown_first_and_without_being_made_again(lab, finished, tmp_path, monkeypatch):
    ship(copied(finished), tmp_path / "recorded", "here")
    monkeypatch.setattr(results_store, "load", None)
    looked = by_id(lab["look"]([]))
    assert looked["lab-results"]["value"] == ["here (recorded)"] and "mine" in looked["lab-results"]["choices"]
    opened = by_id(lab["open_part"](["here (recorded)"], "time"))
    assert json.loads(opened["lab-figure"]["value"].plot)["data"] and "Where each method" in opened["lab-part"]["value"]
    assert not by_id(lab["open_part"](["here (recorded)"], ""))["lab-part"]["visible"]
