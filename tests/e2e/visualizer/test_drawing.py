"""What is drawn is the trace, whoever wrote its texts."""

import itertools
from xml.etree import ElementTree

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.method import TARGET
from duoviz.decoding.settings import Settings
from duoviz.web.components import Visualizer, batch
from tests.e2e.pages import (
    OPEN_DETAILS,
    READ_ITERATIONS,
    download,
    fits,
    load,
    open_modules,
    saved_to,
    send,
    settle,
    show,
    shown,
)
from tests.e2e.tiny_site import served
from tests.e2e.visualizer.conftest import VISUALIZER_ALONE
from tests.tiny import tiny_engine
from tests.toy import TOY
from tests.trace.made import events_of, longer
from tests.web.front.runs import recorded

HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "${window.hacked=2}",
    "{{x}}",
    "</script><script>window.hacked=3</script>",
    "x" * 10_000,
    "\u202eright to left",
    "\u200b\u200d",
    "\x07\x1b[31m",
]


@pytest.fixture(scope="module")
def hostile_page():
    """A real run of a tiny pair, with each text replaced by a hostile one."""
    trace = runner.collect(runner.stream(tiny_engine(noise=0.3), "duodecoding", "hello", Settings(max_new_tokens=40)))
    # A cycle for each list: how many nodes a run has depends on its timing, and every text must be committed once.
    for name in ("committed", "checked", "drafted", "candidates"):
        texts = itertools.cycle(HOSTILE)
        for each in trace["iterations"]:
            for entry in each[name]:
                entry["text"] = next(texts)
    trace["end"] = runner.end(trace["iterations"], "length")
    with gr.Blocks() as demo:
        gr.Button("Feed").click(lambda: batch("run", 0, events_of(trace)), None, Visualizer())
    with served(demo) as url:
        yield url, trace


def test_hostile_texts_show_as_text(page, hostile_page, tmp_path):
    url, trace = hostile_page
    page.goto(url)
    page.get_by_role("button", name="Feed").click()
    shown(page, "state", "done")
    written = "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))
    assert all(text in trace["end"]["text"] and text in written for text in HOSTILE[:4])
    for _ in range(len(trace["iterations"]) // 2):
        page.keyboard.press("ArrowLeft")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        for part in ("Tree", "Timeline"):
            ElementTree.parse(download(page, f"{part} as SVG", tmp_path))
        assert page.evaluate("window.hacked") is None and page.locator(".dv img, .dv script").count() == 0
        assert fits(page)


# The label of each chart of a figure.
CHARTS = {"k": "k sequences", "gamma": "γ draft budget", "theta": "θ threshold"}
ORIGINS = {each.id: each.origin for method in METHODS.values() for each in (*method.proposers, TARGET)}


def read(page, parts, what):
    return page.locator(parts).evaluate_all(f"all => all.map((each) => {what})")


def check_parts(page, method, header):
    """Only what the method has is drawn."""
    charts = [label for name, label in CHARTS.items() if name in method.numbers]
    titles = read(page, ".dv-chart:visible .dv-subheading", "each.firstChild.textContent")
    assert sorted(titles) == sorted(["tokens written", *charts, *["Iterations by k"] * ("k" in method.numbers)])
    in_row = read(
        page, ".dv-chart-grid:not(.dv-more-charts) .dv-chart:visible .dv-subheading", "each.firstChild.textContent"
    )
    assert in_row == [label for label in charts if label != CHARTS["gamma"]]
    # φ stands there where vanilla has run before.
    numbers = {*read(page, "[data-number]:visible", "each.dataset.number")} - {"phi"}
    unknown = set() if header["can_overlap"] else {"overlap"}
    assert numbers == {"tps", "tau", "ttft", "written", "took", *method.numbers} - unknown
    lanes = read(page, "text.dv-lane-label", "each.dataset.lane")
    assert lanes == (["target", "draft"] if method.draft else ["target"])
    # What is still to come is drawn paler below the lanes' names.
    assert page.locator(".dv-future ~ g .dv-lane-label").count() == len(lanes)
    # Without a threshold, no candidate is over it; ○ is what a token of the tree is that was not checked yet.
    over = read(page, ".dv-candidate", "each.dataset.over === 'true'")
    assert any(over) <= ("theta" in method.numbers)
    labels = page.locator(".dv-candidate-label").all_text_contents()
    assert [label[0] for label in labels] == ["●" if each else " " for each in over]
    sources = [each.id for each in method.proposers]
    assert read(page, ".dv-legend .dv-sample", "each.dataset.source") == [*sources, "target"]


def likelihood(node, nodes):
    """What an edge's thickness stands for."""
    if node.get("chance") is not None:
        return node["chance"]
    if node["q"] is not None or node["count"] is None:
        return node["q"]
    siblings = sum(other["count"] for other in nodes if other["parent"] == node["parent"] and other["count"])
    return node["count"] / (nodes[node["parent"]]["count"] if node["parent"] >= 0 else siblings)


def check_tree(drawn, iteration):
    """Each node, and how thick the edge is that leads to it; of what a living tree has beyond that, some is drawn."""
    every = {(name, index) for name in ("checked", "drafted") for index in range(len(iteration[name]))}
    assert every <= {(node["list"], int(node["index"])) for node in drawn["nodes"]}
    for node in drawn["nodes"]:
        told = iteration[node["list"]][int(node["index"])]
        assert [node[name] for name in ("status", "source", "label")] == [told["status"], told["source"], told["text"]]
        assert told["status"] == "window" or f"{told['status']}, {ORIGINS[told['source']]}" in node["meaning"]
        assert node.get("count") == (None if told["count"] is None else f"×{told['count']}")
    for edge in drawn["edges"]:
        nodes = iteration[edge["list"]]
        share = likelihood(nodes[int(edge["index"])], nodes)
        assert edge["width"] == pytest.approx(1.25 if share is None else 1 + 6 * share, abs=0.01)
        assert edge["status"] != "window"


def test_what_is_drawn_is_the_trace(page, methods_page, traces):
    page.goto(methods_page)
    page.evaluate(OPEN_DETAILS)
    for method, trace in traces.items():
        page.get_by_role("button", name=method, exact=True).click()
        shown(page, "method", method)
        shown(page, "state", "done")
        shown(page, "iterations", len(trace["iterations"]))
        page.mouse.move(600, 400)
        check_parts(page, METHODS[method], trace["header"])
        for drawn, iteration in zip(page.evaluate(READ_ITERATIONS), trace["iterations"], strict=True):
            assert (drawn["position"], bool(drawn["sentence"])) == (iteration["index"], True), method
            check_tree(drawn, iteration)


def test_a_method_that_the_page_does_not_know_is_drawn_in_its_own_words(plain_page, monkeypatch):
    monkeypatch.setitem(METHODS, TOY.id, TOY)
    trace = runner.collect(runner.stream(tiny_engine(), "again", "hello", Settings(max_new_tokens=12)))
    send(plain_page, events_of(trace))
    plain_page.evaluate(OPEN_DETAILS)
    shown(plain_page, "state", "done")
    for key in ("Home", "ArrowRight"):
        plain_page.locator(".dv").press(key)
    expect(plain_page.locator(".dv-sentence")).to_have_attribute("data-meaning", "2 echoes were heard.")
    expect(plain_page.locator(".dv-tree-drawing")).to_contain_text("said again, now checked")
    legend = plain_page.locator(".dv-legend-list").first
    expect(legend).to_contain_text("token said again")
    expect(legend).not_to_contain_text("from the draft")
    assert plain_page.locator(".dv-number:visible").count() == 6
    assert "said again" in plain_page.locator("g.dv-node[data-source=echo]").first.get_attribute("data-meaning")


READ_TIMELINE = """() => {
  const number = (node, name) => Number(node.getAttribute(name));
  const { from, to } = document.querySelector(".dv-shares").dataset;
  const idle = document.querySelector("rect.dv-idle");
  const bars = Array.from(document.querySelectorAll("rect.dv-bar"), (bar) => [bar.dataset.start, number(bar, "x")]);
  return { from: Number(from), to: Number(to), left: number(idle, "x"), width: number(idle, "width"), bars };
}"""


def test_bars_stand_at_their_times_wherever_the_timeline_is_zoomed_and_moved(plain_page):
    page, trace, seen = plain_page, recorded("duodecoding"), []
    send(page, events_of(trace))
    shown(page, "state", "done")
    for act in ("", "w", "a", "Whole run", "w", "wwwww" + 40 * "a", "12 iterations"):
        if set(act) <= set("wa"):
            page.locator(".dv-timeline-drawing").focus()
            page.keyboard.type(act)
        else:
            page.get_by_role("button", name=act).click()
        settle(page)
        drawn = page.evaluate(READ_TIMELINE)
        start, end, scale = drawn["from"], drawn["to"], drawn["width"] / (drawn["to"] - drawn["from"])
        bars = [(float(time), x) for time, x in drawn["bars"] if start <= float(time) <= end]
        assert bars and all(x == pytest.approx(drawn["left"] + scale * (time - start), abs=1) for time, x in bars)
        seen.append((start, end))
    assert len(set(seen)) == 6 and seen[0] == seen[-1] and seen[3] == (0, trace["iterations"][-1]["sync"])


LATER = """(shown) => {
  const box = document.querySelector(".dv-text-box").getBoundingClientRect();
  const isInSight = ({ top, bottom }) => bottom >= box.top && top <= box.bottom;
  const groups = Array.from(document.querySelectorAll(".dv-group"));
  const inSight = groups.filter((group) => isInSight(group.getBoundingClientRect()));
  const isRight = (group) => group.classList.contains("dv-later") === (Number(group.dataset.group) > shown);
  return groups.length > 1000 && inSight.length > 10 && inSight.every(isRight);
}"""


def test_what_comes_later_is_marked_after_any_jump(plain_page, traces):
    send(plain_page, events_of(longer(traces["vanilla"], 1200)))
    slider, box = plain_page.locator(".dv-slider"), plain_page.locator(".dv-text-box")
    shown(plain_page, "state", "done")
    for jumps in (["1199"], ["0"], ["700"], ["100", "900", "400"], ["1199", "3"]):
        for place in jumps:
            slider.fill(place)
        shown(plain_page, "shown", jumps[-1])
        for part in (None, 0, 1, 0.3):
            if part is not None:
                box.evaluate("(box, part) => { box.scrollTop = part * box.scrollHeight; }", part)
            plain_page.wait_for_function(LATER, arg=int(jumps[-1]))
    for width in (1900, 500, 1280):
        plain_page.set_viewport_size({"width": width, "height": 1000})
        plain_page.wait_for_function(LATER, arg=3)


# How many lines the tree is on, how large its letters are, how high it stands, and whether all of it is in its box.
READ_TREE = """() => {
  const box = document.querySelector(".dv-tree-box"), drawing = box.querySelector("svg");
  const parts = [...drawing.querySelectorAll("g, path, text.dv-caption")].filter((part) => !part.closest("g g"));
  const isInside = (part) => {
    const [outer, inner] = [drawing, part].map((each) => each.getBoundingClientRect());
    const isWithin = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
    // A letter's box begins above its capitals.
    return isWithin && inner.top >= outer.top - 4 && inner.bottom <= outer.bottom + 1;
  };
  const letters = [...drawing.querySelectorAll(".dv-label")].map((label) => (
    (parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a).toFixed(1)));
  return {
    lines: new Set([...drawing.querySelectorAll("g")].map((node) => node.getBoundingClientRect().top)).size,
    sizes: [...new Set(letters)], outside: parts.filter((part) => !isInside(part)).length,
    start: drawing.querySelector(".dv-context").getBoundingClientRect().top - box.getBoundingClientRect().top,
    wider: box.scrollWidth > box.clientWidth, higher: box.scrollHeight > box.clientHeight,
  };
}"""
# The trees of the first iterations, each as it is drawn when it has been stepped to.
READ_TREES = f"""async (count) => {{
  const [root, trees] = [document.querySelector(".dv"), []];
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
  for (let at = 0; at < count; at++) {{
    root.dispatchEvent(new KeyboardEvent("keydown", {{ key: at ? "ArrowRight" : "Home", bubbles: true }}));
    for (let frame = 0; frame < 3; frame++) await nextFrame();
    trees.push({{ at: Number(root.dataset.shown), ...({READ_TREE})() }});
  }}
  return trees;
}}"""


@pytest.mark.parametrize("method, width", [("duodecoding", 390), ("speculative", 1280)])
def test_through_a_recording_no_letter_of_the_tree_changes_its_size(plain_page, method, width):
    page = plain_page
    page.set_viewport_size({"width": width, "height": 900})
    send(page, events_of(recorded(method)))
    shown(page, "state", "done")
    trees = page.evaluate(READ_TREES, 30)
    assert [tree["at"] for tree in trees] == list(range(30))
    assert len({size for tree in trees for size in tree["sizes"]}) == 1
    # One of a token, and one of several lines.
    assert {1} < {tree["lines"] for tree in trees}
    assert not [tree for tree in trees if tree["outside"] or tree["wider"]]
    # Where nothing is to be scrolled, it begins at the same place.
    assert len({round(tree["start"]) for tree in trees if not tree["higher"]}) == 1


def test_a_tree_that_is_longer_than_its_box_goes_on_in_further_lines_and_a_high_one_scrolls(
    page, methods_page, traces, tmp_path
):
    settings = Settings(max_new_tokens=40, budget=16)
    trace = runner.collect(runner.stream(tiny_engine(noise=0.0), "speculative", "hello", settings))
    longest = max(range(1, len(trace["iterations"])), key=lambda index: len(trace["iterations"][index]["checked"]))
    assert len(trace["iterations"][longest]["checked"]) == 17
    show(page, methods_page, "rest")
    load(page, saved_to(tmp_path, trace))
    shown(page, "method", "speculative")
    shown(page, "state", "done")
    page.locator(".dv-slider").fill(str(longest))
    expect(page.locator("g.dv-node")).to_have_count(17)
    for width, lines in ((1280, 2), (390, 4)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"lines => ({READ_TREE})().lines >= lines", arg=lines)
        drawn = page.evaluate(READ_TREE)
        assert not drawn["outside"] and not drawn["wider"]
    height = page.locator(".dv-tree-box").bounding_box()["height"]
    # A short one stays on its line; what stands below it stays there.
    page.locator(".dv-slider").fill("0")
    page.wait_for_function(f"({READ_TREE})().lines === 1")
    assert page.locator(".dv-tree-box").bounding_box()["height"] == height > 150
    page.get_by_role("button", name="Back to your run").click()
    shown(page, "iterations", len(traces["rest"]["iterations"]))
    sizes = [len(each["checked"]) for each in traces["rest"]["iterations"]]
    page.locator(".dv-slider").fill(str(sizes.index(max(sizes))))
    shown(page, "shown", sizes.index(max(sizes)))
    box = page.locator(".dv-tree-box")
    assert box.evaluate("box => box.scrollHeight > box.clientHeight && box.clientHeight <= 430")
    own, outer = page.locator('g.dv-node[data-status="correction"]').bounding_box(), box.bounding_box()
    assert outer["y"] <= own["y"] and own["y"] + own["height"] <= outer["y"] + outer["height"]
    assert fits(page)


def test_a_touch_screen_is_told_to_tap(new_page, traces):
    page = open_modules(new_page(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}))
    page.evaluate(VISUALIZER_ALONE)
    send(page, events_of(traces["duodecoding"]))
    expect(page.locator(".dv-facts")).to_have_text("Tap a token for its probability.")


ZOOM = """async (isTold) => {
  if (!isTold) Object.defineProperty(Element.prototype, "currentCSSZoom", { value: undefined });
  const { zoomOf } = await import("/visualizer/dom.js");
  document.body.innerHTML = '<p style="zoom: 1.5; width: 100px"><svg width="40" height="10"></svg></p>';
  return ["p", "svg"].map((name) => zoomOf(document.querySelector(name)));
}"""


@pytest.mark.parametrize("is_told", [True, False])
def test_what_is_pointed_at_in_what_is_zoomed_is_found_also_where_a_browser_does_not_tell_the_zoom(modules, is_told):
    assert modules.evaluate(ZOOM, is_told) == [1.5, 1.5]
