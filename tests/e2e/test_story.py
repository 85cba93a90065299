"""A first visit: one text written twice, and the story in seven stops, both told with the recorded runs."""

import re
from contextlib import contextmanager

from playwright.sync_api import expect

from tests.e2e.pages import (
    PATIENCE,
    copy,
    is_at,
    page_in,
    press,
    runs_until,
    set_tokens,
    settle,
    violations_in_both,
)  # fmt: skip


@contextmanager
def first_visit(browser, url, fragment="", *, clocked=False, **options):
    """The page as somebody sees it who has never been there. clocked: whether a test may hurry its clock on."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
    context.set_default_timeout(PATIENCE)
    page = page_in(context)
    if clocked:
        page.clock.install()
    page.goto(f"{url}{fragment}")
    yield page
    assert not page.errors
    context.close()


def stop_at(page, number):
    is_at(page.locator(".dv-story"), stop=number)
    title = page.locator(".dv-story-marks [aria-current=step]").get_attribute("title")
    expect(page.locator(".dv-story-title")).to_have_text(title)


def test_two_runs_write_one_text_and_the_knob_says_when_it_would_not_pay(browser, shipped):
    with first_visit(browser, shipped, clocked=True) as page:
        first = page.locator(".dv-first")
        knob, counts, end = first.locator("input"), first.locator(".dv-first-count"), first.locator(".dv-first-now")

        def is_over():
            return first.get_attribute("data-over") == "yes"

        is_at(first, over="no")
        # What it is an answer to stays there, whatever is written above.
        page.locator("#prompt textarea").fill("Another one")
        expect(first.locator(".dv-first-prompt")).to_have_text(re.compile('^answers ".+[?.]"$'))
        expect(page.locator(".dv-tree-box")).to_be_hidden()
        runs_until(page, is_over)
        expect(counts).to_have_text(2 * [re.compile(r"^\d+ tokens$")])
        expect(end).to_have_text(
            re.compile(r"^The same \d+ tokens take .* alone and .* together, 1\.\d\d times as fast\.$")
        )
        expect(first.locator(".dv-first-end")).to_have_text(
            re.compile(
                r"^Other prompts: [\d.]+ to [\d.]+ times by their kind, [\d.]+ on average\. "
                r"Here both models share one processor, so taking turns \(SpS\) is faster: .*\. "
                r".* the paper found it faster; .* measured here\. See the Lab$"
            )
        )
        expect(knob).to_have_attribute("aria-valuetext", re.compile("as recorded$"))
        # The large model's bar stays as long as it is, wherever the knob stands.
        alone = first.locator(".dv-first-time").first
        place = alone.get_attribute("x")
        knob.press("Home")
        expect(knob).to_have_attribute("aria-valuetext", "0 %, computed")
        assert alone.get_attribute("x") == place
        # What stands over the lanes is of what is drawn there.
        rows = [first.locator(".dv-first-side").nth(place) for place in (0, 1)]
        passes = [row.locator(".dv-bar[data-lane=target]").count() for row in rows]
        said = [re.search(r"(\d+) passes", row.locator(".dv-lane-label").first.text_content()) for row in rows]
        assert passes == [int(found[1]) for found in said] and passes[0] == passes[1] > 40
        expect(end).to_have_text(re.compile("^Computed: .* 0[.]"))
        assert first.locator('.dv-first-view .dv-token[data-source="draft"]').count() == 0
        knob.press("End")
        expect(end).to_have_text(re.compile("^Computed: .* [1-9].* times as fast"))
        # Another method is raced against the large model alone.
        expect(page.locator("#method")).to_be_hidden()
        look, beside = (page.get_by_role("button", name=name) for name in ("Look inside this run", "Side by side"))
        look.click()
        duotree = page.locator("#method label", has_text="DuoTree")
        expect(duotree).to_be_hidden()
        press(page, "More methods")
        expect(page.locator("#method input:checked")).to_be_focused()
        duotree.click()
        is_at(page.locator("#visualizer .dv"), method="duotree", state="recording")
        beside.click()
        expect(first.get_by_role("heading", name="DuoTree: with a small model guessing ahead")).to_be_visible()
        runs_until(page, is_over)
        expect(end).to_have_text(re.compile(r"^The same \d+ tokens .* \d\.\d\d times as fast"))
        expect(first.locator("input")).to_have_count(0)
        look.click()
        expect(first).to_be_hidden()
        is_at(page.locator("#visualizer .dv"), state="recording")
        beside.click()
        is_at(first, over="no")


def test_after_an_own_run_it_stands_beside_the_large_models(browser, shipped):
    with first_visit(browser, shipped, reduced_motion="reduce") as page:
        page.locator("#prompt textarea").fill("Who are you?")
        set_tokens(page, 20)
        first, phi = page.locator(".dv-first"), page.locator("[data-number=phi]")
        expect(first).to_be_visible()
        page.locator("#generate").click()
        expect(first).to_be_hidden()
        # Whoever asked from here comes back here when both have run.
        expect(first.locator(".dv-first-prompt")).to_have_text('answers "Who are you?"')
        expect(first).to_contain_text("Your run, on ")
        expect(first.locator(".dv-first-end")).to_have_text(
            re.compile(r"^The limit on new tokens was reached\. \d+ % of .* waits: .* One run of each, .* in Compare$")
        )
        # At the bars' ends stand the sentence's times.
        times, said = first.locator(".dv-first-time"), first.locator(".dv-first-now").text_content()
        expect(times).to_have_count(2)
        assert all(time in said for time in times.all_text_contents())
        expect(first.locator(".dv-first-count")).to_have_text(2 * ["20 tokens"])
        # Of what it would be with other guesses only the recorded one says something.
        expect(first.locator("input")).to_have_count(0)
        page.reload()
        expect(first).to_contain_text("Your run, on ")
        press(page, "Look inside this run")
        is_at(page.locator("#visualizer .dv"), state="done")
        expect(phi).to_have_text(re.compile(r"\d"))
        expect(page.locator("[data-number=phi] + * small")).to_have_text("one run each")
        # Whoever looks inside stays there.
        page.locator("#prompt textarea").fill("Who is she?")
        set_tokens(page, 21)
        page.locator("#generate").click()
        expect(page.locator(".dv-message")).to_have_text(re.compile("21 tokens .* as fast as the large model alone"))
        expect(first).to_be_hidden()


def test_what_comes_late_does_not_cover_a_run(new_page, shipped):
    page, held = new_page(), []
    # As for a first visit, with a slow line to the recordings.
    page.add_init_script("localStorage.clear()")
    page.route("**/*.duoviz.json", lambda route: held.append(route))
    page.goto(shipped)
    set_tokens(page, 20)
    page.locator("#generate").click()
    is_at(page.locator("#visualizer .dv"), state="done")
    with page.expect_response("**/vanilla.duoviz.json"):
        for route in held:
            route.continue_()
    page.evaluate("new Promise((done) => setTimeout(done, 300))")
    expect(page.locator(".dv-first")).to_be_hidden()


def test_the_story_is_stepped_through_and_ends_with_the_prompt(browser, shipped):
    with first_visit(browser, shipped, clocked=True) as page:
        story, prompt = page.locator(".dv-story"), page.locator("#prompt textarea")
        press(page, "See how, in one minute")
        stop_at(page, 1)
        expect(page.locator(".dv-tree-box")).to_be_hidden()
        expect(prompt).to_be_hidden()
        # It goes on by itself.
        runs_until(page, lambda: story.get_attribute("data-stop") == "2")
        for name in ("Play", "Pause"):
            page.keyboard.press("Space")
            expect(story.get_by_role("button", name=name)).to_be_visible()
        for number in range(3, 8):
            page.keyboard.press("ArrowRight")
            stop_at(page, number)
        page.keyboard.press("ArrowLeft")
        stop_at(page, 6)
        story.get_by_role("button", name="7: ").click()
        stop_at(page, 7)
        page.keyboard.press("ArrowRight")
        expect(story).to_be_hidden()
        expect(prompt).to_be_focused()
        # The stage stands where the story was.
        is_at(page.locator("#visualizer .dv"), state="recording", playing="no")
        expect(page.locator(".dv-sentence")).to_contain_text(re.compile(r"First \d of \d guesses right"))
        # Who has seen it comes to the stage at once, and may see it again.
        page.reload()
        is_at(page.locator("#visualizer .dv"), playing="yes")
        expect(story).to_be_hidden()
        button = page.get_by_role("button", name="How it works", exact=True)
        button.click()
        stop_at(page, 1)
        expect(story).to_be_focused()
        page.keyboard.press("Escape")
        expect(story).to_be_hidden()
        expect(button).to_be_focused()


def test_a_link_opens_it_at_a_stop_and_presented_each_stop_waits_for_whoever_presents(browser, shipped):
    with first_visit(browser, shipped, "#story=3", clocked=True) as page:
        story, presented = page.locator(".dv-story"), page.locator(":root[data-present]")
        stop_at(page, 3)
        assert copy(page).endswith("&story=3")
        page.locator(".dv-story-skip").click()
        expect(story).to_be_hidden()
        # It is followed on another tab, too.
        page.get_by_role("tab", name="Compare", exact=True).click()
        page.evaluate("location.hash = '#story=7'")
        stop_at(page, 7)
        expect(story).to_be_visible()
        story.press("f")
        expect(presented).to_have_count(1)
        settle(page)
        # Longer than any stop takes.
        page.clock.run_for(20_000)
        expect(page.locator(".dv-story-yours")).not_to_have_class(re.compile("unwritten"))
        expect(story.get_by_role("button", name="Play")).to_be_visible()
        # Escape ends the presentation first.
        page.keyboard.press("Escape")
        expect(presented).to_have_count(0)
        expect(story).to_be_visible()


STILL = "document.querySelector('.dv-story').getAnimations({ subtree: true }).length === 0"
OVERFLOWS = """() => {
  const nodes = [document.documentElement, ...document.querySelectorAll(".dv-first, .dv-story, .dv-story-figure")];
  return nodes.filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.className);
}"""


LETTERS = """() => [...document.querySelectorAll(".dv-story text")]
  .map((text) => text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize)).filter((size) => size < 12.99)"""
IS_CUT = "(view) => view.scrollHeight > view.clientHeight"
SIZES = ((1280, 800), (390, 844), (1920, 1080))


def test_without_motion_each_stop_is_a_still_that_fits_and_can_be_read(browser, shipped):
    with first_visit(browser, shipped, reduced_motion="reduce") as page:
        is_at(page.locator(".dv-first"), over="yes")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            assert page.evaluate(OVERFLOWS) == []
            # The whole answer, but on a phone.
            cut = [view for view in page.locator(".dv-first-view").all() if view.evaluate(IS_CUT)]
            assert len(cut) == (2 if width < 700 else 0)
        assert not violations_in_both(page, ".dv-first")
        page.get_by_role("link", name="See the Lab").click()
        expect(page.get_by_role("tab", name="Lab")).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab", name="Live").click()
        page.get_by_role("link", name="Guess yourself").click()
        expect(page.get_by_role("heading", name="Guess yourself")).to_be_visible()
        page.get_by_role("tab", name="Live").click()
        press(page, "See how, in one minute")
        for number in range(1, 8):
            # There and back: a resize takes longer than a look.
            for width, height in SIZES[:: 1 if number % 2 else -1]:
                page.set_viewport_size({"width": width, "height": height})
                settle(page)
                stop_at(page, number)
                assert page.evaluate(STILL)
                # The branches of a phone stand below their bars.
                if number not in ((2, 7) if width > 900 else (2, 6, 7)):
                    assert page.locator(".dv-story-arrows path").count() > 1, number
                assert page.evaluate(OVERFLOWS) == [] and page.evaluate(LETTERS) == [], (number, width)
                top, story = (page.locator(part).bounding_box() for part in ("#top", ".dv-story"))
                assert top["y"] + top["height"] <= story["y"], number
                assert story["y"] + story["height"] <= height, number
                # Letters are smallest on a phone, which has all but one text of the last stop.
                if width < 900 or number == 7:
                    assert not violations_in_both(page, ".dv-story"), number
            page.locator(".dv-story").get_by_role("button", name="Step forward").click()
        expect(page.locator("#prompt textarea")).to_be_focused()
