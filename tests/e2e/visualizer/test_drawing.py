"""What is drawn is the trace, whoever wrote its texts."""

import re

from playwright.sync_api import expect

from duoviz.decoding import METHODS
from duoviz.decoding.method import TARGET
from tests.e2e import pages
from tests.e2e.pages import load, move_to, press, saved_to, send, settle, show, shown
from tests.tiny import tiny_engine, traced
from tests.trace.made import events_of, longer
from tests.web.front.runs import TRACES

# The label of each chart of a figure.
CHARTS = {"k": "k sequences", "gamma": "γ draft budget", "theta": "θ threshold"}
ORIGINS = {each.id: each.origin for method in METHODS.values() for each in (*method.proposers, TARGET)}


def check_parts(page, method):
    """Only what the method has is drawn. numbers.test.js covers which figures stand there."""

    def read(parts, what):
        return page.locator(parts).evaluate_all(f"all => all.map((each) => {what})")

    charts = [label for name, label in CHARTS.items() if name in method.numbers]
    titles = read(".dv-chart:visible .dv-subheading", "each.firstChild.textContent")
    assert sorted(titles) == sorted(["tokens written", *charts, *["Drafts by k"] * ("k" in method.numbers)])
    lanes = ["target", "draft"] if method.draft else ["target"]
    assert read("text.dv-lane-label", "each.dataset.lane") == lanes
    # Without a threshold, no candidate is over it; ○ is what a token of the tree is that was not checked yet.
    assert any(read(".dv-candidate", "each.dataset.over === 'true'")) <= ("theta" in method.numbers)
    sources = [each.id for each in method.proposers]
    assert read(".dv-legend .dv-sample:visible", "each.dataset.source") == [*sources, "target"]


def fate_of(name, told, iteration):
    """What was discarded is wrong beside an accepted token; else the target read it, if it was to be checked."""
    if told["status"] != "discarded":
        return told["status"]
    beside = [each["status"] for each in iteration[name] if each["parent"] == told["parent"]]
    if "accepted" in beside and (name == "checked" or told["parent"] < 0):
        return "rejected"
    return "discarded" if name == "checked" else "unchecked"


def check_tree(drawn, iteration):
    """Each node and edge; of what a living tree has beyond that, some is drawn."""
    every = {(name, index) for name in ("checked", "drafted") for index in range(len(iteration[name]))}
    assert every <= {(node["list"], int(node["index"])) for node in drawn["nodes"]}
    for node in drawn["nodes"]:
        told = iteration[node["list"]][int(node["index"])]
        fate = fate_of(node["list"], told, iteration)
        assert (node["status"], node["source"]) == (fate, told["source"])
        # What its letters become words.test.js tells.
        letters = node["label"].replace("␣", " ").replace("↵", "\n").rstrip("…")
        assert told["text"].startswith(letters) or letters == "end of answer"
        assert fate == "window" or f"({fate}), {ORIGINS[told['source']]}" in node["meaning"]
        assert node.get("count") == (None if told["count"] is None else f"×{told['count']}")
    for edge in drawn["edges"]:
        assert edge["status"] != "window"


def test_what_is_drawn_is_the_trace(page, methods_page):
    page.goto(methods_page)
    page.evaluate(pages.OPEN_DETAILS)
    for method, trace in TRACES.items():
        press(page, method)
        shown(page, method=method, state="done", iterations=len(trace["iterations"]))
        page.mouse.move(600, 400)
        check_parts(page, METHODS[method])
        # The first ones hold all kinds.
        for drawn, iteration in zip(page.evaluate(pages.READ_ITERATIONS, 20), trace["iterations"], strict=False):
            assert (drawn["position"], bool(drawn["sentence"])) == (iteration["index"], True), method
            check_tree(drawn, iteration)


# What part of the clock is in view, and how far bars within it are from their times, in pixels.
READ_TIMELINE = """() => {
  const [from, to] = ["from", "to"].map((name) => Number(document.querySelector(".dv-shares").dataset[name]));
  const number = (node, name) => Number(node.getAttribute(name));
  const idle = document.querySelector("rect.dv-idle");
  const toX = (time) => number(idle, "x") + (number(idle, "width") * (time - from)) / (to - from);
  const bars = Array.from(document.querySelectorAll("rect.dv-bar"), (bar) => [bar.dataset.start, number(bar, "x")]);
  const inView = bars.filter(([time]) => time >= from && time <= to);
  return { from, to, off: inView.map(([time, x]) => Math.abs(x - toX(time))) };
}"""


def test_bars_stand_at_their_times_wherever_the_timeline_is_zoomed_and_moved(plain_page):
    page, drawing = plain_page, plain_page.locator(".dv-timeline-drawing")
    send(page, events_of(TRACES["duodecoding"]))
    shown(page, state="done")

    def drag():
        page.mouse.down()
        page.mouse.move(700, 300, steps=3)
        page.mouse.up()

    def seen(act):
        act()
        settle(page)
        drawn = page.evaluate(READ_TIMELINE)
        assert drawn["off"] and max(drawn["off"]) < 1
        return drawn["from"], drawn["to"]

    begin, end = seen(drawing.hover)
    before = seen(lambda: drawing.press("w"))
    assert before[1] - before[0] < end - begin
    drawing.hover()
    wheeled = seen(lambda: page.mouse.wheel(0, -100))
    assert wheeled[1] - wheeled[0] < before[1] - before[0]
    # What is dragged to the right shows what was before.
    assert seen(drag)[0] < wheeled[0]
    assert seen(lambda: press(page, "12 iterations")) == (begin, end)
    assert seen(lambda: press(page, "Whole run"))[0] == 0


# The slider, which is moved, may have scrolled the text's box itself away.
IS_IN_BOX = """(place) => {
  const group = document.querySelector(`.dv-group.dv-shown[data-group='${place}']`)?.getBoundingClientRect();
  const box = document.querySelector(".dv-text-box").getBoundingClientRect();
  return group && group.top >= box.top - 1 && group.bottom <= box.bottom + 1;
}"""


def test_what_is_shown_of_a_long_text_is_in_sight_after_any_jump(plain_page):
    send(plain_page, events_of(longer(TRACES["vanilla"], 300)))
    shown(plain_page, state="done")
    for place in (299, 0, 150, 20):
        move_to(plain_page, place)
        plain_page.wait_for_function(IS_IN_BOX, arg=place)


# How many lines the tree is on, and whether it is wider than its box.
READ_TREE = """() => {
  const box = document.querySelector(".dv-tree-box");
  const tops = [...box.querySelectorAll("svg > g")].map((node) => node.getBoundingClientRect().top);
  return { lines: new Set(tops).size, isWider: box.scrollWidth > box.clientWidth };
}"""
# Whether a token or a heading is cut where the tree begins.
CUTS = """(box) => {
  const { top, left } = box.getBoundingClientRect();
  return [...box.querySelectorAll("rect, .dv-caption")].map((each) => each.getBoundingClientRect())
    .some((each) => (each.top < top - 1 && each.bottom > top + 1) || (each.left < left - 1 && each.right > left + 1));
}"""


def test_a_tree_that_is_longer_than_its_box_goes_on_in_further_lines_and_a_high_one_is_cut(
    page, methods_page, tmp_path
):
    trace = traced(tiny_engine(noise=0.0), "speculative", max_new_tokens=40, budget=16)
    show(page, methods_page, "rest")
    load(page, saved_to(tmp_path, trace))
    shown(page, method="speculative", state="done")
    move_to(page, next(each["index"] for each in trace["iterations"] if len(each["checked"]) == 17))
    # On a phone it goes on to the right.
    for width, lines, is_wider in ((390, 1, True), (1280, 2, False)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"lines => ({READ_TREE})().lines === lines", arg=lines)
        assert page.evaluate(READ_TREE)["isWider"] == is_wider
        page.evaluate("document.querySelector('.dv-tree-box').scrollTo(0, 0)")
        expect(page.locator(".dv-tree-box[data-more]")).to_have_count(int(is_wider))
    box = page.locator(".dv-tree-box")
    height = box.bounding_box()["height"]
    # A short one stays on its line; what stands below it stays there.
    move_to(page, 0)
    page.wait_for_function(f"({READ_TREE})().lines === 1")
    assert box.bounding_box()["height"] == height > 150
    press(page, "Back to your run")
    iterations = TRACES["rest"]["iterations"]
    shown(page, iterations=len(iterations))
    for is_right in (False, True):
        some = [each for each in iterations if bool(each["verdict"]["accepted"]) == is_right]
        move_to(page, max(some, key=lambda each: len(each["checked"]))["index"])
        # Some of what is wrong is counted, and drawn with the details, where it scrolls.
        for is_cut in (True, False):
            expect(box.get_by_text(re.compile(r"^and \d+ more, which Details shows$"))).to_have_count(int(is_cut))
            assert box.evaluate("box => box.scrollHeight > box.clientHeight + 1") != is_cut
            assert not box.evaluate(CUTS)
            own, outer = page.locator('g.dv-node[data-status="correction"]').bounding_box(), box.bounding_box()
            for begin, length in (("x", "width"), ("y", "height")):
                assert outer[begin] <= own[begin] and own[begin] + own[length] <= outer[begin] + outer[length]
            press(page, "Details")
        assert box.evaluate("box => box.clientHeight <= 430")
    assert pages.fits(page)
