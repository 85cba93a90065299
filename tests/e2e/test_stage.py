"""The stage: what matters of Live on one screen, whatever the screen."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.journeys import choose_tab
from tests.e2e.pages import copy, fits, is_at, is_whole, move_to, open_live, press, set_tokens, settle, start_endless

PARTS = ["#prompt", "#method", "#generate", ".dv-status", ".dv-text-box", ".dv-numbers", ".dv-controls"]
PARTS += [".dv-sentence", ".dv-tree-box", ".dv-timeline-drawing", ".dv-fold"]
DETAILS = [".dv-candidates", ".dv-chart", "[data-number=theta]"]
PRESENTED = [".dv-text-box", ".dv-numbers", ".dv-controls", ".dv-sentence", ".dv-tree-box", ".dv-timeline-drawing"]
BOXES = """(parts) => parts.map((part) => {
  const {left, top, right, bottom} = document.querySelector(part).getBoundingClientRect();
  return [part, [left, top, right, bottom].map(Math.round)];
})"""


def boxes(page, parts=PARTS):
    settle(page)
    return dict(page.evaluate(BOXES, parts))


def check_screen(page, width, height, parts=PARTS):
    """All parts lie on a screen of this size."""
    page.set_viewport_size({"width": width, "height": height})
    for part, (left, top, right, bottom) in boxes(page, parts).items():
        assert 0 <= left < right <= width and 0 <= top < bottom <= height + 1, (width, part)


def letters(page):
    return page.locator(".dv-token").first.bounding_box()["height"]


def press_bar(page):
    """Whatever the page is enlarged by, what is pressed is what is meant."""
    bar = page.locator("rect.dv-bar").nth(4)
    bar.click()
    is_at(page.locator("#visualizer .dv"), shown=bar.get_attribute("data-iteration"))


@pytest.fixture(scope="module")
def stage(context, site):
    """The Live tab after a run."""
    page = context.new_page()
    open_live(page, site.url)
    set_tokens(page, 60)
    page.locator("#generate").click()
    is_at(page.locator(".dv"), state="done")
    yield page
    page.close()


def test_all_that_matters_is_on_one_screen_and_grows_with_it(stage):
    expect(stage.locator(".dv-method")).to_have_text("DuoDecoding")
    for width, height in ((1100, 850), (1280, 800), (1440, 900), (1920, 1080)):
        check_screen(stage, width, height)
    sizes = []
    for width, height in ((1280, 800), (1920, 1080), (2560, 1440)):
        stage.set_viewport_size({"width": width, "height": height})
        left, top, right, bottom = boxes(stage)[".dv-tree-box"]
        sizes.append(((right - left) / width, (bottom - top) / height, letters(stage)))
        press_bar(stage)
    assert min(share for share, *_ in sizes) > 0.6 and sizes[1][1] > sizes[0][1]
    assert sizes == sorted(sizes, key=lambda size: size[2]) and sizes[2][2] > 1.4 * sizes[0][2]


def test_the_page_is_as_high_as_the_screen_has_no_foot_and_its_own_letters(stage):
    stage.set_viewport_size({"width": 1280, "height": 800})
    # From a larger screen, the form takes a moment to stand in one row again.
    stage.wait_for_function("document.documentElement.scrollHeight <= 800")
    assert stage.locator("footer:visible").count() == 0
    for menu in stage.locator("#visualizer .dv-menu").all():
        menu.locator("summary").click()
        settle(stage)
        panel = menu.locator(".dv-panel").bounding_box()
        assert panel["y"] + panel["height"] <= 800
        menu.locator("summary").click()
    family = stage.locator(".dv-sentence").evaluate("(node) => getComputedStyle(node).fontFamily")
    assert family.startswith("Inter")


def test_presented_all_that_matters_is_on_one_screen_and_half_as_large_again(stage):
    root, prompt = stage.locator(":root[data-present]"), stage.locator("#prompt textarea")
    begin, end = [stage.get_by_role("button", name=name, exact=True) for name in ("Present", "End presentation")]
    move_to(stage, 3)
    stage.set_viewport_size({"width": 1280, "height": 800})
    before, size = boxes(stage), letters(stage)
    prompt.press("f")
    expect(prompt).to_have_value(re.compile("f"))
    expect(root).to_have_count(0)
    stage.locator("#visualizer .dv").press("f")
    expect(root).to_have_count(1)
    stage.wait_for_function("document.fullscreenElement !== null")
    # As the browser's own Escape does.
    stage.evaluate("document.exitFullscreen()")
    expect(root).to_have_count(0)
    # Without the screen, which a page in a frame may not have, and in the other tabs.
    stage.evaluate("() => { Element.prototype.requestFullscreen = () => Promise.reject(new Error('not allowed')); }")
    begin.click()
    # Who points has the next space for the player; by keys the focus goes on to the button that begins again.
    expect(end).not_to_be_focused()
    for width, height in ((1280, 720), (1920, 1080), (1280, 800)):
        check_screen(stage, width, height, PRESENTED)
        assert letters(stage) > 1.4 * size and stage.locator(".dv-tree-box").bounding_box()["height"] > 90
    expect(prompt).to_be_hidden()
    # The tree is whole; and whose words are which stays in sight.
    assert is_whole(stage.locator(".dv-tree-box"))
    expect(stage.locator("#visualizer .dv-legend .dv-model").first).to_be_visible()
    press_bar(stage)
    move_to(stage, 3)
    for tab, form in (("Compare", "#ask-race"), ("Learn", "#ask")):
        choose_tab(stage, tab)
        expect(stage.locator(form)).to_be_hidden()
        assert fits(stage), tab
    stage.keyboard.press("Escape")
    choose_tab(stage, "Live")
    begin.press("Enter")
    expect(end).to_be_focused()
    end.press("Enter")
    expect(begin).to_be_focused()
    assert boxes(stage) == before


def test_on_a_phone_a_run_has_the_screen_and_the_form_unfolds_when_it_is_pressed(page, site):
    start_endless(page, site.url)
    page.set_viewport_size({"width": 390, "height": 844})
    order = [".dv-text-box", ".dv-numbers", ".dv-sentence", ".dv-tree-box", ".dv-controls", ".dv-timeline-drawing"]
    prompt, method = page.locator("#prompt textarea"), page.locator("#method")

    def check_folded():
        expect(method).to_be_hidden()
        places = boxes(page, ["#prompt", *order])
        tops = [places[part][1] for part in ["#prompt", *order]]
        assert tops == sorted(tops) and places[".dv-tree-box"][1] <= 520, places
        assert fits(page)

    check_folded()
    # The buttons and the slider are one row, with the number of the iteration above it.
    assert page.locator(".dv-controls").bounding_box()["height"] < 70
    page.locator("#stop").click()
    expect(page.locator("#generate")).to_be_visible()
    check_folded()
    prompt.click()
    expect(method).to_be_visible()
    expect(page.locator("#settings")).to_be_visible()


WAITING = '#visualizer .dv-node[data-list="rest"]:is([data-status="discarded"], [data-status="unchecked"])'


def test_of_a_tree_that_is_too_high_what_waits_is_left_out_where_the_page_is_wide(new_page, shipped):
    page = new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    open_live(page, f"{shipped}#method=duotree")
    is_at(page.locator("#visualizer .dv"), method="duotree")
    box, waits = page.locator("#visualizer .dv-tree-box"), []
    for iteration in range(4, 12):
        move_to(page, iteration)
        settle(page)
        waits.append(page.locator(WAITING).count())
        # What begins above or ends below shows it there.
        above, below = box.evaluate("(box) => [box.scrollTop, box.scrollHeight - box.clientHeight - box.scrollTop]")
        assert box.evaluate("(box) => ['data-above', 'data-below'].map((end) => box.hasAttribute(end))") == [
            above > 1,
            below > 1,
        ]
        assert waits[-1] == 0 or above == below == 0
    assert min(waits) == 0
    # A phone's box is as high as its tree.
    page.set_viewport_size({"width": 390, "height": 844})
    move_to(page, 3 + waits.index(0))
    move_to(page, 4 + waits.index(0))
    expect(page.locator(WAITING).first).to_be_attached()


SMALL = """() => [...document.querySelectorAll("#tab-live *")].filter((node) => {
  const words = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const scale = node.getScreenCTM?.().a ?? 1;
  const size = scale * parseFloat(getComputedStyle(node).fontSize);
  return words && size < 12.99 && node.checkVisibility({visibilityProperty: true});
}).map((node) => `${node.className.baseVal ?? node.className}: ${node.textContent}`)"""


def test_details_are_folded_until_asked_for_and_then_kept_linked_and_presented(stage, site):
    button = stage.locator("#visualizer").get_by_role("button", name="Details")
    for expanded in ("false", "true"):
        expect(button).to_have_attribute("aria-expanded", expanded)
        for part in DETAILS:
            expect(stage.locator(f"#visualizer {part}").first).to_be_visible(visible=expanded == "true")
        assert stage.evaluate(SMALL) == []
        check_screen(stage, 1280, 800, PARTS if expanded == "false" else [*PARTS, *DETAILS])
        if expanded == "false":
            button.click()
    press(stage, "Present")
    check_screen(stage, 1280, 800, [*PRESENTED, ".dv-candidates", "[data-number=theta]"])
    stage.keyboard.press("Escape")
    assert "&details=1" in copy(stage)
    # So are the colours that were chosen.
    dark = stage.locator("body.dark").count()
    press(stage, "Light or dark")
    stage.reload()
    expect(stage.locator("body.dark")).to_have_count(1 - dark)
    opened = stage.locator(":root[data-details]")
    expect(opened).to_have_count(1)
    stage.evaluate("localStorage.clear()")
    stage.goto(site.url)
    is_at(stage.locator("#visualizer .dv"), state="empty")
    expect(opened).to_have_count(0)
    stage.goto(f"{site.url}#details=1")
    expect(opened).to_have_count(1)
    stage.goto("about:blank")
