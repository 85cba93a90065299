"""What lessons may name, and the lessons that come along."""

import itertools
import re
from collections import defaultdict

from duoviz.decoding import METHODS
from duoviz.recordings import LESSONS as TRACES
from duoviz.web.app import LESSONS
from duoviz.web.front import SOURCES
from duoviz.web.lessons import figures
from duoviz.web.lessons.course import FRONT_FIELDS, read_course, read_traces
from duoviz.web.lessons.facts import ITERATION, Facts
from duoviz.web.lessons.figures import FIGURES
from duoviz.web.lessons.iterations import CONDITIONS, FIGURE_MARKS, MARKS, MEASURES, PARTS
from duoviz.web.lessons.page import PAGE_FIELDS, QUESTION_FIELDS
from duoviz.web.lessons.text import FORMS


def test_what_lessons_may_name_is_what_the_page_draws():
    drawn = re.search(
        r"export const FIGURES = \{(.*?)\};", (SOURCES / "learn" / "figures.js").read_text(encoding="utf-8"), re.DOTALL
    ).group(1)
    assert {name.strip().strip('"') for name in re.findall(r"([\w ]+|\"[\w ]+\"):", drawn)} == set(FIGURES)


def test_the_readme_names_the_whole_vocabulary():
    told = (LESSONS / "README.md").read_text(encoding="utf-8")
    fields = {*FRONT_FIELDS, *PAGE_FIELDS, *(name for names in QUESTION_FIELDS.values() for name in names)}
    for words in (CONDITIONS, MEASURES, PARTS, MARKS, FIGURES, FIGURE_MARKS, QUESTION_FIELDS, fields):
        assert {word for word in words if f"`{word}`" not in told} == set()
    traces = read_traces(TRACES, [])
    names = {*FORMS, *ITERATION, *Facts(traces, "vanilla").names} - {*METHODS, *traces["vanilla"]["header"]}
    assert {name for name in names if not re.search(rf"`{name}(\(\w?\))?`", told)} == set()


def test_the_figure_of_the_cache_agrees_with_the_next_iteration():
    traces = read_traces(TRACES, [])
    for method, trace in traces.items():
        found = [figures.cache(Facts(traces, method, iteration)) for iteration in trace["iterations"][1:]]
        for before, after in itertools.pairwise(found):
            kept = [node for node in before["checked"] if node["status"] == "accepted"]
            assert (before["cached"] + 1 + len(kept), before["own"]["text"]) == (after["cached"], after["last"])


def pages_of(course):
    return [(lesson["name"], page) for lesson in course.lessons for page in lesson["pages"]]


def test_the_lessons_that_come_along_are_right_for_the_recorded_runs():
    course = read_course(LESSONS, TRACES)
    assert course.mistakes == []
    assert len(course.lessons) >= 8 and course.glossary
    for lesson in course.lessons:
        assert sum(page["question"] is not None for page in lesson["pages"]) == 1, lesson["name"]
        assert lesson["live"].startswith("#tab=live&method="), lesson["name"]


def test_the_lessons_figures_do_not_contradict_each_other(monkeypatch):
    told, own = defaultdict(set), Facts.cost

    def cost(facts, side, count):
        told[side, facts.trace["header"][side]["device"], count].add(value := own(facts, side, count))
        return value

    monkeypatch.setattr(Facts, "cost", cost)
    course = read_course(LESSONS, TRACES)
    # One time for one forward pass: calibrations before two runs differ.
    assert told and {pass_: times for pass_, times in told.items() if len(times) > 1} == {}
    curves = [
        page["figure"]["target"] for _, page in pages_of(course) if "costs" in (page["figure"] or {"kind": ""})["kind"]
    ]
    assert len(curves) >= 3 and all(curve == sorted(curve, key=lambda point: point[1]) for curve in curves)
