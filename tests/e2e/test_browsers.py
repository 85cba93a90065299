"""What a visitor does, in Firefox and in WebKit: what Chromium's tests show in detail."""

import json

import pytest
from selenium.webdriver.common.keys import Keys

from duoviz.adapters.builder import Drafted
from duoviz.decoding.method import DRAFT
from duoviz.recordings import LESSONS as TRACES
from duoviz.web.app import LESSONS
from duoviz.web.lessons.course import read_course
from duoviz.web.replay import replay_page
from tests.adapters.test_builder import builder
from tests.e2e.browsers import BROWSERS, Visitor
from tests.e2e.pages import serving
from tests.e2e.test_frame import HUB

LIVE = "#visualizer .dv"


def tokens(visitor):
    return visitor.run(f"return document.querySelectorAll('{LIVE} .dv-token').length")


def first_screen(visitor, url):
    visitor.driver.get(url)
    visitor.find(".dv-first")
    visitor.wait("document.querySelectorAll('.dv-first-side').length === 2")
    visitor.press("Look inside this run")
    visitor.wait("!document.querySelector('.dv-first')")
    visitor.is_at(LIVE, state="recording")


def story(visitor, url):
    visitor.press("How it works")
    for number in range(1, 8):
        visitor.is_at(".dv-story", stop=str(number))
        visitor.find(".dv-story-figure")
        visitor.press("Step forward", ".dv-story button")
    visitor.wait("!document.querySelector('.dv-story')?.checkVisibility()")


def run(visitor, url):
    visitor.press(part="#generate")
    visitor.is_at(LIVE, state="done")
    visitor.find(f"{LIVE} .dv-slider").send_keys(Keys.END)
    visitor.wait(f"document.querySelector('{LIVE}').dataset.shown === document.querySelector('{LIVE} .dv-slider').max")
    assert tokens(visitor)
    # What WebKit does not read as a shorthand; and what a browser draws itself.
    style = "return getComputedStyle(arguments[0])"
    assert visitor.run(f"{style}.textDecorationLine", visitor.find(f"{LIVE} .dv-token")) == "underline"
    page, is_dark = visitor.find(":root"), visitor.run("return document.body.classList.contains('dark')")
    assert visitor.run(f"{style}.colorScheme", page) == ("dark" if is_dark else "normal")


def step_back(visitor, url):
    before = int(visitor.run(f"return document.querySelector('{LIVE}').dataset.shown"))
    visitor.press("Step back", f"{LIVE} button")
    visitor.is_at(LIVE, shown=str(before - 1))


def trace(visitor, url):
    before = tokens(visitor)
    visitor.press(part=f"{LIVE} .dv-menu-files summary")
    visitor.press("Save trace")
    file = visitor.saved("*.duoviz.json")
    visitor.run(f"document.querySelector('{LIVE} input[type=file]').hidden = false")
    visitor.driver.find_element("css selector", f"{LIVE} input[type=file]").send_keys(str(file))
    visitor.is_at(LIVE, file="yes", state="done")
    assert tokens(visitor) == before


def presentation(visitor, url):
    visitor.press("Present")
    visitor.find(":root[data-present]")
    visitor.press("End presentation")
    visitor.wait("!document.querySelector(':root[data-present]')")
    # As on the largest screens: what is pressed is what is meant.
    visitor.resize(1280)
    visitor.press("Details")
    enlarge = "document.querySelector('.gradio-container').style.setProperty('--zoom', arguments[0])"
    visitor.run(enlarge, "1.6")
    count = int(visitor.run(f"return document.querySelector('{LIVE}').dataset.iterations"))

    def pressed(number):
        visitor.point(f"{LIVE} .dv-chart-drawing", (number + 0.5) / count)
        # An iteration may be as narrow as what tells where it is.
        return abs(int(visitor.run(f"return document.querySelector('{LIVE}').dataset.shown")) - number) <= 1

    for number in (1, count - 2):
        visitor.wait(lambda _, number=number: pressed(number))
    visitor.run(enlarge, "")
    visitor.press("Details")


def race(visitor, url):
    visitor.press("Compare", "[role=tab]")
    visitor.press(part="#race-settings > button")
    visitor.type("#compare-max-new-tokens input", "16")
    visitor.press(part="#race")
    visitor.is_at(".dv-race", state="done")
    visitor.press("To the finish")
    visitor.reads(".dv-headline", "tokens/s")


def lesson(visitor, url):
    visitor.press("Learn", "[role=tab]")
    lessons = read_course(LESSONS, TRACES).lessons
    visitor.is_at(".dl", lesson=lessons[0]["name"], page="1")
    asked = ((each["name"], at, page["question"]) for each in lessons for at, page in enumerate(each["pages"]))
    name, before, question = next(each for each in asked if each[1] and "options" in (each[2] or ()))
    visitor.run(f"location.hash = '#tab=learn&lesson={name}&page={before}'")
    visitor.is_at(".dl", lesson=name, page=str(before))
    visitor.press(part=".dl-pages button:last-child")
    visitor.is_at(".dl", page=str(before + 1))
    right = next(at for at, option in enumerate(question["options"], 1) if option["right"])
    visitor.press(part=f".dl-option:nth-child({right})")
    visitor.is_at(".dl-verdict", right="true")
    if visitor.is_firefox:
        visitor.run("location.hash = '#tab=learn&lesson=the-classical-rule&page=1'")
        assert visitor.colours('.dl-bar[data-side="draft"]') > 1


def game(visitor, url):
    visitor.run("location.hash = '#tab=learn&draft=7'")
    for _ in range(3):
        visitor.press(part=".dg-option")
    visitor.press("Check")
    visitor.reads(".dg-told", "in one pass")
    visitor.press("Next round")
    visitor.reads(".dg-where", "Round 2 of 8")


def lab(visitor, url):
    visitor.press("Lab", "[role=tab]")
    for drawn in (".ll-map", ".ll-bar"):
        visitor.find(drawn)
    if visitor.is_firefox:
        assert visitor.colours('.ll-bar[data-kind="paper-0"]') > 1
    visitor.press(part='.ll-thumbnail[data-part="table-1"]')
    visitor.find("#lab-part table")


def link(visitor, url):
    visitor.press("Live", "[role=tab]")
    visitor.type("#prompt textarea", "Why is the sea salt?")
    visitor.press("Copy link")
    copied = visitor.find(".dv-share-link").get_property("value")
    visitor.driver.get("about:blank")
    visitor.driver.get(copied)
    visitor.reads(".dv-share-message", "Prompt and settings loaded")
    assert visitor.find("#prompt textarea").get_property("value") == "Why is the sea salt?"


def race_in_a_frame(visitor, url):
    """Of another origin, with the hub's sandbox; afterwards the visitor is in it."""
    look = visitor.run("return document.body.className.includes('dark') ? 'dark' : 'light'")
    with serving(HUB) as hub:
        visitor.driver.get(f"{hub}#{url}#tab=compare&theme={look}")
        visitor.driver.switch_to.frame("space")
        race(visitor, url)
        visitor.press(part=".dv-menu-race summary")
        visitor.press("Save race")
        visitor.reads(".dv-race .dv-files-message", "No file? The page around this one")
        assert visitor.saved("*.duorace.json")
        visitor.press("Copy link")
        visitor.reads(".dv-share-message", "Link copied")
        assert "#tab=compare&" in visitor.find(".dv-share-link").get_property("value")


def larger_letters(visitor, url):
    """Twice as large, in a window that stays: as Firefox does for who asks for text alone."""
    if not visitor.is_firefox:
        return
    visitor.driver.get("about:blank")
    visitor.driver.get(f"{url}#tab=live")
    visitor.is_at(LIVE, state="recording")
    prompt = visitor.find("#prompt textarea")
    before = prompt.rect["height"]
    with visitor.driver.context("chrome"):
        visitor.run("gBrowser.selectedBrowser.textZoom = 2")
    visitor.wait(lambda _: prompt.rect["height"] > 1.5 * before)
    name, tabs = (visitor.find(part).rect for part in ("#title h1", "#tab-live-button"))
    assert name["x"] + name["width"] <= tabs["x"] and prompt.rect["y"] >= tabs["y"] + tabs["height"]
    beats, key, box = (visitor.find(f"{LIVE} {part}").rect for part in (".dv-beats", ".dv-legend-list", ".dv-tree-box"))
    assert beats["x"] + beats["width"] <= key["x"] and key["y"] + key["height"] <= box["y"]
    with visitor.driver.context("chrome"):
        visitor.run("gBrowser.selectedBrowser.textZoom = 1")


def replay(visitor, url):
    """Of a run of which neither times nor probabilities are known."""
    made, file = builder(proposer=DRAFT, draft={"name": "small"}), visitor.folder / "replay.html"
    made.add([1])
    made.add([2, 3], drafted=[Drafted(id=2), Drafted(id=7), Drafted(id=8, parent=-1)], accepted=1)
    made.add([5], drafted=[Drafted(id=6)])
    file.write_text(replay_page(json.dumps(made.trace())), encoding="utf-8")
    visitor.driver.get(file.as_uri())
    visitor.is_at(".dv", state="done")
    visitor.reads("body", "mine, beam, recorded on")
    assert not visitor.run("return /Timeline|tokens\\/s|NaN/.test(document.body.innerText)")


JOURNEYS = (first_screen, story, run, step_back, trace, presentation, race, lesson, game, lab)
JOURNEYS += (link, larger_letters, race_in_a_frame, replay)


# Each journey is gone through in the one look in the first browser, and in the other one in the second.
LOOKS = ((1280, "light"), (390, "dark"))
WEAR = """const [theme] = arguments;
localStorage.setItem("duoviz theme", theme);
document.body?.classList.toggle("dark", theme === "dark");"""


@pytest.fixture(params=BROWSERS)
def visitor(request, tmp_path):
    with BROWSERS[request.param](tmp_path) as driver:
        yield Visitor(driver, tmp_path)


def test_a_visitor_finds_all_there_is(visitor, shipped):
    visitor.driver.get(f"{shipped}theme.css")
    for number, journey in enumerate(JOURNEYS, visitor.is_firefox):
        width, theme = LOOKS[number % 2]
        visitor.driver.switch_to.default_content()
        visitor.resize(width)
        visitor.run(WEAR, theme)
        journey(visitor, shipped)
        assert visitor.run("return document.documentElement.scrollWidth - innerWidth") <= 1, (journey.__name__, width)
        assert visitor.faults(shipped) == [], journey.__name__
