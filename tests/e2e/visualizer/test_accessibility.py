"""Whoever reads the visualizer with other eyes, or goes through it by keys alone."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import OPEN_DETAILS, move_to, open_menu, send, show, shown
from tests.trace.made import events_of
from tests.web.front.runs import TRACES

POINTED = re.compile(r"\bdv-pointed\b")


def test_what_a_pointer_shows_keys_show_too(plain_page):
    page, trace = plain_page, TRACES["duodecoding"]
    send(page, events_of(trace))
    shown(page, state="done")
    # Away from the tree, in which a token could come to lie under it.
    page.mouse.move(1, 1)
    move_to(page, 0)
    facts, box, nodes = page.locator(".dv-facts"), page.locator(".dv-tree-box"), page.locator("g.dv-node")
    tip = page.locator(".dv-tip")
    for number, node in enumerate(trace["iterations"][0]["checked"] + trace["iterations"][0]["drafted"]):
        box.press("s")
        expect(facts).to_contain_text(f'"{node["text"]}" · id {node["id"]} · ')
        expect(facts).to_contain_text(f"({node['status']})")
        if node["q"] is not None:
            percent = "under 1" if node["q"] < 0.005 else int(100 * node["q"] + 0.5)
            expect(facts).to_contain_text(f"draft {percent} %")
        expect(nodes.nth(number)).to_have_class(POINTED)
        # Beside the token, and said by what only a screen reader finds.
        expect(tip).to_be_visible()
        expect(tip).to_have_text(facts.inner_text())
    box.press("w")
    expect(nodes.nth(number - 1)).to_have_class(POINTED)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    nodes.nth(number).hover()
    expect(nodes.nth(number)).to_have_class(POINTED)
    expect(tip).to_have_text(facts.inner_text())


def test_what_a_word_means_is_told_where_it_stands(page, methods_page):
    trace, tip = TRACES["duodecoding"], page.locator(".dv-tip")
    show(page, methods_page, "duodecoding")
    page.evaluate(OPEN_DETAILS)
    move_to(page, max(each["index"] for each in trace["iterations"] if each["sequences"] and each["theta"]))
    word = page.locator(".dv-candidates .dv-term:has-text('sequence')")
    told = {
        page.locator(".dv-number:has([data-number=k])"): "tokens that the small model (draft) proposes",
        page.locator(".dv-chart:has-text('θ threshold') .dv-term"): "starts a sequence",
        page.locator(".dv-sentence"): "The draft started",
        word: "tokens that the small model (draft) proposes",
    }
    for place, meaning in told.items():
        expect(tip).to_be_hidden()
        # At its beginning: a sentence may have words with a meaning of their own.
        place.hover(position={"x": 3, "y": 8})
        expect(tip).to_contain_text(meaning)
        expect(tip).to_be_in_viewport(ratio=1)
        box, own = tip.bounding_box(), place.bounding_box()
        assert box["y"] >= own["y"] + own["height"] or box["y"] + box["height"] <= own["y"]
        # Whoever has no pointer comes to it by keys, or presses it.
        page.mouse.move(1, 1)
        expect(tip).to_be_hidden()
        place.focus()
        expect(tip).to_contain_text(meaning)
        page.keyboard.press("Escape")
    word.hover()
    expect(tip).to_be_visible()
    # The word is gone then, and its note with it.
    page.keyboard.press("Home")
    expect(tip).to_be_hidden()


# Which of the two is on top where they overlap: of a note the pointer takes no notice.
ON_TOP = """() => {
  const [tip, panel] = [".dv-tip", ".dv-menu-files .dv-panel"].map((part) => document.querySelector(part));
  tip.style.pointerEvents = "auto";
  const [one, other] = [tip, panel].map((node) => node.getBoundingClientRect());
  const [x, y] = [["left", "right"], ["top", "bottom"]].map(([from, to]) => (
    (Math.max(one[from], other[from]) + Math.min(one[to], other[to])) / 2));
  return [tip, panel].map((node) => node.contains(document.elementFromPoint(x, y)));
}"""


def test_an_open_menu_is_over_what_a_word_means(page, methods_page):
    show(page, methods_page, "duodecoding")
    page.set_viewport_size({"width": 390, "height": 520})
    open_menu(page)
    # The iteration's number stands right above the menu.
    page.locator(".dv-where .dv-term").first.evaluate("(node) => node.focus({ preventScroll: true })")
    expect(page.locator(".dv-tip")).to_be_visible()
    assert page.evaluate(ON_TOP) == [False, True]
