"""The whole page for whoever reads it with other eyes, or goes through it by keys alone."""

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import open_live, page_in, serious_in_both, set_tokens, settle, type_number

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
    page = page_in(context)
    open_live(page, site.url)
    # What a focus changes is read at once.
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    set_tokens(page, 20)
    page.locator("#generate").click()
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "done")
    open_tab(page, "Compare")
    page.locator("#race-settings > button").click()
    for field, number in (("compare-max-new-tokens", 20), ("repeats", 1)):
        type_number(page, field, number)
    page.locator("#race").click()
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "done")
    expect(page.locator(".dv-race")).to_have_attribute("data-playing", "false")
    yield page
    page.close()


def open_tab(page, name):
    # Each time the Lab opens, its thumbnails come anew.
    page.evaluate("document.querySelector('.ll-thumbnails')?.setAttribute('data-before', '')")
    tab = page.get_by_role("tab", name=name, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    if name == "Lab":
        expect(page.locator(".ll-thumbnails:not([data-before])")).to_be_visible()


def test_axe_finds_nothing_serious_on_the_whole_page(run_page):
    page = run_page
    for tab in TABS:
        open_tab(page, tab)
        # What is around the tabs is the same with each.
        assert not serious_in_both(page, "html" if tab == TABS[0] else f"#tab-{tab.lower()}"), tab
        for drawer in DRAWERS.get(tab, ()):
            page.locator(drawer).locator(BUTTON).click()
            assert not serious_in_both(page, drawer), drawer
            page.keyboard.press("Escape")


@pytest.mark.parametrize("tab", DRAWERS)
def test_what_opens_over_the_page_closes_and_with_escape_gives_the_focus_back(run_page, tab):
    open_tab(run_page, tab)
    for name in DRAWERS[tab]:
        button = run_page.locator(name).locator(BUTTON)
        button.focus()
        run_page.keyboard.press("Enter")
        assert button.evaluate(IS_OPEN), name
        run_page.keyboard.press("Tab")
        expect(button).not_to_be_focused()
        run_page.keyboard.press("Escape")
        expect(button).to_be_focused()
        assert not button.evaluate(IS_OPEN), name
        # And where something else is pressed.
        run_page.keyboard.press("Enter")
        assert button.evaluate(IS_OPEN), name
        # The browser tells the page of the opening in a task of its own.
        settle(run_page)
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
