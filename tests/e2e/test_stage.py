"""The stage: what matters of Live on one screen, whatever the screen."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.live_tab import open_live, set_tokens

PARTS = ["#prompt", "#method", "#generate", "#stop", ".dv-status", ".dv-text-box", ".dv-numbers", ".dv-controls"]
PARTS += [".dv-sentence", ".dv-tree-box", ".dv-candidates", ".dv-timeline-drawing", ".dv-chart-grid"]
BOXES = """(parts) => parts.map((part) => {
  const {left, top, right, bottom} = document.querySelector(part).getBoundingClientRect();
  return [part, [left, top, right, bottom].map(Math.round)];
})"""
NOTHING_WIDER = "document.documentElement.scrollWidth <= innerWidth"


def boxes(page, parts=PARTS):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return dict(page.evaluate(BOXES, parts))


@pytest.fixture(scope="module")
def stage(context, site):
    """The Live tab after a run."""
    page = context.new_page()
    open_live(page, site.url)
    set_tokens(page, 60)
    page.locator("#generate").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    yield page
    page.close()


def test_all_that_matters_is_on_one_screen(stage):
    expect(stage.locator(".dv-method")).to_have_text("DuoDecoding")
    for width, height in ((1100, 850), (1280, 800), (1440, 900), (1920, 1080)):
        stage.set_viewport_size({"width": width, "height": height})
        for part, (left, top, right, bottom) in boxes(stage).items():
            assert 0 <= left < right <= width and 0 <= top < bottom <= height, (width, part)


def test_the_stage_grows_with_the_window(stage):
    sizes = []
    for width, height in ((1280, 800), (1920, 1080), (2560, 1440)):
        stage.set_viewport_size({"width": width, "height": height})
        left, top, right, bottom = boxes(stage)[".dv-tree-box"]
        letters = stage.locator(".dv-token").first.bounding_box()["height"]
        sizes.append(((right - left) / width, (bottom - top) / height, letters))
        # Whatever it is enlarged by, what is pressed is what is meant.
        bar = stage.locator("rect.dv-bar").nth(4)
        bar.click()
        expect(stage.locator(".dv")).to_have_attribute("data-shown", bar.get_attribute("data-iteration"))
    assert min(share for share, *_ in sizes) > 0.6
    assert sizes == sorted(sizes, key=lambda size: size[2]) and sizes[2][2] > 1.4 * sizes[0][2]
    assert sizes[1][1] > sizes[0][1]


PRESENTED = [".dv-text-box", ".dv-numbers", ".dv-controls", ".dv-sentence", ".dv-tree-box", ".dv-timeline-drawing"]


def test_presented_all_that_matters_is_on_one_screen_and_half_as_large_again(stage):
    root, dv = stage.locator(":root[data-present]"), stage.locator("#visualizer .dv")
    fills = "document.fullscreenElement !== null"
    stage.locator("#visualizer .dv-slider").fill("3")
    stage.set_viewport_size({"width": 1280, "height": 800})
    before, letters = boxes(stage), stage.locator(".dv-token").first.bounding_box()["height"]
    stage.locator("#prompt textarea").press("f")
    expect(stage.locator("#prompt textarea")).to_have_value(re.compile("f"))
    expect(root).to_have_count(0)
    dv.press("f")
    expect(root).to_have_count(1)
    stage.wait_for_function(fills)
    for width, height in ((1280, 720), (1280, 800), (1920, 1080)):
        stage.set_viewport_size({"width": width, "height": height})
        for part, (left, top, right, bottom) in boxes(stage, PRESENTED).items():
            assert 0 <= left < right <= width and 0 <= top < bottom <= height, (width, part)
        assert stage.locator(".dv-token").first.bounding_box()["height"] > 1.4 * letters
        assert stage.locator(".dv-tree-box").bounding_box()["height"] > 90
    stage.set_viewport_size({"width": 1280, "height": 800})
    expect(stage.locator("#prompt")).to_be_hidden()
    # What is pressed is what is meant.
    bar = stage.locator("rect.dv-bar").nth(4)
    bar.click()
    expect(dv).to_have_attribute("data-shown", bar.get_attribute("data-iteration"))
    stage.locator("#visualizer .dv-slider").fill("3")
    # As the browser's own Escape does.
    stage.evaluate("document.exitFullscreen()")
    expect(root).to_have_count(0)
    expect(dv).to_have_attribute("data-shown", "3")
    assert boxes(stage) == before
    # Without the screen, which a page in a frame may not have, and in the other tabs.
    stage.evaluate("() => { Element.prototype.requestFullscreen = () => Promise.reject(new Error('not allowed')); }")
    stage.get_by_role("button", name="Present", exact=True).click()
    expect(root).to_have_count(1)
    assert not stage.evaluate(fills)
    for tab, form, part in (("Compare", "#ask-race", ".dv-race"), ("Learn", "#ask", ".dl")):
        stage.get_by_role("tab", name=tab).click()
        expect(stage.locator(part)).to_be_visible()
        expect(stage.locator(form)).to_be_hidden()
        assert stage.evaluate(NOTHING_WIDER), tab
    stage.keyboard.press("Escape")
    expect(root).to_have_count(0)
    expect(stage.get_by_role("tab", name="Learn")).to_have_attribute("aria-selected", "true")
    stage.get_by_role("tab", name="Live").click()
    expect(dv).to_have_attribute("data-shown", "3")


def test_on_a_phone_player_sentence_text_and_tree_come_first_and_nothing_is_wider(stage):
    stage.set_viewport_size({"width": 390, "height": 844})
    places = boxes(stage)
    order = [".dv-controls", ".dv-sentence", ".dv-text-box", ".dv-tree-box", ".dv-numbers", ".dv-timeline-drawing"]
    tops = [places[part][1] for part in order]
    assert tops == sorted(tops) and places[".dv-tree-box"][1] < 700
    for tab in ("Compare", "Learn", "Lab", "Live"):
        stage.get_by_role("tab", name=tab).click()
        expect(stage.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        assert stage.evaluate(NOTHING_WIDER), tab


def test_what_opens_over_the_page_closes_again(stage):
    stage.set_viewport_size({"width": 1280, "height": 800})
    for button, inside in (
        ("#about > button", "#no-gpu"),
        ("#settings > button", "#seed"),
        ("#visualizer .dv-menu-help summary", "#visualizer kbd"),
    ):
        shown = stage.locator(inside).first
        for close in (
            lambda: stage.locator("#visualizer .dv-sentence").click(position={"x": 3, "y": 3}),
            lambda: stage.keyboard.press("Escape"),
        ):
            expect(shown).to_be_hidden()
            stage.locator(button).click()
            expect(shown).to_be_visible()
            close()
        expect(shown).to_be_hidden()


def test_the_theme_can_be_changed_and_stays(stage):
    dark = "document.body.classList.contains('dark')"
    was = stage.evaluate(dark)
    stage.get_by_role("button", name="Light or dark").click()
    assert stage.evaluate(dark) != was
    stage.reload()
    stage.wait_for_function(f"{dark} === {str(not was).lower()}")
    stage.get_by_role("button", name="Light or dark").click()
    assert stage.evaluate(dark) == was
    stage.evaluate("localStorage.clear()")


def test_phi_compares_with_vanilla_on_the_same_prompt_in_this_visit(stage, site):
    open_live(stage, site.url)
    set_tokens(stage, 20)
    speeds = {}
    for method in ("DuoDecoding", "Vanilla", "PLD"):
        stage.locator("#method").get_by_text(method, exact=True).click()
        stage.locator("#generate").click()
        expect(stage.locator(".dv-method")).to_have_text(method)
        expect(stage.locator(".dv")).to_have_attribute("data-state", "done")
        speeds[method] = float(stage.locator("[data-number=tps]").inner_text())
        expect(stage.locator("[data-number=phi]")).to_be_visible(visible=method == "PLD")
        # It is the run's, whatever iteration is shown.
        stage.locator(".dv-slider").fill("3")
        expect(stage.locator(".dv")).to_have_attribute("data-shown", "3")
        assert float(stage.locator("[data-number=tps]").inner_text()) == speeds[method]
    phi = float(stage.locator("[data-number=phi]").inner_text())
    assert phi == pytest.approx(speeds["PLD"] / speeds["Vanilla"], rel=0.05, abs=0.006)
    # Of another prompt it is not known, until vanilla has run on that one.
    stage.locator("#prompt textarea").fill("Another prompt")
    stage.locator("#generate").click()
    stage.locator(".dv-run-vanilla").click()
    expect(stage.locator(".dv-method")).to_have_text("Vanilla")
    expect(stage.locator(".dv-message")).to_contain_text("PLD, on the same prompt, was")


def test_by_keys_the_focus_goes_on_to_the_button_that_ends_or_begins_again(page, site):
    page.goto(site.url)
    begin, end = [page.get_by_role("button", name=name, exact=True) for name in ("Present", "End presentation")]
    expect(begin).to_be_visible()
    begin.press("Enter")
    expect(end).to_be_focused()
    end.press("Enter")
    expect(begin).to_be_focused()
    # Of whoever points, the next space is the player's.
    begin.click()
    expect(end).to_be_visible()
    expect(end).not_to_be_focused()
