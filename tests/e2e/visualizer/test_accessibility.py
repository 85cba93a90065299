"""Whoever reads the visualizer with other eyes, or goes through it by keys alone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.visualizer.shown import load, saved_to, send, show


def serious(results):
    """What axe holds to be serious, with the parts of the page it is about."""
    found = [each for each in results.response["violations"] if each["impact"] in ("serious", "critical")]
    return {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, methods_page, scheme):
    page.emulate_media(color_scheme=scheme)
    show(page, methods_page, "rest")
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".dv")).to_have_attribute("data-shown", "1")
    page.locator(".dv-tree-box").press("s")
    expect(page.locator(".dv-pointed")).to_have_count(1)
    assert not serious(Axe().run(page, context=".dv"))


POINTED = re.compile(r"\bdv-pointed\b")
NAME = '(node) => (node.getAttribute("aria-label") ?? node.textContent).slice(0, 40)'
# The name of what has the focus, null outside; whether that shows.
FOCUSED = f"""() => {{
  const node = document.activeElement, {{outlineStyle, outlineWidth}} = getComputedStyle(node);
  return [node.closest(".dv > *") && ({NAME})(node), outlineStyle !== "none" && parseFloat(outlineWidth) > 0];
}}"""
# The names of all that does something or scrolls.
USABLE = f"""() => Array.from(document.querySelectorAll(".dv *")).filter((node) => {{
  const scrolls = /auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight;
  const acts = node.matches("button, input, select, a, summary, [tabindex]") || scrolls;
  return acts && !node.disabled && node.checkVisibility();
}}).map({NAME})"""


def test_everything_is_reached_by_tab_and_shows_its_focus(page, methods_page):
    show(page, methods_page, "duodecoding")
    page.locator(".dv").focus()
    names = []
    while len(names) < 100:
        page.keyboard.press("Tab")
        name, is_visible = page.evaluate(FOCUSED)
        if name is None:
            break
        assert is_visible, name
        names.append(name)
    assert names == page.evaluate(USABLE)
    assert {"Play", "Iteration shown", "Replay speed", "Text", "Whole run", "Files", "Help"} <= set(names)
    assert sum(name.startswith(("Tree of proposed tokens", "Timeline: W")) for name in names) == 2


def test_what_a_pointer_shows_keys_show_too(page, methods_page, traces):
    show(page, methods_page, "duodecoding")
    # Away from the tree, in which a token could come to lie under it.
    page.mouse.move(1, 1)
    page.keyboard.press("Home")
    expect(page.locator(".dv")).to_have_attribute("data-shown", "0")
    first = traces["duodecoding"]["iterations"][0]
    facts, box = page.locator(".dv-facts"), page.locator(".dv-tree-box")
    expect(facts).to_contain_text("press W and S in the tree")
    for number, node in enumerate(first["checked"] + first["drafted"]):
        box.press("s")
        expect(facts).to_contain_text(f'"{node["text"]}" · id {node["id"]} · {node["status"]}')
        if node["q"] is not None:
            expect(facts).to_contain_text(f"q (draft) {node['q']:.3f}")
        expect(page.locator("g.dv-node").nth(number)).to_have_class(POINTED)
    box.press("w")
    expect(page.locator("g.dv-node").nth(number - 1)).to_have_class(POINTED)
    expect(page.locator(".dv")).to_have_attribute("data-shown", "0")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".dv")).to_have_attribute("data-shown", "1")
    page.locator(".dv-timeline-drawing").focus()
    before = page.locator(".dv-shares").get_attribute("data-to")
    page.keyboard.press("w")
    expect(page.locator(".dv-shares")).not_to_have_attribute("data-to", before)
    page.locator(".dv-slider").focus()
    page.keyboard.press("End")
    expect(page.locator(".dv")).to_have_attribute("data-shown", str(len(traces["duodecoding"]["iterations"]) - 1))


def test_what_a_word_means_is_told_where_it_stands(page, methods_page):
    show(page, methods_page, "duodecoding")
    tip, wide = page.locator(".dv-tip"), {"width": 1280, "height": 800}
    shown = int(page.locator(".dv").get_attribute("data-shown"))
    while not page.locator(".dv-sentence .dv-term").count():
        shown -= 1
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".dv")).to_have_attribute("data-shown", str(shown))
    sequence = "tokens that the draft proposes one after another"
    told = {
        ".dv-number:has([data-number=k])": sequence,
        ".dv-number:has([data-number=gamma])": "How many steps the draft may take",
        ".dv-number:has([data-number=theta])": "begins a sequence of its own",
        ".dv-chart:has-text('θ threshold') .dv-term": "begins a sequence of its own",
        ".dv-sentence .dv-term:has-text('sequence')": sequence,
    }
    for viewport in (wide, {"width": 390, "height": 844}):
        page.set_viewport_size(viewport)
        for word, meaning in told.items():
            word = page.locator(word)
            expect(tip).to_be_hidden()
            word.hover()
            expect(tip).to_contain_text(meaning)
            box, own = tip.bounding_box(), word.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= viewport["width"]
            assert box["y"] >= 0 and box["y"] + box["height"] <= viewport["height"]
            assert box["y"] >= own["y"] + own["height"] or box["y"] + box["height"] <= own["y"]
            # Whoever has no pointer comes to it by keys, or presses it.
            page.mouse.move(1, 1)
            expect(tip).to_be_hidden()
            word.focus()
            expect(tip).to_contain_text(meaning)
            page.keyboard.press("Escape")
    page.set_viewport_size(wide)
    word.hover()
    expect(tip).to_be_visible()
    # The sentence is another one now.
    page.keyboard.press("Home")
    expect(tip).to_be_hidden()


def test_the_focus_of_a_button_that_goes_moves_on(plain_page, traces, tmp_path):
    events = events_of(traces["duodecoding"])
    root, play = plain_page.locator(".dv"), plain_page.locator(".dv-buttons .dv-button").nth(2)

    def button(name):
        found = plain_page.get_by_role("button", name=name, exact=True)
        expect(found).to_be_visible()
        return found

    def is_gone(name):
        expect(plain_page.get_by_role("button", name=name, exact=True)).to_be_hidden()

    send(plain_page, events[:9])
    button("Follow live").focus()
    send(plain_page, events[9:])
    expect(play).to_be_focused()
    is_gone("Follow live")
    button("Watch it slowly").press("Enter")
    expect(play).to_be_focused()
    is_gone("Watch it slowly")
    load(plain_page, saved_to(tmp_path, traces["vanilla"]))
    button("Back to your run").press("Enter")
    expect(root).to_be_focused()
    # Whoever is elsewhere stays there.
    send(plain_page, [{"type": "reset"}, *events[:9]])
    button("Follow live")
    plain_page.locator(".dv-slider").focus()
    send(plain_page, events[9:])
    is_gone("Follow live")
    expect(plain_page.locator(".dv-slider")).to_be_focused()
