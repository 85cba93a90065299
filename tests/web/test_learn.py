"""What lessons may name, and the lessons that come along."""

import itertools
import re
from collections import defaultdict

import pytest

from duoviz.recordings import GAME, STORY
from duoviz.recordings import LESSONS as TRACES
from duoviz.web.app import LESSONS
from duoviz.web.lessons import figures
from duoviz.web.lessons.course import read_course, read_traces
from duoviz.web.lessons.facts import Facts


def test_the_figure_of_the_cache_agrees_with_the_next_iteration():
    traces = read_traces(TRACES, [])
    for method, trace in traces.items():
        found = [figures.cache(Facts(traces, method, iteration)) for iteration in trace["iterations"][1:]]
        for before, after in itertools.pairwise(found):
            kept = [node for node in before["checked"] if node["status"] == "accepted"]
            assert (before["cached"] + 1 + len(kept), before["own"]["text"]) == (after["cached"], after["last"])


NUMBER = '<span class="dl-value">([0-9.]+)'


def pages_of(course):
    return [(lesson["name"], page) for lesson in course.lessons for page in lesson["pages"]]


def test_the_lessons_that_come_along_are_right_for_the_recorded_runs():
    course = read_course(LESSONS, TRACES)
    assert course.mistakes == []
    assert len(course.lessons) >= 8 and course.glossary
    for lesson in course.lessons:
        assert any(page["question"] for page in lesson["pages"]), lesson["name"]
        assert lesson["live"].startswith("#tab=live&method="), lesson["name"]
    pages = {lesson["name"]: len(lesson["pages"]) for lesson in course.lessons}
    links = re.findall(r"#tab=learn&amp;lesson=([\w-]+)(?:&amp;page=(\d+))?", str(course.lessons))
    assert links and all(1 <= int(page or 1) <= pages[name] for name, page in links)


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


def best_guesses(alpha, ratio, passes):
    """γ, by the times of passes over γ + 1 tokens, as multiples of one over one."""
    speeds = [sum(alpha**k for k in range(g + 1)) / (g / ratio + time) for g, time in enumerate(passes, 1)]
    return 1 + speeds.index(max(speeds))


# What a reader computes of the figures in a question that asks for a number, a lesson's last.
COMPUTED = {
    "one-token-at-a-time": lambda tokens: tokens,
    "draft-and-verify": lambda tokens, passes: tokens / passes,
    "what-drafting-costs": lambda alpha, ratio, rows, longer, guesses: (
        (1 - alpha**rows) / (1 - alpha) / (guesses / ratio + longer)
    ),
    "how-much-to-draft": lambda alpha, ratio, *passes: best_guesses(alpha, ratio, passes),
    "what-a-rejection-costs": lambda one, eight: (eight - one) / 7,
    "when-it-does-not-pay": lambda draft, one, two: (draft + two) / one - 1,
}


@pytest.mark.parametrize(
    "folder", [STORY, TRACES, GAME, TRACES.parent / "with-an-H100"], ids=lambda folder: folder.name
)
def test_who_computes_with_the_figures_shown_is_right_for_any_recording(folder):
    pages = pages_of(read_course(LESSONS, folder))
    told = [page["text"] + (page["question"] or {}).get("right", "") for _, page in pages]
    ratios = re.findall(rf"{NUMBER} ms.*?{NUMBER} ms.*?That is {NUMBER}<.span> times as long", "\n".join(told))
    quotients = re.findall(rf"{NUMBER}</span> / {NUMBER}</span> = {NUMBER}", "\n".join(told))
    assert ratios and quotients
    for right in [(large, small, ratio) for small, large, ratio in ratios] + quotients:
        large, small, ratio = map(float, right)
        assert large / small == pytest.approx(ratio, abs=0.0051 if ratio < 2 else 0.051), right
    asked = {name: page for name, page in pages if (page["question"] or {}).get("kind") == "number"}
    for name, compute in COMPUTED.items():
        question = asked[name]["question"]
        shown = [float(text) for text in re.findall(NUMBER, question["text"])]
        assert compute(*shown) == pytest.approx(question["answer"], rel=question["within"])
    figure, question = next((page["figure"], page["question"]) for _, page in pages if "runs" in (page["figure"] or {}))
    runs = {run["method"]: round(run["tps"], 1) for run in figure["runs"]}
    assert runs["duotree"] / runs["vanilla"] == pytest.approx(question["answer"], rel=question["within"])
