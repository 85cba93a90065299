"""What a visitor does on the page, wherever it stands: on its own, in a frame, behind a path."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import is_at, set_tokens

# Each journey is done in a frame, a page's main one or one within it, and begins wherever another has ended.


def listen(page) -> list[str]:
    """What goes wrong on the page and in its frames from now on: errors, what the console warns of, failed requests.

    What a page gives up as it is left is no failure.
    """
    faults = []
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("console", lambda said: said.type == "error" and faults.append(f"console: {said.text} {said.location}"))
    page.on("response", lambda got: got.status >= 400 and faults.append(f"{got.status}: {got.url}"))
    page.on(
        "requestfailed",
        lambda request: request.failure != "net::ERR_ABORTED" and faults.append(f"{request.failure}: {request.url}"),
    )
    return faults


def choose_tab(frame, name):
    tab = frame.get_by_role("tab", name=name, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


FACES = """() => document.fonts.ready.then((all) => (
  [...all].filter(({family}) => /Inter/.test(family)).map(({status}) => status)))"""


def the_page_is_drawn(frame):
    expect(frame.locator("#generate")).to_be_visible()
    is_at(frame.locator("#visualizer .dv"), state="recording")
    expect(frame.locator("#visualizer .dv-token").first).to_be_visible()
    assert frame.evaluate(FACES) == ["loaded"]
    assert frame.locator(".dv-tree").evaluate("(node) => getComputedStyle(node).display") == "grid"


def a_run_comes_to_its_end(frame):
    choose_tab(frame, "Live")
    set_tokens(frame, 60)
    frame.locator("#generate").click()
    dv = frame.locator("#visualizer .dv")
    expect(frame.locator(".dv-message")).to_contain_text("Finished")
    is_at(dv, state="done")
    assert 1 <= dv.locator(".dv-token").count() <= 60
    expect(dv.locator('[data-number="tps"]')).to_have_text(re.compile(r"\d"))
    assert dv.locator("rect.dv-bar[data-lane=target]").count() > 3


def a_lesson_is_shown(frame):
    choose_tab(frame, "Learn")
    is_at(frame.locator(".dl-visualizer"), state="done")


def the_lab_shows_results(frame):
    choose_tab(frame, "Lab")
    expect(frame.locator("#lab-about p").first).to_be_visible()
    expect(frame.locator(".ll-map").first).to_be_visible()
    expect(frame.locator(".ll-bar").first).to_be_visible()
    for part, drawn in (("table-1", "#lab-part table"), ("time", "#lab-figure .point path")):
        frame.locator(f'.ll-thumbnail[data-part="{part}"]').click()
        expect(frame.locator(drawn).first).to_be_visible()
