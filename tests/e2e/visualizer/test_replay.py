"""The one file that replays a run."""

import copy
import json
from xml.etree import ElementTree

from playwright.sync_api import expect

from duoviz.web.replay import replay_frame, replay_page
from tests.e2e.pages import download, fits, is_at, move_to, show, shown, text_of
from tests.web.front.runs import TRACES

HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "</script><script>window.hacked=2</script>",
    "<!--<script>",
    "{trace}",
    "${window.hacked=3}",
    "\u2028\u202e",
    "é🦙\n",
]


def told(page):
    """The text and the numbers; φ is of live runs alone."""
    numbers = page.locator("[data-number]:not([data-number=phi])")
    return page.locator(".dv-token").all_inner_texts(), numbers.all_inner_texts()


def test_the_file_replays_the_run_from_disk_without_a_network(new_page, page, methods_page, tmp_path):
    show(page, methods_page, "duodecoding")
    saved, trace = (download(page, button, tmp_path) for button in ("Save as web page (replay)", "Save trace"))
    assert saved.name.endswith(".html")
    assert saved.read_bytes() == replay_page(trace.read_text(encoding="utf-8")).encode()
    before = told(page)
    replay = new_page(offline=True, color_scheme="dark", viewport={"width": 390, "height": 800})
    requests, errors = [], []
    replay.on("request", lambda request: requests.append(request.url))
    replay.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    replay.goto(saved.as_uri())
    shown(replay, state="done")
    assert told(replay) == before
    expect(replay.locator(".dv-origin")).to_contain_text("A recording, not a live run. DuoDecoding, recorded on")
    move_to(replay, 0)
    replay.keyboard.press(" ")
    expect(replay.locator(".dv")).not_to_have_attribute("data-shown", "0")
    replay.keyboard.press(" ")
    # What is saved from it needs no network either.
    assert json.loads(download(replay, "Save trace", tmp_path).read_text()) == TRACES["duodecoding"]
    assert download(replay, "Save as picture (PNG)", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert replay.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 23, 42)"
    assert replay.get_by_role("button", name="Save as web page (replay)").count() == 0
    assert fits(replay) and requests == [saved.as_uri()] and not errors


def test_hostile_texts_stay_text_and_nothing_else_may_run_or_be_fetched(page, tmp_path):
    trace = copy.deepcopy(TRACES["duodecoding"])
    trace["header"] |= {"prompt": HOSTILE[1], "date": HOSTILE[0], "versions": {"duoviz": HOSTILE[0]}}
    trace["header"]["target"]["device"] = HOSTILE[1]
    for number, each in enumerate(trace["iterations"]):
        for entry in (*each["committed"], *each["drafted"], *each["checked"], *each["candidates"]):
            entry["text"] = HOSTILE[number % len(HOSTILE)]
    file = tmp_path / "hostile.html"
    file.write_text(replay_page(json.dumps(trace)), encoding="utf-8")
    blocked = []
    page.on("console", lambda message: blocked.append(message.text) if "Content Security" in message.text else None)
    page.goto(file.as_uri())
    shown(page, state="done")
    assert all(text in text_of(page) for text in HOSTILE)
    expect(page.locator(".dv-origin q")).to_have_text(HOSTILE[1])
    assert page.locator("img, iframe").count() == 0 and page.locator("script").count() == 3
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 4'}))")
    fetched = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'done', () => 'refused')")
    assert fetched == "refused" and len(blocked) >= 2
    assert page.evaluate("window.hacked") is None
    ElementTree.parse(download(page, "Save as picture (SVG)", tmp_path))


def test_a_notebooks_frame_replays_the_run_and_reaches_nothing_outside(new_page, tmp_path):
    """No network, no storage, and a notebook that lets the frame see nothing of its page."""
    output, file = new_page(offline=True, viewport={"width": 1000, "height": 900}), tmp_path / "notebook.html"
    requests = []
    output.on("request", lambda request: requests.append(request.url))
    file.write_text(f"<!doctype html><body>{replay_frame(json.dumps(TRACES['duotree']))}", encoding="utf-8")
    output.goto(file.as_uri())
    frame, inside = output.frame_locator("iframe"), output.frames[1]
    is_at(frame.locator(".dv"), state="done")
    assert text_of(frame) == TRACES["duotree"]["end"]["text"]
    assert inside.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert inside.evaluate("(() => { try { return parent.document.title } catch { return 'refused' } })()") == "refused"
    assert set(requests) <= {file.as_uri(), "about:srcdoc"}
