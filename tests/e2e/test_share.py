"""Links and settings files: what they hold, and what the page makes of them."""

import json
import random
import re
import threading
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from duoviz.web.share import ShareBar
from tests.e2e.live_tab import start_endless
from tests.e2e.tiny_site import tiny_site
from tests.tiny import tiny_engine

PIECES = ["plain words", "&a=b#c", "100% + é", "line\nbreak", "\t", "日本語", "🦙", "</script>", "%zz", "?q", " "]


@pytest.fixture(scope="module")
def told(site):
    """What the browser knows of the app: its pages, and on a Space its address."""
    (bar,) = [block for block in site.demo.blocks.values() if isinstance(block, ShareBar)]
    return bar.props["site"]


@pytest.fixture
def pages(told):
    return told["pages"]


def random_text(chance):
    return "".join(chance.choices(PIECES, k=chance.randrange(6)))


def random_value(chance, field):
    if field["kind"] == "choice":
        return chance.choice(field["choices"])
    if field["kind"] == "flag":
        return chance.random() < 0.5
    if field["kind"] == "number":
        return chance.choice([None, 0, 7, -3, 2**40, 0.1, 1e-9, 1.5e300, round(chance.random(), 6)])
    return random_text(chance)


def random_view(chance, pages):
    """A view of a tab, and how a link lets the page look."""
    tab = chance.choice(list(pages))
    page = pages[tab]
    fields = {name: random_value(chance, field) for name, field in page["fields"].items()}
    own = {"iteration": chance.randrange(1000), "recording": chance.randrange(1000)} if page["visualizer"] else {}
    own |= {"autoplay": True} if page["start"] else {}
    look = {"theme": chance.choice(["light", "dark"]), "present": chance.random() < 0.5, "controls": ["step", "pages"]}
    own, look = ({name: of[name] for name in of if chance.random() < 0.4} for of in (own, look))
    return {"tab": tab, "fields": fields} | own, look


def random_views(pages):
    chance = random.Random(5)
    return [random_view(chance, pages) for _ in range(200)]


ROUND_TRIP = """async ([views, pages]) => {
  const link = await import("http://plain.test/share/link.js");
  const found = await Promise.all(views.map(async ([view, look]) => {
    const fragment = link.fragmentOf({ ...view, ...look }, pages);
    const file = await link.viewOfFile(link.fileOf(view), pages);
    return { fragment, of: link.viewOfFragment(fragment, pages), file };
  }));
  return JSON.parse(JSON.stringify(found));
}"""


def test_200_random_views_come_back_from_links_and_files(modules, pages):
    views = random_views(pages)
    for (view, look), found in zip(views, modules.evaluate(ROUND_TRIP, [views, pages]), strict=True):
        assert found["of"] == {"view": view, "look": look, "problem": ""}
        assert found["file"] == {"view": {name: value for name, value in view.items() if name != "autoplay"}}
        assert re.fullmatch(r"#[\w.~!*'()=&%+-]+", found["fragment"])


def mutated(chance, text):
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        cut = at + chance.randrange(1, 12)
        text = chance.choice(
            [
                lambda: text[:at] + text[cut:],
                lambda: (
                    text[:at] + chance.choice(["%", "&", "=", "#", "+", "<", "é", "\0", "%E0%A4", "tab="]) + text[at:]
                ),
                lambda: text[: at + 1],
                lambda: text[:cut] + text[at:],
                lambda: text[:at] + chance.choice("0123456789abcxyz%") + text[at + 1 :],
            ]
        )()
    return text


READ = """async ([fragments, pages]) => {
  const link = await import("http://plain.test/share/link.js");
  return Promise.all(fragments.map(async (fragment) => {
    const found = link.viewOfFragment(fragment, pages);
    const again = found.view && link.viewOfFragment(link.fragmentOf({ ...found.view, ...found.look }, pages), pages);
    return { found, again, file: await link.viewOfFile(fragment, pages) };
  }));
}"""
IGNORED = {
    "#tab=nowhere": '"tab" (not one of the choices)',
    "#tab=live&magic=1": '"magic" (unknown here)',
    "#__proto__=1": '"__proto__" (unknown here)',
    "#temperature=warm": '"temperature" (not a number)',
    "#temperature=Infinity": '"temperature" (not a number)',
    "#method=magic": '"method" (not one of the choices)',
    "#raw=__proto__": '"raw" (not true or false)',
    "#iteration=-1": '"iteration" (not the number of an iteration)',
    "#seed=1&seed=2": '"seed" (given twice)',
    "#prompt=%E0%A4%A": '"prompt=%E0%A4%A" (cannot be read)',
    "#prompt=%ED%A0%80": '"prompt=%ED%A0%80" (cannot be read)',
    f"#seed=1{'0' * 400}": '"seed" (not a number)',
    "#prompt=Hi&x": '"x" (cannot be read)',
    "#theme=blue": '"theme" (not one of the choices)',
    "#tab=learn&lesson=nowhere": '"lesson" (not one of the choices)',
    "#tab=learn&autoplay=1&iteration=3": '"autoplay" (unknown here), "iteration" (unknown here)',
    "#controls=step,magic": 'control "magic" (unknown)',
    "#a=1&b=2&c=3&d=4": '"a" (unknown here), "b" (unknown here), "c" (unknown here), and 1 more',
}


def test_what_a_link_says_wrongly_is_ignored_and_told_in_one_sentence(modules, pages):
    chance = random.Random(6)
    fragments = [made["fragment"] for made in modules.evaluate(ROUND_TRIP, [random_views(pages), pages])]
    results = modules.evaluate(READ, [[mutated(chance, each) for each in fragments], pages])
    for result in results:
        found = result["found"]
        if found["view"]:
            assert result["again"] == found | {"problem": ""}
            assert found["view"]["fields"].keys() == pages[found["view"]["tab"]]["fields"].keys()
        if found["problem"]:
            assert re.fullmatch(r"Ignored in this link: .{3,250}\.", found["problem"])
        assert "no settings file" in result["file"]["problem"]
    assert sum(bool(result["found"]["problem"]) for result in results) > 40
    for ignored, result in zip(IGNORED.values(), modules.evaluate(READ, [list(IGNORED), pages]), strict=True):
        assert result["found"]["problem"] == f"Ignored in this link: {ignored}."
    # What says nothing that is known leaves the page as it is.
    nothing = ["", "#", "#heading", "#seed=x", "#tab=nowhere", "#controls=magic"]
    said = [result["found"] for result in modules.evaluate(READ, [nothing, pages])]
    assert [each["view"] or each["look"] for each in said] == [{}] * len(nothing)


FILES = """async ([texts, pages]) => {
  const link = await import("http://plain.test/share/link.js");
  return Promise.all(texts.map(async (text) => (await link.viewOfFile(text, pages)).problem));
}"""


def test_bad_settings_files_give_one_sentence(modules, pages):
    good = {"duoviz": "settings", "version": 1, "tab": "live", "fields": {"seed": 3}}
    cases = {
        "no settings file": ["", "[]", "{", "null", '"settings"', "{}"],
        "it is not JSON": ["", "{", '{"duoviz": NaN}'],
        "it is nested deeper than 32 levels": [
            '{"a":' * 100_000,
            json.dumps(good)[:-1] + ', "a": ' + "[" * 40 + "]" * 40 + "}",
        ],
        "it has a number that is too large": [
            json.dumps(good | {"a": 10**400}),
            json.dumps(good)[:-1] + ', "a": 1e999}',
        ],
        'has version "2"': [json.dumps(good | {"version": 2})],
        'has version "{"toString":1}"': [json.dumps(good | {"version": {"toString": 1}})],
        'no tab "{"toString":1,"valueOf":1}"': [json.dumps(good | {"tab": {"toString": 1, "valueOf": 1}})],
        '"temperature" is not a number': [
            json.dumps(good | {"fields": {"temperature": value}}) for value in (True, "1", [])
        ],
        "the page has no tab": [json.dumps(good | {"tab": ["live"]}), json.dumps(good | {"tab": "constructor"})],
        '"fields" is missing': [json.dumps(good | {"fields": [1]}), json.dumps(good | {"fields": None})],
        "the page has no setting": [json.dumps(good | {"fields": {"toString": 1}})],
        '"seed" is not a number': [json.dumps(good | {"fields": {"seed": "1"}})],
        '"prompt" is not a text': [
            json.dumps(good | {"fields": {"prompt": value}}) for value in ({"a": 1}, None, "half \ud83d", ["a"])
        ],
        "not the number of an iteration": [json.dumps(good | {"iteration": "1"})],
    }
    for sentence, texts in cases.items():
        assert all(sentence in problem for problem in modules.evaluate(FILES, [texts, pages]))


def opened(page, url, fragment=""):
    page.goto("about:blank")
    page.goto(url + fragment)
    expect(page.locator("#share").get_by_role("button", name="Light or dark")).to_be_visible()


def message(page):
    return page.locator("#share .dv-share-message")


def copy(page):
    """Press Copy link: the link that stands there then."""
    link = page.locator(".dv-share-link")
    link.evaluate("input => { input.value = ''; }")
    page.get_by_role("button", name="Copy link").click()
    expect(link).not_to_have_value("")
    expect(link).to_be_visible()
    return link.input_value()


def run(page, method, **expected):
    """Press Generate, and see that the run, of another method than the one before, had these settings."""
    page.locator("#generate").click()
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-method", method)
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "done")
    with page.expect_download() as waiting:
        page.locator(".dv-menu-files summary").click()
        page.get_by_role("button", name="Save trace").click()
    page.keyboard.press("Escape")
    header = json.loads(waiting.value.path().read_text())["header"]
    assert {"prompt": header["prompt"], **header["settings"]}.items() >= expected.items()


VIEW = {
    "prompt": "a&b=c #1 100%\n<b>é</b> 🦙",
    "method": "rest",
    "max_new_tokens": 9,
    "temperature": 0.7,
    "seed": 11,
    "rest_shortest": 3,
    "raw": True,
}


def fragment_of(fields):
    return "#" + "&".join(
        f"{name}={quote(str(value).lower() if value is True else str(value))}" for name, value in fields.items()
    )


def test_a_link_gives_the_same_view_and_runs_nothing(page, site):
    url, view = site.url, VIEW | {"method": "vanilla"}
    opened(page, url, fragment_of(view))
    expect(message(page)).to_contain_text("nothing runs before you start it")
    expect(page.locator("#prompt textarea")).to_have_value(view["prompt"])
    assert page.evaluate("document.querySelector('#share b')") is None
    link = copy(page)
    assert link.startswith(url + "#tab=live&") and "seed=11" in link and "rest_shortest=3" in link
    opened(page, url, link.removeprefix(url))
    expect(message(page)).to_contain_text("nothing runs before you start it")
    assert copy(page) == link
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "empty")
    run(page, **view)
    page.locator("#visualizer .dv-slider").fill("4")
    held = copy(page)
    assert held == link + "&iteration=4"
    opened(page, url, held.removeprefix(url))
    expect(message(page)).to_contain_text("Iteration 4 will be held")
    run(page, "vanilla", seed=11)
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-shown", "4")
    assert not page.errors


def test_a_link_to_the_page_as_it_opens_says_nothing_of_settings(page, site):
    opened(page, site.url)
    plain = copy(page)
    opened(page, site.url, plain.removeprefix(site.url) + "&iteration=4")
    expect(message(page)).to_have_text("Iteration 4 will be held when the run comes to it.")
    opened(page, site.url, "#tab=compare")
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".dv-toast")).to_be_hidden()
    opened(page, site.url, "#tab=compare&seed=9")
    expect(message(page)).to_have_text(
        "The link has set the prompt and the settings; nothing runs before you start it."
    )


def test_other_tabs_have_links_of_their_own_which_are_copied_or_stand_selected(page, site):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, site.url, "#tab=compare&prompt=Two+runs&seed=9")
    expect(page.locator("#compare-prompt textarea")).to_have_value("Two runs")
    link = copy(page)
    assert "#tab=compare&" in link and "seed=9" in link and "iteration" not in link
    expect(message(page)).to_contain_text("The link is copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    assert copy(page) == link
    expect(message(page)).to_contain_text("the link is selected")
    assert page.evaluate("document.getSelection().toString()") == link
    page.get_by_role("tab", name="Lab").click()
    expect(page.get_by_role("tab", name="Lab")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".dv-share-link")).to_have_value(f"{site.url}#tab=lab")
    page.evaluate("location.hash = '#tab=live'")
    expect(page.locator("#prompt textarea")).to_be_visible()
    assert not page.errors


def test_inside_another_sites_frame_the_link_is_taken_up_and_stands_selected(page, site):
    url = site.url
    page.goto(url.replace("127.0.0.1", "localhost") + "theme.css")
    page.set_content(f'<iframe src="{url}#prompt=Framed&seed=8" width="1000" height="800"></iframe>')
    frame = page.frame_locator("iframe")
    expect(frame.locator("#prompt textarea")).to_have_value("Framed")
    frame.get_by_role("button", name="Copy link").click()
    link = frame.locator(".dv-share-link")
    expect(link).to_have_value(re.compile(f"^{re.escape(url)}#tab=live&prompt=Framed&.*seed=8$"))
    expect(frame.locator(".dv-share-message")).to_contain_text("the link is selected")
    selected = "input => input.selectionEnd - input.selectionStart === input.value.length"
    assert link.evaluate(selected) and link.evaluate("input => document.activeElement === input")


def test_autoplay_runs_and_a_link_followed_on_the_page_is_taken_up(page, site, monkeypatch):
    started, start = [], site.hardware.start
    monkeypatch.setattr(site.hardware, "start", lambda job: started.append(job.method) or start(job))
    opened(page, site.url, fragment_of({"method": "vanilla", "max_new_tokens": 3, "autoplay": 1}))
    dv = page.locator("#visualizer .dv")
    expect(dv).to_have_attribute("data-state", "done")
    expect(dv).to_have_attribute("data-iterations", "3")
    page.evaluate("location.hash = '#prompt=Another&seed=5'")
    expect(page.locator("#prompt textarea")).to_have_value("Another")
    expect(dv).to_have_attribute("data-iterations", "3")
    page.evaluate("location.hash = '#a-heading'")
    expect(message(page)).to_be_hidden()
    run(page, "duodecoding", prompt="Another", seed=5, max_new_tokens=128)
    assert started == ["vanilla", "duodecoding"]


def test_a_link_says_when_a_run_is_in_the_way_of_its_own(page, site):
    start_endless(page, site.url)
    page.evaluate("location.hash = '#prompt=Another&method=vanilla&autoplay=1'")
    expect(message(page)).to_contain_text("A run goes on here: start this one when it is over.")
    expect(page.locator("#prompt textarea")).to_have_value("Another")
    page.locator("#stop").click()
    expect(page.locator(".dv-message")).to_have_text("Stopped.")


def test_a_link_starts_its_run_though_the_one_before_is_still_ending(page, site, monkeypatch):
    batches, over, released = site.hardware.batches, threading.Event(), threading.Event()

    def slow_to_end(job):
        yield from batches(job)
        over.set()
        released.wait(60)

    monkeypatch.setattr(site.hardware, "batches", slow_to_end)
    start_endless(page, site.url)
    page.locator("#stop").click()
    expect(page.locator(".dv-message")).to_have_text("Stopped.")
    assert over.wait(60)
    page.evaluate("location.hash = '#prompt=Another&method=vanilla&max_new_tokens=3&autoplay=1'")
    expect(page.locator("#prompt textarea")).to_have_value("Another")
    released.set()
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-iterations", "3")


@pytest.mark.parametrize(
    "fragment, button",
    [
        ("#pair=them/big+%2B+them/small", "generate"),
        ("#pair=qwen2.5-7b", "generate"),
        ("#method=rest&rest_datastore=/etc", "generate"),
        ("#tab=compare&second_method=rest&second_rest_datastore=mine", "race"),
    ],
)
def test_a_link_that_reaches_for_the_hub_or_a_folder_waits_for_the_button(page, fragment, button):
    asked = []

    def load(name, progress):
        asked.append(name)
        return tiny_engine()

    with tiny_site(load) as site:
        opened(page, site.url, f"{fragment}&prompt=Mine&autoplay=1")
        expect(page.locator(f"#{button}")).to_be_visible()
        expect(message(page)).to_contain_text("It names other models or a datastore of its own: look at the settings")
        field = "#compare-prompt" if button == "race" else "#prompt"
        expect(page.locator(f"{field} textarea")).to_have_value("Mine")
        # A link that starts its run is taken up after it, on the same page: then the first has had its time.
        page.evaluate("location.hash = '#prompt=Other&max_new_tokens=2&method=vanilla&autoplay=1'")
        expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "done")
        assert asked == ["embedded"] and not page.errors


def test_what_a_link_says_wrongly_stays_as_it_was(page, site, pages):
    fragments = ["#prompt=%E0%A4%A&seed=5", "#seed=x", "#<img src=x onerror=window.hacked=1>=1"]
    opened(page, site.url, fragments[0])
    for fragment, named in zip(fragments, ("prompt=%E0", '"seed"', "%3Cimg|<img"), strict=True):
        # The first as the page opens; the others are followed on it.
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        expect(message(page)).to_contain_text(re.compile(f"^Ignored in this link: .*({named})"))
    assert page.locator("#prompt textarea").input_value() == pages["live"]["fields"]["prompt"]["default"]
    assert page.evaluate("window.hacked") is None and page.locator("#share img").count() == 0
    assert copy(page).endswith("&seed=5")
    assert not page.errors


CONTROLS = {
    "prompt": "#ask, #ask-race",
    "files": ".dv-menu-files",
    "step": "[aria-label='Step forward']",
    "play": "[aria-label=Play]",
    "slider": ".dv-slider",
    "speed": ".dv-speed",
    "zoom": ".dv-timeline .dv-tools",
    "pages": ".dl-pages button:last-child",
}


def left_on(page, tab):
    """The controls that can be seen on a tab."""
    return {name for name, control in CONTROLS.items() if page.locator(f"#tab-{tab} :is({control})").first.is_visible()}


def test_a_link_leaves_only_some_controls_and_says_how_the_page_looks(page, site):
    run = "#method=vanilla&max_new_tokens=9&autoplay=1"
    opened(page, site.url, f"{run}&controls=step,prompt,magic&theme=dark&present=1")
    expect(message(page)).to_have_text('Ignored in this link: control "magic" (unknown).')
    dv = page.locator("#visualizer .dv")
    expect(dv).to_have_attribute("data-state", "done")
    # It is presented, which takes the form away.
    assert left_on(page, "live") == {"step"}
    expect(page.locator("body.dark, :root[data-present]")).to_have_count(2)
    page.keyboard.press("Escape")
    assert left_on(page, "live") == {"step", "prompt"}
    page.keyboard.press("ArrowLeft")
    page.keyboard.press(" ")
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    expect(dv).to_have_attribute("data-shown", "6")
    expect(page.locator(".dv-speed")).to_have_value("1")
    # The link's theme is not the visitor's own.
    assert "&controls=step%2Cprompt" in (link := copy(page)) and "theme" not in link
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("body.dark")).to_have_count(0)
    assert copy(page) == link + "&theme=light"
    page.evaluate("localStorage.clear()")
    # Of one tab, and before the # of all.
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#ask-race")).to_be_visible()
    opened(page, site.url, "?controls=pages,slider#tab=learn&lesson=draft-and-verify")
    expect(page.locator(".dl-visualizer")).to_have_attribute("data-state", "done")
    assert left_on(page, "learn") == {"pages", "slider"}
    page.get_by_role("tab", name="Live").click()
    expect(page.locator("#visualizer .dv")).to_be_visible()
    assert left_on(page, "live") == set()
    assert not page.errors


PRESS = """async (presses) => {
  const { limitControls, limitKeys } = await import("http://plain.test/share/limits.js");
  document.body.innerHTML = `<p></p><div role="tab"></div><div role="slider"></div><input type="range">
    <i class="dv-tree"></i><i class="dv-timeline"></i>`;
  limitControls("live", ["play"]);
  limitKeys(() => "live");
  return presses.map(([place, key, held]) => {
    const event = new KeyboardEvent("keydown", { key, [held]: true, bubbles: true, cancelable: true });
    document.querySelector(place).dispatchEvent(event);
    return event.defaultPrevented;
  });
}"""


def test_a_limit_takes_no_key_of_the_browsers_or_of_another_widget(modules):
    free = [("p", "+", "ctrlKey"), ("p", "a", "metaKey"), ("p", "ArrowLeft", "altKey"), ("p", " ", "")]
    free += [(place, "ArrowRight", "") for place in ("[role=tab]", "[role=slider]", "input")]
    free.append((".dv-tree", "s", ""))
    limited = [("p", "+", ""), (".dv-timeline", "A", "shiftKey"), ("p", "ArrowLeft", "")]
    assert modules.evaluate(PRESS, free) == [False] * len(free)
    assert modules.evaluate(PRESS, limited) == [True] * len(limited)


def test_a_long_prompt_travels_as_a_file(page, site, tmp_path):
    opened(page, site.url)
    prompt = "é< " * 700
    page.locator("#prompt textarea").fill(prompt)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Copy link").click()
    expect(message(page)).to_contain_text("2,100 characters is too long for a link, which holds 2,000 at most")
    expect(page.locator(".dv-share-link")).to_be_hidden()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    opened(page, site.url)

    def load(path):
        with page.expect_file_chooser() as choosing:
            page.get_by_role("button", name="Open settings file").click()
        choosing.value.set_files(path)

    load(file)
    expect(page.locator("#prompt textarea")).to_have_value(prompt)
    expect(message(page)).to_have_text("The prompt and the settings are those of the file.")
    (tmp_path / "bad.json").write_text('{"a": "<b>"}')
    load(tmp_path / "bad.json")
    expect(message(page)).to_have_text("This is no settings file of duoviz, so nothing was changed.")
    expect(page.locator("#prompt textarea")).to_have_value(prompt)
    assert not page.errors


COPY = """async ([values, site]) => {
  const { copyLink } = await import("http://plain.test/share/page.js");
  return JSON.parse(await copyLink(values, site)).link;
}"""


def test_on_a_space_links_lead_to_its_own_address(modules, told):
    values = [field["default"] for page in told["pages"].values() for field in page["fields"].values()]
    link = modules.evaluate(COPY, [values, told | {"host": "someone-duoviz.hf.space"}])
    assert link.startswith("https://someone-duoviz.hf.space/#tab=live&prompt=")
