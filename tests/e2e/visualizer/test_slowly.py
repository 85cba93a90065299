"""Guess, then check: an iteration played slowly shows at each moment what was known then."""

from playwright.sync_api import expect

from tests.e2e.pages import move_to, send, settle, shown
from tests.trace.made import events_of
from tests.web.front.runs import recorded, telling

# At each moment: what each node looks like in the picture, and by moments.js, which tests/web/front holds to the trace.
SLIDES = """async ([trace, events, position]) => {
  const [{ mount }, { createSlides }, { lookAt, timesOf }, { fateOf }] = await Promise.all(
    ["mount", "picture", "moments", "words"].map((name) => import(`/web/front/visualizer/${name}.js`)));
  const root = document.body.appendChild(document.createElement("div"));
  const { state } = mount(root, { subscribe(callback) { events.forEach(callback); } });
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
  while (state.phase !== "done") await nextFrame();
  const slides = createSlides(root, state, { from: position, to: position });
  await nextFrame();
  await nextFrame();
  const [seen, iteration, begin] = [[], trace.iterations[position], trace.iterations[position - 1].sync];
  for (let picture = slides.next(0); picture; picture = slides.next(0.1)) {
    const drawn = new DOMParser().parseFromString(picture, "image/svg+xml");
    const part = slides.part();
    const moment = part === 1 ? iteration.sync : begin + part * (iteration.sync - begin);
    const looks = [...drawn.querySelectorAll("g.dv-node")].map(({ dataset: { list, index, status }, classList }) => (
      [classList.contains("dv-unborn") ? "unborn" : status,
        lookAt(timesOf(iteration, list, trace.header)[index], fateOf(list, iteration[list][index]), moment)]));
    const bars = drawn.querySelectorAll(".dv-bar").length;
    seen.push({ part, moment, looks, bars, told: drawn.documentElement.textContent });
  }
  slides.remove();
  return seen;
}"""


def test_the_slides_of_an_iteration_are_its_moments(modules):
    trace, seen = recorded("duodecoding"), set()
    for at in (telling(trace["iterations"]), telling(trace["iterations"]) + 1):
        iteration = trace["iterations"][at]
        slides = modules.evaluate(SLIDES, [trace, events_of(trace), at])
        assert 18 <= len(slides) <= 23 and slides[0]["part"] == 0 and slides[-1]["part"] == 1
        for slide in slides:
            assert len(slide["looks"]) == len(iteration["checked"]) + len(iteration["drafted"]) > 0
            assert slide["bars"] > 3
            assert all(look == expected for look, expected in slide["looks"]), slide
            seen |= {look for look, _ in slide["looks"]}
            assert f"DuoDecoding, iteration {at}: “{trace['header']['prompt']}”" in slide["told"]
    assert {"unborn", "pending", "accepted", "rejected", "correction"} <= seen


def test_what_is_played_behind_a_run_says_how_far(plain_page):
    page, (*events, end) = plain_page, events_of(recorded("duodecoding"))
    send(page, [{"type": "reset", "pace": "2 s"}, *(event for event in events if event["type"] != "reset")])
    where, behind = page.locator(".dv-where"), round(events[-1]["iteration"]["sync"])
    assert behind > 0
    expect(where).to_have_text(f"The prompt's pass · slowed down, {behind} s behind")
    # The text ahead has no model's colour, which the key says while there is any.
    later = page.locator(".dv-legend-list[data-later]")
    expect(later).to_have_count(1)
    send(page, [end])
    expect(where).to_have_text("The prompt's pass · 2 s each")
    page.locator(".dv").press("End")
    expect(later).to_have_count(0)


def test_beside_the_tree_stands_what_its_marks_mean(plain_page):
    page, trace = plain_page, recorded("duodecoding")
    send(page, events_of(trace))
    shown(page, state="done")
    marks = page.locator(".dv-legend li:not(.dv-absent) .dv-legend-mark")
    seen = set()
    for at in (0, telling(trace["iterations"]), len(trace["iterations"]) - 1):
        move_to(page, at)
        settle(page)
        drawn = set(page.locator(".dv-node").evaluate_all("(nodes) => nodes.map((node) => node.dataset.status)"))
        told = marks.evaluate_all("(marks) => marks.map((mark) => mark.dataset.status)")
        assert set(told) == {"pending", "accepted", "rejected"} | drawn
        seen.add(len(told))
    assert len(seen) > 1


# What stands on the stage in each frame from now on.
WATCH_BEATS = """() => {
  window.beats = [];
  const { dataset } = document.querySelector(".dv");
  const count = (parts) => document.querySelectorAll(parts).length;
  const look = () => {
    if (dataset.beat) {
      window.beats.push({
        beat: dataset.beat, shown: Number(dataset.shown), said: document.querySelector(".dv-sentence").innerText,
        flying: count(".dv-flying"), left: count(".dv-fallen, .dv-leaving, .dv-left"),
      });
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def test_each_beat_has_its_sentence_and_the_verdict_sends_tokens_to_the_text(plain_page):
    page, trace = plain_page, recorded("duodecoding")
    page.emulate_media(reduced_motion="no-preference")
    send(page, events_of(trace))
    shown(page, state="done")
    at = telling(trace["iterations"])
    move_to(page, at)
    verdict = page.locator(".dv-sentence").inner_text()
    page.evaluate(WATCH_BEATS)
    page.locator(".dv-speed").select_option("2 s")
    page.keyboard.press(" ")
    shown(page, shown=at + 1)
    page.keyboard.press(" ")
    beats = [beat for beat in page.evaluate("window.beats") if beat["shown"] == at]
    assert {beat["beat"] for beat in beats} == {"guess", "guess check", "check", "verdict"}
    for beat in beats:
        is_verdict = beat["beat"] == "verdict"
        assert beat["said"] == verdict if is_verdict else beat["said"].startswith("The large model "), beat
        assert is_verdict or beat["flying"] == beat["left"] == 0
    # Each token that comes from the tree flies once, and stands in its colour then.
    assert max(beat["flying"] for beat in beats) >= 1 and max(beat["left"] for beat in beats) >= 1
    page.wait_for_function("document.querySelectorAll('.dv-flying').length === 0")
    assert page.locator(".dv-coming").count() == 0
    # On a phone they would cross the figures.
    page.set_viewport_size({"width": 390, "height": 844})
    move_to(page, at)
    page.evaluate("window.beats.length = 0")
    page.keyboard.press(" ")
    shown(page, shown=at + 1)
    page.keyboard.press(" ")
    seen = page.evaluate("window.beats")
    assert {"guess", "verdict"} <= {beat["beat"] for beat in seen} and {beat["flying"] for beat in seen} == {0}
