"""Traces, pictures and films, saved and loaded."""

import json
from xml.etree import ElementTree

from playwright.sync_api import expect

from tests.e2e.pages import READ_ITERATIONS, download, load, move_to, open_menu, press, saved_by, saved_to, show, shown
from tests.web.front.runs import TRACES


def view_of(page):
    """All that is shown of a run."""
    numbers = page.locator("[data-number]:not([data-number=phi])").all_inner_texts()
    texts = [page.locator(part).inner_text() for part in (".dv-text-box", ".dv-message")]
    return numbers, texts, page.evaluate(READ_ITERATIONS, 16)


DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  document.querySelector(".dv").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
}"""


def test_a_saved_trace_shows_the_same_when_loaded_and_a_bad_file_changes_nothing(page, methods_page, tmp_path):
    def is_shown(method):
        shown(page, method=method, iterations=len(TRACES[method]["iterations"]), state="done")

    show(page, methods_page, "duodecoding")
    path = download(page, "Save trace", tmp_path)
    assert path.name.endswith(".duoviz.json")
    assert json.loads(path.read_text()) == TRACES["duodecoding"]
    before, message = view_of(page), page.locator(".dv-files-message")
    press(page, "rest")
    is_shown("rest")
    page.mouse.move(600, 400)
    load(page, path)
    is_shown("duodecoding")
    assert view_of(page) == before
    # A file can be dropped, too.
    page.evaluate(DROP, ["a.duoviz.json", json.dumps(TRACES["lookahead"])])
    expect(message).to_have_text("Shown: the file a.duoviz.json.")
    is_shown("lookahead")
    press(page, "Back to your run")
    is_shown("rest")
    expect(page.get_by_role("button", name="Back to your run")).to_be_hidden()
    text = page.locator(".dv-token").all_inner_texts()
    bad = TRACES["duodecoding"] | {"iterations": [*TRACES["duodecoding"]["iterations"][:4], None]}
    load(page, saved_to(tmp_path, bad, "bad.json"))
    expect(message).to_contain_text('can be shown: "iterations[4]" is missing')
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(51_000_000)
    load(page, tmp_path / "huge.json")
    expect(message).to_have_text("This file has 51 MB, and a trace may have at most 50 MB.")
    assert page.locator(".dv-token").all_inner_texts() == text
    is_shown("rest")


SVG = "{http://www.w3.org/2000/svg}"
# What the marks in a picture mean.
MEANT = ("accepted", "rejected", "target forward pass, tokens", "draft step, tokens", "end of an iteration")


def test_the_iteration_shown_is_saved_as_a_picture(page, methods_page, tmp_path):
    show(page, methods_page, "duodecoding")
    move_to(page, 3)
    path = download(page, "Save as picture (SVG)", tmp_path)
    picture = ElementTree.parse(path).getroot()
    nodes, bars = (
        [each for each in picture.iter() if name in each.get("class", "").split()] for name in ("dv-node", "dv-bar")
    )
    assert path.name.endswith("-iteration-3.svg") and len(nodes) == page.locator("g.dv-node").count() and len(bars) > 3
    assert all("fill:" in each.get("style", "") for each in [*nodes, *bars])
    # A token that is written from right to left turns no other.
    labels = [each for each in picture.iter(f"{SVG}text") if "dv-label" in each.get("class", "")]
    assert labels and all("unicode-bidi:isolate" in each.get("style").replace(": ", ":") for each in labels)
    assert not {"http:", "https:"} & {each.get("href", "")[:6] for each in picture.iter()}
    told, sentence = "".join(picture.itertext()), page.locator(".dv-sentence").inner_text()
    asked = f"DuoDecoding, iteration 3: “{TRACES['duodecoding']['header']['prompt']}”"
    assert all(each in told for each in [asked, sentence, *MEANT])
    png = download(page, "Save as picture (PNG)", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert [int.from_bytes(png[place : place + 4], "big") for place in (16, 20)] == [2560, 1440]


def film(page, first, last):
    open_menu(page)
    page.get_by_label("First iteration of the film").fill(first)
    page.get_by_label("Last iteration of the film").fill(last)
    press(page, "Save as film")


def test_iterations_are_saved_as_a_film(page, methods_page, tmp_path):
    show(page, methods_page, "speculative")
    message, last = page.locator(".dv-files-message"), len(TRACES["speculative"]["iterations"]) - 1
    move_to(page, 2)
    open_menu(page)
    expect(page.get_by_label("First iteration of the film")).to_have_value("2")
    for wrong in (("4", "3"), ("0", str(last + 1)), ("", "3")):
        film(page, *wrong)
        expect(message).to_have_text(f"Enter two iterations from 0 to {last}, the first not after the last.")
        message.evaluate("node => { node.textContent = '' }")
    film(page, "0", str(last))
    expect(message).to_have_text(f"Filming {last + 1} iterations.")
    assert page.locator(".dv-backstage .dv-bar").first.bounding_box()["x"] < 0
    press(page, "Cancel")
    expect(message).to_have_text("Cancelled: no film was saved.")
    path = saved_by(page, lambda: film(page, "3", "3"), tmp_path)
    assert path.name.startswith("duoviz-speculative-") and path.name.endswith("-iterations-3-to-3.webm")
    expect(message).to_have_text(f"Saved as {path.name}.")
    # A film begins so; the tests in test_slowly.py cover what its slides show.
    assert path.read_bytes().startswith(b"\x1aE\xdf\xa3")
    # Filming has left the page as it was.
    shown(page, shown=2)
    assert page.locator(".dv-backstage").count() == 0
