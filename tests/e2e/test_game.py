"""The game "Guess yourself" in a real browser: rounds from a link, played by keys, and what comes of them."""

import re

from playwright.sync_api import expect

from duoviz.recordings import GAME, PROMPTS
from tests.e2e.pages import copy, fits, press, violations
from tests.web.front.runs import recorded

ROUNDS = 8
TEXT = recorded("duotree", GAME)["end"]["text"]


def options(page):
    expect(page.locator(".dg-option")).to_have_count(5)
    return page.locator(".dg-option").all_inner_texts()


def play_round(page, number):
    """Three times the first option, checked: the options of the first place, and how many tokens were written."""
    expect(page.locator(".dg-where")).to_have_text(f"Round {number} of {ROUNDS}")
    first, before = options(page), page.locator(".dg-text").text_content()
    for guesses in range(3):
        expect(page.locator(".dg-slot[data-status=pending]")).to_have_count(guesses)
        page.keyboard.press("1")
    expect(page.get_by_role("button", name="Check", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".dg-told")).to_contain_text("in one pass")
    written = int(re.findall(r"(\d) tokens? in one", page.locator(".dg-told").inner_text())[0])
    expect(page.locator(".dg-slot[data-status=accepted]")).to_have_count(written - 1)
    expect(page.locator(".dg-ghost")).to_have_count(0)
    text = page.locator(".dg-text").text_content()
    assert TEXT.startswith(text) and text.startswith(before) and len(text) > len(before)
    return first, written


def test_eight_rounds_by_keys_from_a_link_and_the_same_rounds_again(new_page, site):
    page = new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    link = f"{site.url}#tab=learn&draft=7"
    page.goto(link)
    options(page)
    assert not violations(page, ".dg")
    rounds = []
    for number in range(1, ROUNDS + 1):
        rounds.append(play_round(page, number))
        page.keyboard.press("Enter")
    firsts, written = zip(*rounds, strict=True)
    expect(page.locator(".dg-end")).to_be_visible()
    # All rounds count, also those before a reload.
    page.reload()
    expect(page.locator(".dg-end")).to_be_visible()
    mine = page.locator(".dg-figures td:nth-child(2)").all_inner_texts()
    assert abs(float(mine[1]) - sum(written) / ROUNDS) < 0.006
    expect(page.locator(".dg-end")).to_contain_text(f"You would make the large model {mine[2][:-1]} times as fast")
    expect(page.locator(".dg-rounds tbody tr").first.locator("td")).to_have_text([str(each) for each in written])
    assert fits(page) and not violations(page, ".dg")
    press(page, "Copy link to these rounds")
    expect(page.locator(".dg .dl-copied")).to_have_value(link)
    # The page's own link holds the game that is open.
    assert copy(page).endswith("draft=7")
    press(page, "Play other rounds")
    expect(page.locator(".dg-where")).to_have_text(f"Round 1 of {ROUNDS}")
    page.goto("about:blank")
    page.goto(link)
    assert play_round(page, 1)[0] == firsts[0]
    # Back to the lessons; it begins from their list too, and gives way to a lesson's link.
    press(page, "Back to the lessons")
    expect(page.locator(".dl-body h3")).to_be_focused()
    expect(page.locator(".dg")).to_be_hidden()
    page.locator(".dl-contents summary").click()
    page.get_by_role("button", name="Guess yourself").click()
    expect(page.locator(".dg-about")).to_contain_text(f'The large model (target) answers "{PROMPTS["game"]}"')
    page.evaluate("location.hash = '#tab=learn&lesson=draft-and-verify'")
    expect(page.locator(".dg")).to_be_hidden()
    expect(page.locator(".dl-body h3")).to_be_visible()
