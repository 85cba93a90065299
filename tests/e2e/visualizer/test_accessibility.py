"""Whoever reads the visualizer with other eyes, or goes through it by keys alone."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import OPEN_DETAILS, load, saved_to, send, show, shown
from tests.trace.made import events_of

POINTED = re.compile(r"\bdv-pointed\b")


def test_what_a_pointer_shows_keys_show_too(page, methods_page, traces):
    show(page, methods_page, "duodecoding")
    # Away from the tree, in which a token could come to lie under it.
    page.mouse.move(1, 1)
    page.keyboard.press("Home")
    shown(page, "shown", 0)
    first = traces["duodecoding"]["iterations"][0]
    facts, box = page.locator(".dv-facts"), page.locator(".dv-tree-box")
    expect(facts).to_contain_text("keys: W, S")
    for number, node in enumerate(first["checked"] + first["drafted"]):
        box.press("s")
        expect(facts).to_contain_text(f'"{node["text"]}" · id {node["id"]} · {node["status"]}')
        if node["q"] is not None:
            expect(facts).to_contain_text(
                "draft under 1 %" if node["q"] < 0.005 else f"draft {int(100 * node['q'] + 0.5)} %"
            )
        expect(page.locator("g.dv-node").nth(number)).to_have_class(POINTED)
    box.press("w")
    expect(page.locator("g.dv-node").nth(number - 1)).to_have_class(POINTED)
    # A pointer finds it at the token too.
    page.locator("g.dv-node").nth(number).hover()
    expect(page.locator(".dv-tip")).to_have_text(facts.inner_text())
    page.mouse.move(1, 1)
    shown(page, "shown", 0)
    page.keyboard.press("ArrowRight")
    shown(page, "shown", 1)
    page.locator(".dv-timeline-drawing").focus()
    before = page.locator(".dv-shares").get_attribute("data-to")
    page.keyboard.press("w")
    expect(page.locator(".dv-shares")).not_to_have_attribute("data-to", before)
    page.locator(".dv-slider").focus()
    page.keyboard.press("End")
    shown(page, "shown", len(traces["duodecoding"]["iterations"]) - 1)


def test_what_a_word_means_is_told_where_it_stands(page, methods_page):
    show(page, methods_page, "duodecoding")
    page.evaluate(OPEN_DETAILS)
    tip, at = page.locator(".dv-tip"), int(page.locator(".dv").get_attribute("data-shown"))
    while not page.locator(".dv-candidates .dv-term:has-text('sequence')").count():
        at -= 1
        page.keyboard.press("ArrowLeft")
        shown(page, "shown", at)
    told = {
        ".dv-number:has([data-number=k])": "tokens that the draft proposes one after another",
        ".dv-chart:has-text('θ threshold') .dv-term": "starts a sequence",
        ".dv-sentence": "The draft started",
        ".dv-candidates .dv-term:has-text('sequence')": "tokens that the draft proposes one after another",
    }
    for word, meaning in told.items():
        word = page.locator(word)
        expect(tip).to_be_hidden()
        # At its beginning: a sentence may have words with a meaning of their own.
        word.hover(position={"x": 3, "y": 8})
        expect(tip).to_contain_text(meaning)
        expect(tip).to_be_in_viewport(ratio=1)
        box, own = tip.bounding_box(), word.bounding_box()
        assert box["y"] >= own["y"] + own["height"] or box["y"] + box["height"] <= own["y"]
        # Whoever has no pointer comes to it by keys, or presses it.
        page.mouse.move(1, 1)
        expect(tip).to_be_hidden()
        word.focus()
        expect(tip).to_contain_text(meaning)
        page.keyboard.press("Escape")
    word.hover()
    expect(tip).to_be_visible()
    # The word is gone now, and the sentence has another note.
    page.keyboard.press("Home")
    expect(tip).to_be_hidden()
    page.locator(".dv-sentence").hover(position={"x": 3, "y": 8})
    expect(tip).to_contain_text("The prompt has")


def test_the_focus_of_a_button_that_goes_moves_on(plain_page, traces, tmp_path):
    events = events_of(traces["duodecoding"])
    play = plain_page.locator(".dv-buttons .dv-button").nth(2)

    def button(name):
        return plain_page.get_by_role("button", name=name, exact=True)

    send(plain_page, events[:9])
    expect(plain_page.locator(".dv-slider")).to_have_value("7")
    plain_page.locator(".dv-slider").fill("3")
    button("Follow live").focus()
    send(plain_page, events[9:])
    expect(play).to_be_focused()
    expect(button("Follow live")).to_be_hidden()
    button("Watch it slowly").press("Enter")
    expect(play).to_be_focused()
    expect(button("Watch it slowly")).to_be_hidden()
    load(plain_page, saved_to(tmp_path, traces["vanilla"]))
    button("Back to your run").press("Enter")
    expect(plain_page.locator(".dv")).to_be_focused()
