"""Links in a real browser: what the page makes of them. What they hold is tests/web/front's."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import gradio
from playwright.sync_api import expect

from tests.e2e.journeys import choose_tab
from tests.e2e.pages import copy, download, is_at, move_to, press, serving

# What another page loads for <gradio-app>.
GRADIO = Path(gradio.__file__).parent / "templates" / "frontend"


def opened(page, url, fragment=""):
    page.goto("about:blank")
    page.goto(url + fragment)
    expect(page.locator("#share").get_by_role("button", name="Light or dark")).to_be_visible()


def message(page):
    return page.locator("#share .dv-share-message")


def prompt(page):
    return page.locator("#prompt textarea")


def live(page):
    return page.locator("#visualizer .dv")


def run(page, folder, method, **expected):
    """Press Generate, and see that the run, of another method than the one before, had these settings."""
    page.locator("#generate").click()
    is_at(live(page), method=method, state="done")
    header = json.loads(download(page, "Save trace", folder).read_text())["header"]
    page.keyboard.press("Escape")
    assert {"prompt": header["prompt"], **header["settings"]}.items() >= expected.items()


VIEW = {
    "prompt": "a&b=c #1 100%\n<b>é</b> 🦙",
    "method": "vanilla",
    "max_new_tokens": 9,
    "temperature": 0.7,
    "top_k": 9,
    "top_p": 0.95,
    "seed": 11,
    "rest_shortest": 3,
    "raw": True,
}
FRAGMENT = "#" + "&".join(f"{name}={quote(str(value))}" for name, value in (VIEW | {"raw": "true"}).items())
SET = "Prompt and settings loaded. Press Generate to run."


def test_a_link_gives_the_same_view_and_runs_nothing(page, site, tmp_path):
    url = site.url
    opened(page, url, FRAGMENT)
    expect(message(page)).to_have_text(SET)
    expect(prompt(page)).to_have_value(VIEW["prompt"])
    is_at(live(page), state="empty")
    link = copy(page)
    assert link.startswith(url + "#tab=live&") and "seed=11" in link and "rest_shortest=3" in link
    run(page, tmp_path, **VIEW)
    move_to(page, 4)
    held = copy(page)
    assert held == link + "&iteration=4"
    opened(page, url, held.removeprefix(url))
    expect(message(page)).to_contain_text("Iteration 4 will be shown")
    run(page, tmp_path, **VIEW)
    is_at(live(page), shown=4)


def test_other_tabs_have_links_of_their_own_which_are_copied(page, site):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, site.url, "#tab=compare&prompt=Two+runs&seed=9")
    expect(page.locator("#compare-prompt textarea")).to_have_value("Two runs")
    expect(message(page)).to_have_text(SET.replace("Generate", "Race"))
    link = copy(page)
    assert "#tab=compare&" in link and "seed=9" in link and "iteration" not in link
    expect(message(page)).to_contain_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    choose_tab(page, "Lab")
    assert copy(page) == f"{site.url}#tab=lab"
    page.evaluate("location.hash = '#tab=live'")
    expect(prompt(page)).to_be_visible()


def test_inside_another_sites_frame_the_link_is_taken_up_and_stands_selected(page, site):
    url = site.url
    page.goto(url.replace("127.0.0.1", "localhost") + "theme.css")
    page.set_content(f'<iframe src="{url}#prompt=Framed&seed=8" width="1000" height="800"></iframe>')
    frame = page.frame_locator("iframe")
    expect(prompt(frame)).to_have_value("Framed")
    # What is said leaves in sight what it says to press, also on a phone.
    for width in (390, 1000):
        page.locator("iframe").evaluate("(node, width) => { node.width = width; }", width)
        said, button = (frame.locator(part).bounding_box() for part in (".dv-toast", "#generate"))
        assert said["y"] + said["height"] <= button["y"], width
    press(frame, "Copy link")
    link = frame.locator(".dv-share-link")
    expect(link).to_have_value(re.compile(f"^{re.escape(url)}#tab=live&prompt=Framed&.*seed=8$"))
    expect(frame.locator(".dv-share-message")).to_contain_text("The text is selected")
    selected = "input => input.selectionEnd - input.selectionStart === input.value.length"
    assert link.evaluate(selected) and link.evaluate("input => document.activeElement === input")
    # For a page of one's own.
    press(frame, "Copy as a frame (HTML)")
    expect(link).to_have_value(re.compile(f'^<iframe src="{re.escape(url)}#tab=live&amp;prompt=Framed&amp;'))
    assert link.evaluate(selected)
    page.set_content(link.input_value())
    expect(prompt(frame)).to_have_value("Framed")
    expect(page.locator("iframe")).to_have_attribute("src", re.compile("&seed=8$"))


def test_in_place_of_gradios_element_in_another_page_stands_the_frame_to_copy(page, site, tmp_path):
    (tmp_path / "assets").symlink_to(GRADIO / "assets")
    script = (GRADIO / "gradio.js").read_text()
    (tmp_path / "lesson.html").write_text(
        f'<!doctype html><script type="module">{script}</script><gradio-app src="{site.url}"></gradio-app>'
    )
    with serving(tmp_path) as lesson:
        page.goto(f"{lesson}lesson.html")
        frame = page.locator("code")
        expect(frame).to_be_visible()
        expect(page.locator("p").filter(has=frame)).to_contain_text("duoviz works in a frame")
        expect(page.locator("gradio-app")).to_be_hidden()
        page.set_content(frame.text_content())
        expect(prompt(page.frame_locator("iframe"))).to_be_visible()


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
    autoplay = "#method=vanilla&max_new_tokens=9&autoplay=1"
    opened(page, site.url, f"{autoplay}&controls=step,prompt,magic&theme=dark&present=1")
    expect(message(page)).to_have_text('Ignored in this link: control "magic" (unknown).')
    is_at(live(page), state="done")
    # It is presented, which takes the form away.
    assert left_on(page, "live") == {"step"}
    expect(page.locator("body.dark, :root[data-present]")).to_have_count(2)
    page.keyboard.press("Escape")
    assert left_on(page, "live") == {"step", "prompt"}
    for key in ("ArrowLeft", " ", "+", "ArrowLeft"):
        page.keyboard.press(key)
    is_at(live(page), shown=6)
    expect(page.locator(".dv-speed")).to_have_value("1")
    # The link's theme is not the visitor's own.
    assert "&controls=step%2Cprompt" in (link := copy(page)) and "theme" not in link
    press(page, "Light or dark")
    expect(page.locator("body.dark")).to_have_count(0)
    assert copy(page) == link + "&theme=light"
    page.evaluate("localStorage.clear()")
    # Of one tab, and before the # of all.
    choose_tab(page, "Compare")
    expect(page.locator("#ask-race")).to_be_visible()
    opened(page, site.url, "?controls=pages,slider#tab=learn&lesson=draft-and-verify")
    is_at(page.locator(".dl-visualizer"), state="done")
    assert left_on(page, "learn") == {"pages", "slider"}
    choose_tab(page, "Live")
    assert left_on(page, "live") == set()
