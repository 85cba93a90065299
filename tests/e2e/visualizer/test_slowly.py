"""Guess, then check: an iteration played slowly shows at each moment what was known then."""

import json

import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.recordings import ENDING, FOLDER
from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.pages import open_modules
from tests.e2e.visualizer.conftest import VISUALIZER_ALONE
from tests.e2e.visualizer.shown import send
from tests.tiny import tiny_engine

READ = """() => {
  const root = document.querySelector(".dv");
  const looks = Array.from(root.querySelectorAll("g.dv-node"), (node) => [node.dataset.list, Number(node.dataset.index),
    node.classList.contains("dv-unborn") ? "unborn" : node.dataset.status]);
  const later = root.querySelector(`.dv-group[data-group="${root.dataset.shown}"]`).classList.contains("dv-later");
  const [band, head] = [".dv-band", ".dv-playhead"].map((part) => root.querySelector(part).getBoundingClientRect());
  const isInside = head.left >= band.left - 1 && head.left <= band.right + 1;
  return { shown: Number(root.dataset.shown), moment: root.dataset.moment, looks, later, isInside,
    taken: root.querySelectorAll(".dv-node.dv-taken").length,
    theta: !root.querySelector(".dv-theta").hidden, said: root.querySelector(".dv-sentence").textContent };
}"""


def depth(nodes, index):
    return 0 if nodes[index]["parent"] < 0 else 1 + depth(nodes, nodes[index]["parent"])


def root_of(nodes, index):
    return index if nodes[index]["parent"] < 0 else root_of(nodes, nodes[index]["parent"])


def born(iteration, name, index, *, parallel):
    """When a node came to be, by the times of the draft's steps."""
    node, nodes, ends = iteration[name][index], iteration[name], [step["end"] for step in iteration["draft"]]
    if node["status"] == "correction":
        return judged(iteration, name)
    if name == "checked":
        return 0 if parallel else ends[depth(nodes, index)]
    # The first sequence is a token ahead of the others, which begin when θ is known.
    return ends[depth(nodes, index) + (root_of(nodes, index) > 0)]


def judged(iteration, name):
    return iteration["sync"] if name == "drafted" else iteration["target"]["end"]


def look(iteration, name, index, moment, *, parallel):
    if moment < born(iteration, name, index, parallel=parallel):
        return "unborn"
    return "pending" if moment < judged(iteration, name) else iteration[name][index]["status"]


def telling(iterations):
    """The first of two iterations in which all that can become of a guess does, and the draft makes several steps."""
    for first in range(1, len(iterations) - 1):
        both = iterations[first : first + 2]
        statuses = {node["status"] for each in both for node in [*each["checked"], *each["drafted"]]}
        steps = min(len(each["draft"]) for each in both)
        if {"accepted", "rejected", "correction"} <= statuses and steps >= 1 + (both[0]["theta"] is not None):
            return first
    raise AssertionError("no two iterations show it all")


@pytest.mark.parametrize("method", ["duodecoding", "speculative"])
def test_each_nodes_look_at_each_moment_agrees_with_the_traces_times(clocked_page, method):
    trace = json.loads((FOLDER / f"{method}{ENDING}").read_text(encoding="utf-8"))
    first = telling(trace["iterations"])
    page, parallel = open_modules(clocked_page), method == "duodecoding"
    page.clock.install(time=0)
    page.clock.pause_at(60)
    page.evaluate(VISUALIZER_ALONE)
    send(page, events_of(trace))
    root = page.locator(".dv")
    page.clock.run_for(500)
    expect(root).to_have_attribute("data-state", "done")
    page.locator(".dv-slider").fill(str(first))
    page.locator(".dv-speed").select_option("3 s")
    page.get_by_role("button", name="Play", exact=True).click()
    seen, moments = set(), {first: [], first + 1: []}
    for _ in range(64):
        page.clock.run_for(100)
        drawn = page.evaluate(READ)
        if drawn["shown"] > first + 1:
            break
        iteration, moment = trace["iterations"][drawn["shown"]], float(drawn["moment"])
        moments[drawn["shown"]].append(moment)
        assert trace["iterations"][drawn["shown"] - 1]["sync"] <= moment <= iteration["sync"] and drawn["isInside"]
        assert len(drawn["looks"]) == len(iteration["checked"]) + len(iteration["drafted"])
        for name, index, shown in drawn["looks"]:
            assert shown == look(iteration, name, index, moment, parallel=parallel), (name, index, moment)
            seen.add(shown)
        # Which branch is taken shows when it is known.
        assert not (parallel and drawn["taken"] and moment < iteration["target"]["end"] and not iteration["checked"])
        assert drawn["later"] == (moment < iteration["sync"])
        if parallel:
            assert drawn["theta"] == (moment >= iteration["draft"][1]["end"])
        assert ("so far" in drawn["said"] or "while" in drawn["said"]) <= (moment < iteration["sync"])
    assert {"unborn", "pending", "accepted", "rejected", "correction"} <= seen
    for shown, told in moments.items():
        # Three seconds an iteration: most of them the clock goes on, and then what became of the guesses stands there.
        assert 27 <= len(told) <= 33 and told == sorted(told)
        assert 5 <= told.count(trace["iterations"][shown]["sync"]) <= 12


TIMES = """async ([iteration, header]) => {
  const { timesOf } = await import("http://plain.test/visualizer/moments.js");
  return timesOf(iteration, "drafted", header).map(({ born }) => born);
}"""


def test_a_sequence_that_has_ended_takes_no_later_step(modules, traces):
    """Three sequences of two, three and two tokens: the first is at its end when the others go on."""
    parents = [-1, 0, -1, 2, 3, -1, 5]
    steps = [{"start": number, "end": number + 1, "tokens": tokens} for number, tokens in enumerate((1, 1, 2, 1))]
    nodes = [{"parent": parent, "status": "discarded"} for parent in parents]
    iteration = {"target": {"start": 0, "end": 9}, "draft": steps, "sync": 9, "drafted": nodes}
    assert modules.evaluate(TIMES, [iteration, traces["duodecoding"]["header"]]) == [1, 2, 2, 3, 4, 2, 3]


SLIDES = """async ([events, position]) => {
  const [{ mount }, { createSlides }] = await Promise.all(
    ["mount", "slides"].map((name) => import(`http://plain.test/visualizer/${name}.js`)));
  const root = document.body.appendChild(document.createElement("div"));
  const { state } = mount(root, { subscribe(callback) { events.forEach(callback); } });
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
  while (state.phase !== "done") await nextFrame();
  const slides = createSlides(root, state, { from: position, to: position });
  await nextFrame();
  await nextFrame();
  const seen = [];
  for (let picture = slides.next(0); picture; picture = slides.next(0.1)) {
    const drawn = new DOMParser().parseFromString(picture.text, "image/svg+xml");
    const looks = Array.from(drawn.querySelectorAll("g.dv-node"), ({ dataset, classList }) => (
      [dataset.list, Number(dataset.index), classList.contains("dv-unborn") ? "unborn" : dataset.status]));
    const bars = drawn.querySelectorAll(".dv-bar").length;
    seen.push({ part: slides.part(), looks, bars, told: drawn.documentElement.textContent });
  }
  slides.remove();
  return seen;
}"""


def test_the_slides_of_an_iteration_are_its_moments(modules):
    trace = json.loads((FOLDER / f"duodecoding{ENDING}").read_text(encoding="utf-8"))
    shown = telling(trace["iterations"])
    iteration, begin = trace["iterations"][shown], trace["iterations"][shown - 1]["sync"]
    slides = modules.evaluate(SLIDES, [events_of(trace), shown])
    assert 28 <= len(slides) <= 32 and slides[0]["part"] == 0 and slides[-1]["part"] == 1
    for slide in slides:
        moment = iteration["sync"] if slide["part"] == 1 else begin + slide["part"] * (iteration["sync"] - begin)
        assert len(slide["looks"]) == len(iteration["checked"]) + len(iteration["drafted"]) and slide["bars"] > 3
        for name, index, seen in slide["looks"]:
            assert seen == look(iteration, name, index, moment, parallel=True), (name, index, moment)
        assert f"DuoDecoding, iteration {shown}: “{trace['header']['prompt']}”" in slide["told"]
    assert "while the draft guesses" in slides[1]["told"] and "while the draft guesses" not in slides[-1]["told"]
    assert not modules.errors


def test_what_is_held_in_the_middle_stays_there(plain_page, traces):
    send(plain_page, events_of(traces["duodecoding"]))
    root = plain_page.locator(".dv")
    expect(root).to_have_attribute("data-state", "done")
    plain_page.get_by_role("button", name="Watch it slowly").click()
    expect(plain_page.locator(".dv-speed")).to_have_value("3 s")
    expect(root).not_to_have_attribute("data-moment", "")
    plain_page.keyboard.press(" ")
    expect(root).to_have_attribute("data-playing", "no")
    held = root.get_attribute("data-moment")
    assert held and root.get_attribute("data-moment") == held
    plain_page.keyboard.press(" ")
    expect(root).to_have_attribute("data-playing", "yes")
    expect(root).not_to_have_attribute("data-moment", held)
    plain_page.keyboard.press("ArrowRight")
    expect(root).to_have_attribute("data-moment", "")
    assert not plain_page.errors


# What begins to move from now on.
WATCH = """() => {
  const animate = Element.prototype.animate;
  window.moving = [];
  Element.prototype.animate = function (...options) {
    window.moving.push(`${this.dataset.list} ${this.dataset.index}`);
    return animate.apply(this, options);
  };
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_lives_on_moves_to_its_new_place(plain_page, motion):
    engine = tiny_engine(noise=0.0)
    settings = Settings(max_new_tokens=40, overlap="beside", tree_budget=2)
    iterations = runner.collect(runner.stream(engine, "duotree", "hello", settings))
    moved = [
        [f"{name} {i}" for name in ("checked", "rest") for i, node in enumerate(each.get(name, [])) if known(node)]
        for each in iterations["iterations"]
    ]
    shown = next(index for index, each in enumerate(moved) if len(each) > 1)
    plain_page.emulate_media(reduced_motion=motion)
    send(plain_page, events_of(iterations))
    expect(plain_page.locator(".dv")).to_have_attribute("data-state", "done")
    plain_page.locator(".dv-slider").fill(str(shown - 1))
    expect(plain_page.locator(".dv")).to_have_attribute("data-shown", str(shown - 1))
    plain_page.evaluate(WATCH)
    plain_page.keyboard.press("ArrowRight")
    expect(plain_page.locator(".dv")).to_have_attribute("data-shown", str(shown))
    plain_page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    moving = plain_page.evaluate("window.moving")
    assert set(moving) <= set(moved[shown]) and bool(moving) == (motion == "no-preference")
    plain_page.emulate_media(reduced_motion="no-preference")


def known(node):
    return node.get("was") is not None


MEANWHILE = """async ([iteration, header]) => {
  const { meanwhile } = await import("http://plain.test/visualizer/meanwhile.js");
  return meanwhile(iteration, header, (iteration.target.start + iteration.target.end) / 2);
}"""


def test_meanwhile_the_target_reads_the_prompt_in_the_first_iteration_alone(modules, traces):
    for method, trace in traces.items():
        first, second = trace["iterations"][:2]
        told = [modules.evaluate(MEANWHILE, [each, trace["header"]]) for each in (first, second)]
        assert told[0].startswith("The target reads the prompt") and "prompt" not in told[1], method
