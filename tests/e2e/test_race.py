"""A race in a real browser: what is replayed is what was measured."""

import json
import re

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz.web.components import Race, batch
from tests.e2e.pages import download, figure, finished, is_at, page_in, press, settle, side, text_of, violations_in_both
from tests.e2e.tiny_site import served
from tests.web.front.runs import WALL, file_of, race_of, written_at


def with_a_defect(rows):
    for row in rows:
        row["trace"]["iterations"][-1]["committed"][-1]["gap"] = 0.42
    rows[1]["trace"]["iterations"][-1]["committed"][-1]["id"] += 1


@pytest.fixture(scope="module")
def races():
    """A page with one button a race, and the races."""
    made = {"plain": race_of(), "defect": race_of(with_a_defect)}
    with gr.Blocks() as demo:
        view = Race()
        for name, (_, events, _) in made.items():
            gr.Button(name).click(lambda name=name, events=events: batch(name, 0, events), None, view)
    with served(demo) as url:
        yield url, made


def show(page, url, name):
    page.goto(url)
    press(page, name)
    is_at(page.locator(".dv-race"), state="done")


@pytest.fixture(scope="module")
def plain(context, races):
    """A page with the plain race, over and replayed once; each test goes on where the one before has left it."""
    page = page_in(context)
    show(page, races[0], "plain")
    finished(page)
    yield page
    assert not page.errors
    page.close()


PLAY_AND_HOLD = """async () => {
  const playing = [];
  for (const _ of [1, 2]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    playing.push(document.querySelector(".dv-race").dataset.playing);
  }
  return playing;
}"""
MOVE = "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }"
VISIBLE = """(tokens) => tokens.filter((token) => getComputedStyle(token).visibility === "visible")
  .map((token) => token.textContent)"""


def test_however_the_clock_is_moved_both_sides_have_written_what_was_measured(plain, races):
    page, rows, curves = plain, races[1]["plain"][0], plain.locator(".dv-curves")

    def check():
        settle(page)
        clock = float(page.locator(".dv-race").get_attribute("data-clock"))
        for number, row in enumerate(rows):
            expected, seconds = written_at(row["trace"], clock), min(clock, row["trace"]["iterations"][-1]["sync"])
            tps = f"{len(expected) / seconds:.1f}" if expected else "–"
            for counter, told in (("tokens", str(len(expected))), ("tps", tps)):
                expect(side(page, number).locator(f"[data-counter={counter}]")).to_have_text(told)
            words = [text.removeprefix(" ") for text in expected]
            assert side(page, number).locator(".dv-token").evaluate_all(VISIBLE) == words
        return clock

    page.keyboard.press("Home")
    assert check() == 0
    page.locator(".dv-race .dv-slider").evaluate(MOVE, WALL / 2)
    assert check() == pytest.approx(WALL / 2)
    # What is not known before the finish is not told.
    expect(figure(page, "phi", 0)).to_have_text("–")
    for later in (".dv-verdict", ".dv-why"):
        expect(page.locator(later)).to_be_hidden()
    # Playing, and held by the space key two frames later.
    page.locator(".dv-message").first.click()
    assert page.evaluate(PLAY_AND_HOLD) == ["true", "false"]
    assert WALL / 2 <= check() < WALL
    # The chart is a way to scrub too: beside its curves there are 30 pixels for the tokens' numbers, and 12.
    path = curves.locator(".dv-curve[data-place='1']").get_attribute("d")
    assert path.count("V") == len(rows[1]["trace"]["iterations"])
    curves.click(position={"x": 400, "y": 60})
    assert check() == pytest.approx(WALL * (400 - 30) / (curves.bounding_box()["width"] - 42), abs=0.01)
    # A token brings the clock to its own time.
    page.keyboard.press("End")
    token = side(page, 1).locator(".dv-token").nth(5)
    token.click()
    assert check() == rows[1]["trace"]["iterations"][int(token.get_attribute("data-iteration"))]["sync"]


def test_the_finish_shows_the_figures_the_verdict_and_the_reasons(plain, races):
    page, result, note = plain, races[1]["plain"][2], plain.locator(".dv-twins")
    press(page, "To the finish")
    expect(page.locator(".dv-headline")).to_have_text(result["headline"])
    for number, lane in enumerate(result["lanes"]):
        for name, digits in (("tps", 1), ("tau", 2), ("phi", 2)):
            expect(figure(page, name, number)).to_have_text(f"{lane['figures'][name]:.{digits}f}")
    expect(page.locator(".dv-verdict")).to_have_text("✓ Equal. Both wrote the same 40 tokens.")
    # A token lights up its twin, and the chart what both had.
    side(page, 0).locator(".dv-token").nth(7).hover()
    expect(side(page, 1).locator(".dv-token").nth(7)).to_have_class(re.compile("dv-twin"))
    expect(note).to_contain_text("Token 8: Vanilla wrote")
    page.locator(".dv-curves").hover()
    expect(note).to_contain_text("Vanilla had")
    assert side(page, 1).locator(".dv-group.dv-lit").count() >= 1
    # Why is told to those who ask.
    expect(page.locator(".dv-reasons")).to_be_hidden()
    page.locator(".dv-why summary").click()
    expect(page.locator(".dv-baselines")).to_contain_text(f"on {result['baselines']['all']['device']}")
    assert page.locator(".dv-reasons li").all_inner_texts() == result["sentences"] and len(result["sentences"]) >= 2
    assert not violations_in_both(page, ".dv-race")
    page.locator(".dv-why summary").click()
    # Each side opens in the visualizer, and is the same run there.
    page.locator(".dv-inside summary").nth(1).click()
    inside, token = page.locator(".dv-inside .dv").last, side(page, 1).locator(".dv-token").nth(9)
    is_at(inside, method="duodecoding", state="done")
    token.click()
    is_at(inside, shown=token.get_attribute("data-iteration"))


MENU = ".dv-menu-race"


def told(page):
    """What a race comes to."""
    page.keyboard.press("End")
    expect(page.locator(".dv-verdict")).to_be_visible()
    figures = page.locator(".dv-figures [data-figure]").all_inner_texts()
    return figures, page.locator(".dv-headline").inner_text(), page.locator(".dv-verdict").inner_text()


def test_a_saved_race_opens_as_it_was_and_says_where_it_is_from(plain, page, races, tmp_path):
    url, made = races
    rows, *_ = made["plain"]
    path, label = download(plain, "Save race", tmp_path, MENU), page.locator(".dv-race-message")
    assert path.name.startswith("duoviz-race-vanilla-duodecoding-") and path.name.endswith(".duorace.json")
    assert json.loads(path.read_text()) == json.loads(json.dumps(file_of(made["plain"])))
    table = download(plain, "Save CSV", tmp_path, MENU)
    assert table.name == path.name.replace(".duorace.json", ".csv") and len(table.read_text().splitlines()) == 3
    show(page, url, "defect")
    before = told(page)
    is_at(page.locator(".dv-verdict"), verdict="defect")

    def choose(file):
        page.locator(".dv-race-top input[type=file]").set_input_files(file)

    choose(path)
    is_at(page.locator(".dv-race"), state="recording")
    assert told(page) == told(plain) != before
    assert [text_of(side(page, number)) for number in (0, 1)] == [row["text"] for row in rows]
    header = rows[0]["trace"]["header"]
    machine = header["target"]["device"].partition(" (")[2].removesuffix(")")
    expect(label).to_contain_text(
        f"A recording, not a live run: the race of the file {path.name}; each method ran once"
    )
    expect(label).to_contain_text(f" on {machine}. Large model: {header['target']['name'].partition(' (')[0]} in ")
    (tmp_path / "bad.json").write_text(json.dumps(file_of(made["plain"]) | {"recordings": []}))
    choose(tmp_path / "bad.json")
    expect(page.locator(".dv-race-top .dv-files-message")).to_contain_text("its parts do not fit together")
    assert told(page) == told(plain)
    press(page, "Back to your race")
    expect(page.get_by_role("button", name="Back to your race")).to_be_hidden()
    assert told(page) == before and label.inner_text().startswith("Both runs are over.")
