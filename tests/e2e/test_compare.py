"""The Compare tab in a real browser: its recording, its form, its races."""

from playwright.sync_api import expect

from duoviz.decoding import METHODS
from duoviz.lab.plan import look_of
from duoviz.trace.metrics import metrics
from tests.e2e.journeys import choose_tab
from tests.e2e.pages import ask_for_a_race, fits, is_at, present, press, side, text_of
from tests.until import wait_until
from tests.web.front.runs import recorded


def test_a_recorded_race_plays_as_the_tab_opens_and_gives_way_to_a_live_one(page, shipped):
    page.goto(shipped)
    choose_tab(page, "Compare")
    race, speed, label = (page.locator(part) for part in (".dv-race", ".dv-race .dv-speed", ".dv-race-message"))
    # On its own, and not faster than it was measured.
    is_at(race, state="recording", playing="true")
    expect(speed).to_have_value("0.5")
    press(page, "To the finish")
    traces = [recorded(method) for method in ("duodecoding", "vanilla")]
    is_at(race, clock=max(trace["iterations"][-1]["sync"] for trace in traces))
    header, found = traces[0]["header"], [metrics(trace)["tps"] for trace in traces]
    expect(label).to_contain_text("A recording, not a live run: each method ran alone, on ")
    expect(label).to_contain_text(header["target"]["device"].split("(")[1].rstrip(")"))
    expect(label.locator("q")).to_have_text(header["prompt"])
    expect(page.locator(".dv-headline")).to_contain_text(f"{max(found):.1f} against {min(found):.1f} tokens/s")
    # Each in its method's colour, as in the Lab.
    for number, method in enumerate(("duodecoding", "vanilla")):
        curve = page.locator(f".dv-curves .dv-curve[data-place='{number}']")
        expect(curve).to_have_attribute("stroke", look_of(method).colour)
    # Of what the other tabs say nothing is announced.
    elsewhere = "(nodes) => nodes.filter((node) => !node.closest('#tab-compare')).map((node) => node.textContent)"
    expect(page.locator("#tab-live [role=status]").filter(has_text="Press Generate to run")).to_have_count(1)
    assert not any(page.get_by_role("status").evaluate_all(elsewhere))
    ask_for_a_race(page, 24)
    is_at(race, state="done")
    expect(label.locator("q")).to_be_hidden()
    expect(speed).to_have_value("1")
    # What a method does is read where one hovers, and moves nothing.
    bar, first = page.locator("#ask-race"), page.locator("#ask-race .methods").first
    about = first.locator(".info-text")
    height = bar.bounding_box()["height"]
    first.get_by_text("SpS", exact=True).click()
    expect(about).to_have_text(METHODS["speculative"].about)
    expect(about).to_be_visible()
    assert bar.bounding_box()["height"] == height


RACE = (".dv-side >> nth=0", ".dv-side >> nth=1", ".dv-curves", ".dv-headline", ".dv-verdict", ".dv-figures")


# What is not a whole line at the texts' upper and lower ends, and how much is below, in lines.
PARTS_OF_LINES = """() => [...document.querySelectorAll(".dv-side .dv-text-box")].flatMap((box) => {
  const line = parseFloat(getComputedStyle(box).lineHeight);
  const below = box.scrollHeight - box.clientHeight - box.scrollTop;
  const partOf = (length) => length / line - Math.round(length / line);
  return [partOf(box.scrollTop), partOf(box.clientHeight), below / line];
})"""

# All of it at one moment: a page that becomes narrower is laid out more than once.
NOTHING_EMPTY = """() => {
  const parts = [".dv-side", ".dv-sources", ".dv-controls", ".dv-race-below", ".dv-why"];
  const boxes = parts.map((part) => document.querySelector(`.dv-race ${part}`).getBoundingClientRect());
  const [sides, sources, controls, below, why] = boxes;
  const isBetween = (length, most) => length >= 0 && length <= most;
  const isBelow = isBetween(sources.top - sides.bottom, 16) && sources.bottom <= controls.top;
  return isBelow && isBetween(why.top - below.bottom, 20);
}"""


def check_layout(page):
    """The texts stand at their end in whole lines; what their underlines mean is below them; nothing stands empty."""
    page.wait_for_function(f"({PARTS_OF_LINES})().every((part) => Math.abs(part) < 0.1)")
    page.wait_for_function(f"({NOTHING_EMPTY})()")


def test_the_race_lies_on_one_screen_and_fits_a_phone(new_page, shipped):
    page = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.goto(f"{shipped}#tab=compare")
    is_at(page.locator(".dv-race"), state="recording")
    # Whoever wants less motion sees the finish at once.
    expect(page.locator(".dv-verdict")).to_be_visible()

    def boxes(*parts):
        return [page.locator(part).first.bounding_box() for part in parts]

    assert all(box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 800 for box in boxes(*RACE))
    check_layout(page)
    for presented in (True, False):
        present(page, presented)
        check_layout(page)
    page.set_viewport_size({"width": 390, "height": 844})
    check_layout(page)
    # The form above is laid out more than once.
    wait_until(lambda: fits(page) and all(box["y"] + box["height"] <= 844 for box in boxes(*RACE[:2])))


def test_a_race_in_the_tab_a_mistake_and_one_that_is_stopped(page, site):
    page.goto(site.url)
    choose_tab(page, "Compare")
    race = page.locator(".dv-race")
    is_at(race, state="empty")
    expect(page.locator("#stop-race")).to_be_hidden()
    ask_for_a_race(page, 24, button="#race-like-for-like")
    is_at(race, state="done")
    texts = [text_of(side(page, number)) for number in (0, 1)]
    is_at(page.locator(".dv-verdict"), verdict="equal")
    expect(page.locator("[data-figure=phi_same_cores]").filter(has_text="–")).to_have_count(0)
    phis = page.locator("[data-figure=phi_same_cores]").all_inner_texts()
    assert phis and all(float(phi) > 0 for phi in phis)
    expect(page.locator(".dv-figures caption")).to_contain_text("3 rounds: all tokens over all seconds")
    assert page.locator(".dv-curve[data-place='2']").count() >= 1
    # Mistakes are told in the page, and what was there stays: no race has begun.
    ask_for_a_race(page, 0)
    expect(page.locator(".dv-race .dv-message").first).to_contain_text("Max new tokens (max_new_tokens): enter")
    assert [text_of(side(page, number)) for number in (0, 1)] == texts
    # Stopping keeps what was written, and frees the place.
    ask_for_a_race(page, 4000)
    is_at(race, state="running")
    page.wait_for_function("() => Number(document.querySelector('.dv-side')?.dataset.tokens) > 5")
    expect(page.locator("#race")).to_be_hidden()
    page.locator("#stop-race").click()
    expect(page.locator("#race")).to_be_focused()
    is_at(race, state="done")
    assert 5 < int(side(page, 0).get_attribute("data-tokens")) < 4000
    wait_until(lambda: not site.hardware.queue.jobs)
