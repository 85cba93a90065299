"""The game "You be the draft" in a real browser: rounds from a link, played by keys, and what comes of them."""

import re
from itertools import accumulate

from playwright.sync_api import expect

from duoviz.recordings import GAME, PROMPTS
from tests.e2e.pages import serious
from tests.web.front.runs import recorded

# In the first rounds tokens move to the text; in the others they are there at once, which saves time.
ROUNDS, MOVING = 8, 2
SOMETHING_ELSE = "Something else"
# How long each token took on its way to the text, in milliseconds.
COUNT_MOVES = """window.moves = [];
const { animate } = Element.prototype;
Element.prototype.animate = function (frames, options) {
  if (this.matches(".dg-ghost")) moves.push(options.duration);
  return animate.call(this, frames, options);
};"""


TEXTS = [token["text"] for each in recorded("duotree", GAME)["iterations"] for token in each["committed"]]
ENDS = {end: count for count, end in enumerate(accumulate(TEXTS, initial=""))}


def shown(text):
    """A token as it stands on a button."""
    return text.replace("\n", "↵").replace(" ", "␣")


class Game:
    """A game on a page."""

    def __init__(self, page):
        self.page = page
        self.board, self.go_on = page.locator(".dg-board"), page.locator(".dg-tools .dv-button").first

    def options(self, guesses=0):
        """The options that are there once so many guesses have been made."""
        expect(self.board.locator(".dg-option").first).to_be_visible()
        expect(self.board.locator(".dg-slot[data-status=pending]")).to_have_count(guesses)
        return self.board.locator(".dg-option .dg-token").all_inner_texts()

    def next_texts(self):
        """The three tokens that the target wrote after the text shown, and the one after them."""
        at = ENDS[self.board.locator(".dg-text").text_content()]
        return TEXTS[at : at + 4]

    def guess(self, texts, *, knowing):
        """Choose by keys: what the target wrote, or else the first option; "something else" ends it. Returns the words
        chosen."""
        picks = []
        while len(picks) < 3 and SOMETHING_ELSE not in picks:
            options = self.options(len(picks))
            assert len(set(options)) == len(options) and options[-1] == SOMETHING_ELSE
            wanted = shown(texts[len(picks)]) if knowing else options[0]
            picks.append(wanted if wanted in options else SOMETHING_ELSE)
            self.page.keyboard.press(str(options.index(picks[-1]) + 1))
        return picks

    def check(self, texts, accepted, ticks):
        """Have the guesses checked: what was right is in the text then, and the target's own token after it."""
        expect(self.go_on).to_have_text("Check")
        self.page.keyboard.press("Enter")
        gained = f"{accepted + 1} token{'s' if accepted else ''} in one forward pass"
        expect(self.board.locator(".dg-told")).to_contain_text(gained)
        expect(self.board.locator(".dg-slot[data-status=accepted]")).to_have_count(ticks)
        expect(self.page.locator(".dg-ghost")).to_have_count(0)
        written = self.board.locator(".dg-text").text_content()
        assert written.endswith("".join(texts[: accepted + 1]))

    def play_round(self, number, *, knowing):
        """Returns the first options, how many guesses were tested and accepted, whether "something else" was said."""
        expect(self.page.locator(".dg-where")).to_have_text(re.compile(f"^Round {number} of "))
        texts, first = self.next_texts(), self.options()
        picks = self.guess(texts, knowing=knowing)
        right = [pick == shown(text) for pick, text in zip(picks, texts, strict=False)]
        accepted, stopped = (*right, False).index(False), picks[-1] == SOMETHING_ELSE
        # "Something else" is said only where it is right, and then it has its tick too.
        self.check(texts, accepted, accepted + stopped)
        return first, min(accepted + 1, len(picks) - stopped), accepted, stopped

    def play(self, rounds, knows):
        """All rounds; knows: whether the visitor knows the text in a round."""
        played = []
        for number in range(1, rounds + 1):
            if number > MOVING:
                self.page.emulate_media(reduced_motion="reduce")
            played.append(self.play_round(number, knowing=knows(number)))
            expect(self.go_on).to_have_text("Next round" if number < rounds else "See the result")
            self.page.keyboard.press("Enter")
        expect(self.page.locator(".dg-end")).to_be_visible()
        return played


def test_eight_rounds_by_keys_from_a_link_and_the_same_rounds_again(new_page, site):
    page = new_page(viewport={"width": 390, "height": 844}, reduced_motion="no-preference")
    page.add_init_script(COUNT_MOVES)
    page.goto(f"{site.url}#tab=learn&draft=7")
    expect(page.get_by_role("tab", name="Learn")).to_have_attribute("aria-selected", "true")
    game = Game(page)
    assert len(game.options()) == 5
    assert not serious(page, ".dg")
    played = game.play(ROUNDS, lambda number: number % 2 == 0)
    moves = page.evaluate("window.moves")
    assert len(moves) == sum(each[2] + 1 for each in played[:MOVING]) and all(250 <= each <= 400 for each in moves)
    tested, accepted = (sum(each[index] for each in played) for index in (1, 2))
    mine, draft = (page.locator(f".dg-figures td:nth-child({column})").all_inner_texts() for column in (2, 3))
    share = f"{int(100 * accepted / tested + 0.5)} % ({accepted}\u00a0of\u00a0{tested})"
    assert mine[:2] == [share, f"{(accepted + ROUNDS) / ROUNDS:.2f}"]
    assert re.fullmatch(r"\d+ % \(\d+\sof\s\d+\)", draft[0]) and 1 <= float(draft[1]) <= 4
    # With what the recorded machine took: a token by itself and four together cost nearly the same there.
    assert all(0.5 < float(speed.removesuffix("×")) <= float(tokens) for tokens, speed in (mine[1:], draft[1:]))
    expect(page.locator(".dg-end")).to_contain_text(f"You would make the target {mine[2][:-1]} times as fast")
    expect(page.locator(".dg-rounds tbody tr").first.locator("td")).to_have_text([str(each[2] + 1) for each in played])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    assert not serious(page, ".dg")
    page.get_by_role("button", name="Copy link to these rounds").click()
    expect(page.locator(".dg-link")).to_have_value(f"{site.url}#tab=learn&draft=7")
    # The page's own link holds the game that is open.
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.locator(".dv-share-link")).to_have_value(re.compile("#tab=learn&.*draft=7$|#tab=learn&draft=7$"))
    link = page.locator(".dg-link").input_value()
    page.get_by_role("button", name="Play other rounds").click()
    expect(page.locator(".dg-where")).to_have_text("Round 1 of 8")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#share [role=status]")).to_have_text("")
    first, *_ = game.play_round(1, knowing=False)
    assert page.evaluate("window.moves") == [] and first == played[0][0]
    # Back to the lessons; it begins from their list too, and gives way to a lesson's link.
    page.get_by_role("button", name="Back to the lessons").click()
    expect(page.locator(".dl-body h3")).to_be_focused()
    expect(page.locator(".dg")).to_be_hidden()
    page.locator(".dl-contents summary").click()
    page.get_by_role("button", name="You be the draft").click()
    expect(page.locator(".dg-about")).to_contain_text(f'The target answers "{PROMPTS["game"]}"')
    options = game.options()
    page.keyboard.press("9")
    assert game.options() == options
    page.evaluate("location.hash = '#tab=learn&lesson=draft-and-verify'")
    expect(page.locator(".dg")).to_be_hidden()
    expect(page.locator(".dl-body h3")).to_be_visible()
