"""The whole page for whoever reads it with other eyes, or goes through it by keys alone."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.e2e import pages
from tests.e2e.journeys import choose_tab
from tests.e2e.pages import (
    ask_for_a_race,
    is_at,
    open_live,
    present,
    press,
    set_tokens,
    settle,
    violations,
    violations_in_both,
)

TABS = ("Live", "Compare", "Learn", "Lab")
# What opens over a tab, with the button that opens it.
DRAWERS = {
    "Live": ("#about", "#settings", *(f"#visualizer .dv-menu-{name}" for name in ("files", "help"))),
    "Compare": ("#race-settings", ".dv-menu-race"),
    "Learn": (".dl-contents", ".dl-glossary"),
}
BUTTON = ":scope > :is(button, summary)"
IS_OPEN = "(node) => node.closest('details')?.open ?? node.classList.contains('open')"


@pytest.fixture(scope="module")
def run_page(context, site):
    """The page after a run and a race."""
    page = pages.page_in(context)
    open_live(page, site.url)
    # What a focus changes is read at once.
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    set_tokens(page, 20)
    page.locator("#generate").click()
    is_at(page.locator("#visualizer .dv"), state="done")
    open_tab(page, "Compare")
    page.locator("#race-settings > button").click()
    pages.type_number(page, "repeats", 1)
    ask_for_a_race(page, 20)
    is_at(page.locator(".dv-race"), state="done")
    pages.finished(page)
    yield page
    page.close()


def open_tab(page, name):
    # Each time the Lab opens, its thumbnails come anew.
    page.evaluate("document.querySelector('.ll-thumbnails')?.setAttribute('data-before', '')")
    choose_tab(page, name)
    if name == "Lab":
        expect(page.locator(".ll-thumbnails:not([data-before])")).to_be_visible()


def test_axe_finds_nothing_on_the_whole_page(run_page):
    page = run_page
    for tab in TABS:
        open_tab(page, tab)
        # What is around the tabs is the same with each.
        assert not violations_in_both(page, "html" if tab == TABS[0] else f"#tab-{tab.lower()}"), tab
        for drawer in DRAWERS.get(tab, ()):
            page.locator(drawer).locator(BUTTON).click()
            settle(page)
            assert not violations_in_both(page, drawer), drawer
            page.keyboard.press("Escape")
    open_tab(page, "Compare")
    insides = page.locator(".dv-inside > summary").all()
    for inside in insides:
        inside.press("Enter")
    expect(page.locator(".dv-inside .dv")).to_have_count(len(insides))
    assert not violations(page, "#tab-compare")
    for inside in insides:
        inside.press("Enter")


@pytest.mark.parametrize("tab", DRAWERS)
def test_what_opens_over_the_page_closes_and_with_escape_gives_the_focus_back(run_page, tab):
    open_tab(run_page, tab)
    for name in DRAWERS[tab]:
        button = run_page.locator(name).locator(BUTTON)

        def open_by_key(button=button, name=name):
            button.press("Enter")
            assert button.evaluate(IS_OPEN), name
            # The browser tells the page of the opening in a task of its own.
            settle(run_page)

        open_by_key()
        run_page.keyboard.press("Tab")
        expect(button).not_to_be_focused()
        run_page.keyboard.press("Escape")
        expect(button).to_be_focused()
        assert not button.evaluate(IS_OPEN), name
        # And where something else is pressed.
        open_by_key()
        run_page.mouse.click(1, 1)
        assert not button.evaluate(IS_OPEN), name


# All that does something, as far as it can be seen; of radio buttons the chosen one, for arrows lead to the others.
LIST_USABLE = """() => {
  const hasChosen = (name) => document.querySelector(`[name="${name}"]:checked`);
  const isChosen = ({ type, name, checked }) => type !== "radio" || checked || !hasChosen(name);
  const fits = (node) => node.tabIndex >= 0 && !node.disabled && node.checkVisibility({ visibilityProperty: true })
    && node.getBoundingClientRect().width && isChosen(node);
  const acting = "button, input, select, textarea, a[href], summary, [tabindex]";
  const usable = [...document.querySelectorAll(acting)].filter(fits);
  window.last = null;
  const own = (node) => (node.matches("button, summary, a") ? node.textContent : "");
  const said = (node) => node.getAttribute("aria-label") ?? own(node);
  window.named = (node) => `${node.localName} #${node.id} ${node.type ?? ""} ${said(node).trim()}`;
  usable[0].focus();
  return usable.map(named);
}"""
# What has the focus, null outside; and what had it before, where nothing tells the two states apart.
LOOK = """() => {
  const told = ["outlineStyle", "outlineWidth", "boxShadow", "borderColor", "backgroundColor", "stroke"];
  const look = (node) => {
    const around = [...node.children, node, node.parentElement, node.parentElement.parentElement];
    return around.map((each) => told.map((name) => getComputedStyle(each)[name])).join();
  };
  const node = document.activeElement;
  const hidden = last && look(last.node) === last.look ? named(last.node) : null;
  window.last = node === document.body ? null : { node, look: look(node) };
  return [last && named(node), hidden];
}"""


@pytest.mark.parametrize("tab", TABS)
def test_every_control_is_reached_by_tab_and_shows_its_focus(run_page, tab):
    open_tab(run_page, tab)
    usable = run_page.evaluate(LIST_USABLE)
    reached, unseen = [usable[0]], []
    while reached[-1] is not None and len(reached) < 300:
        run_page.keyboard.press("Tab")
        name, hidden = run_page.evaluate(LOOK)
        reached.append(name)
        unseen += [hidden] if hidden else []
    assert (set(usable) - set(reached), unseen) == (set(), [])


HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((node) => node.checkVisibility())
  .map((node) => Number(node.localName[1]))"""
# Whether each of these has a colour of its own on the page's.
STANDS_OUT = """(queries) => queries.filter((query) => {
  const node = document.querySelector(query);
  const { backgroundColor: own, outlineStyle, borderBottomWidth } = getComputedStyle(node);
  const isPainted = own !== getComputedStyle(document.body).backgroundColor && !/^rgba.*, 0\\)$/.test(own);
  return !isPainted && outlineStyle === "none" && parseFloat(borderBottomWidth) < 3;
})"""
MARKED = (".dv-candidate-bar", ".dv-group.dv-shown", "#method label.selected", "#tab-live-button")


def test_headings_leave_out_no_level_and_forced_colours_leave_what_is_marked(run_page):
    for tab in TABS:
        open_tab(run_page, tab)
        levels = run_page.evaluate(HEADINGS)
        assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels)), tab
    open_tab(run_page, "Live")
    run_page.emulate_media(forced_colors="active")
    try:
        assert run_page.evaluate(STANDS_OUT, MARKED) == []
    finally:
        run_page.emulate_media(forced_colors="none")


BOX = "(node) => node.getBoundingClientRect().toJSON()"


def test_at_every_width_what_opens_has_room_and_nothing_lies_over_something_else(new_page, shipped):
    page = new_page(viewport={"width": 900, "height": 800})
    page.goto(shipped)
    page.locator("#about > button").click()
    about = page.locator("#about > div").last
    expect(about).to_be_visible()
    assert about.evaluate(BOX)["width"] > 600
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(page.locator(".dv-beats")).to_be_visible()
    present(page, True)
    settle(page)
    beats, legend = (page.locator(f"#visualizer {name}").evaluate(BOX) for name in (".dv-beats", ".dv-legend"))
    assert beats["right"] <= legend["left"]
    present(page, False)
    page.set_viewport_size({"width": 320, "height": 700})
    # What is opened leaves what starts the run, and what closes it, in sight.
    page.locator("#prompt textarea").click()
    page.locator("#settings > button").click()
    opened = page.locator("#settings > div").last
    expect(opened).to_be_visible()
    assert page.locator("#generate").evaluate(BOX)["bottom"] <= opened.evaluate(BOX)["top"]
    press(page, "Close")
    expect(opened).to_be_hidden()
    open_tab(page, "Compare")
    assert page.locator("#race").evaluate(BOX)["width"] > 200
    # A table that is wider than the page is moved by keys too.
    open_tab(page, "Lab")
    page.locator('.ll-thumbnail[data-part="table-1"]').click()
    expect(page.locator("#lab-part table").first).to_be_visible()
    assert not violations(page, "#tab-lab")


SWIPE = """(node) => {
  const touch = (clientX) => new Touch({ identifier: 1, target: node, clientX, clientY: 100 });
  const tell = (name, touches, changedTouches) => node.dispatchEvent(new TouchEvent(name, { touches, changedTouches }));
  tell("touchstart", [touch(200)], [touch(200)]);
  tell("touchend", [], [touch(100)]);
}"""


def test_on_a_phone_held_sideways_the_story_is_whole_and_goes_on_with_a_swipe(new_page, shipped):
    page = new_page(viewport={"width": 844, "height": 390}, has_touch=True)
    page.goto(f"{shipped}#story=1")
    story = page.locator(".dv-story")
    is_at(story, stop=1)
    assert page.locator(".dv-story-words > .dv-story-sentence").evaluate(BOX)["bottom"] <= 390
    story.evaluate(SWIPE)
    is_at(story, stop=2)
