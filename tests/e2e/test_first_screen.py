"""What a visitor sees before anything has run or is loaded."""

import re
import shutil
import threading

import pytest
from playwright.sync_api import expect

from duoviz.errors import UserError
from duoviz.recordings import ENDING, STORY
from duoviz.web.pages.fields import PROMPTS
from tests.e2e.pages import copy, is_at, is_whole, press, violations_in_both
from tests.e2e.test_story import first_visit
from tests.e2e.tiny_site import tiny_site
from tests.tiny import tiny_engine
from tests.web.front.runs import recorded


@pytest.fixture(scope="module")
def loading(tmp_path_factory):
    """The page while its models are being loaded, with recordings of two methods: its address, and what ends it."""
    ready, recordings = threading.Event(), tmp_path_factory.mktemp("recordings")
    for method in ("duodecoding", "speculative"):
        shutil.copy(STORY / f"{method}{ENDING}", recordings)

    def load(name, progress):
        progress(0.4, "Reading weights")
        ready.wait(300)
        if name != "embedded":
            raise UserError("The model cannot be fetched: there is no network.")
        return tiny_engine(noise=0.3, context=4096)

    with tiny_site(load, recording=recordings) as site:
        yield site.url, ready
        ready.set()


@pytest.fixture
def loaded(loading):
    url, ready = loading
    ready.set()
    return url


def test_a_recorded_run_plays_before_anything_is_loaded_and_gives_way_to_the_live_one(page, loading):
    (url, ready), trace = loading, recorded("duodecoding")
    page.goto(url)
    dv, label, message = page.locator("#visualizer .dv"), page.locator(".dv-origin"), page.locator(".dv-message")
    is_at(dv, state="recording")
    header, last = trace["header"], len(trace["iterations"]) - 1
    expect(label).to_contain_text("A recording, not a live run. DuoDecoding, recorded on")
    expect(label).to_contain_text(header["target"]["device"].split("(")[1].rstrip(")"))
    expect(label.locator("q")).to_have_text(header["prompt"])
    expect(message).to_contain_text("Press Generate to run it.")
    # It plays by itself, so slowly that it can be followed, and to the end.
    expect(page.locator(".dv-speed")).to_have_value("2 s")
    page.locator(".dv-speed").select_option("4")
    expect(page.locator(".dv-where")).to_have_text(f"Iteration {last} of {last} after the prompt")
    page.locator("#generate").click()
    # The recording stays until the run begins.
    expect(message).to_have_text(re.compile(r"Reading weights \(30%, about \d+ s left\)"))
    is_at(dv, state="recording", shown=last)
    expect(label).to_be_visible()
    expect(page.locator("#stop")).to_be_visible()
    ready.set()
    is_at(dv, state="done")
    expect(label).to_be_hidden()
    expect(page.locator(".dv-speed")).to_have_value("1")


def test_a_failure_to_load_says_why(page, loaded):
    page.goto(f"{loaded}#pair=big+%2B+small&autoplay=1")
    expect(page.locator(".dv-share-message")).to_contain_text("It names other models")
    is_at(page.locator("#visualizer .dv"), state="recording")
    page.locator("#generate").click()
    expect(page.locator(".dv-message")).to_have_text("The model cannot be fetched: there is no network.")
    expect(page.locator(".dv-origin")).to_be_visible()
    expect(page.locator("#generate")).to_be_visible()


def test_it_is_held_for_those_who_want_no_motion_and_at_a_links_iteration(new_page, page, loaded):
    calm = new_page(reduced_motion="reduce")
    calm.goto(loaded)
    is_at(calm.locator("#visualizer .dv"), state="recording", playing="no")
    # Where it comes from can be read whole.
    for width, height in ((390, 844), (1280, 800)):
        calm.set_viewport_size({"width": width, "height": height})
        assert is_whole(calm.locator(".dv-origin"))
    for name in ("First iteration", "Step forward", "Copy link"):
        press(calm, name)
    expect(calm.locator(".dv-share-link")).to_have_value(re.compile("&method=duodecoding&.*&recording=1$"))
    page.goto(calm.locator(".dv-share-link").input_value())
    expect(page.locator(".dv-where")).to_have_text(re.compile("^Iteration 1 of "))
    assert copy(page).endswith("&recording=1")
    # The link of a recording that plays names no iteration.
    press(page, "Play")
    is_at(page.locator("#visualizer .dv"), playing="yes")
    assert "recording=" not in copy(page)
    page.evaluate("location.hash = '#prompt=Another&recording=3'")
    expect(page.locator(".dv-message")).to_contain_text("A recording of another prompt, “")


def test_the_recording_is_of_the_method_chosen_until_something_is_the_visitors_own(page, loaded):
    page.goto(loaded)
    origin, dv = page.locator(".dv-origin"), page.locator("#visualizer .dv")

    def choose(name, about):
        page.locator("#method label").filter(has_text=name).click()
        expect(page.locator("#method")).to_contain_text(about)

    expect(origin).to_contain_text("DuoDecoding, recorded on")
    choose("SpS", "both use all cores")
    expect(origin).to_contain_text("(SpS), recorded on")
    expect(page.locator(".dv-message")).to_contain_text("Press Generate to run it.")
    is_at(dv, playing="yes")
    # Of this method there is none: what is shown stays.
    choose("PLD", "earlier in the text")
    expect(origin).to_contain_text("(SpS), recorded on")
    choose("DuoDecoding", "its own device")
    expect(origin).to_contain_text("DuoDecoding, recorded on")
    # A file of the visitor's, and then a run, stay what is shown.
    page.get_by_label("Trace file").set_input_files(STORY / f"duodecoding{ENDING}")
    is_at(dv, state="done")
    choose("SpS", "both use all cores")
    is_at(dv, file="yes", state="done", method="duodecoding")
    page.locator("#generate").click()
    is_at(dv, file="no", state="done")
    choose("DuoDecoding", "its own device")
    is_at(dv, file="no", state="done", method="speculative")
    expect(page.locator(".dv-message")).to_have_text("Shown: SpS. Chosen: DuoDecoding; press Generate to run it.")
    is_at(dv, other="yes")
    page.locator("#generate").click()
    is_at(dv, other="no", state="done", method="duodecoding")


def test_on_a_phone_an_error_over_a_recording_is_seen(page, loaded):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(loaded)
    expect(page.locator(".dv-origin")).to_contain_text("recorded on")
    prompt = page.locator("#prompt textarea")
    # A recording has the form's room until the prompt is pressed.
    expect(page.locator("#settings")).to_be_hidden()
    prompt.fill("")
    expect(page.locator("#settings")).to_be_visible()
    page.locator("#generate").click()
    refused, unread = page.locator(".dv-message[data-kind=error]"), page.locator(".dv-files-message[data-kind=error]")
    expect(refused).to_be_visible()
    expect(prompt).to_have_attribute("aria-invalid", "true")
    assert not violations_in_both(page)
    # One error at a time, until another thing is asked for, or the question changes.
    file = {"name": "a.json", "mimeType": "application/json", "buffer": b"{}"}
    page.get_by_label("Trace file").set_input_files(file)
    expect(unread).to_be_visible()
    expect(refused).to_be_hidden()
    assert unread.bounding_box()["y"] < page.locator(".dv-origin").bounding_box()["y"]
    page.locator("#generate").click()
    expect(unread).to_have_count(0)
    expect(refused).to_be_visible()
    prompt.fill("Why?")
    expect(page.locator("[aria-invalid=true]")).to_have_count(0)
    expect(refused).to_have_count(0)
    expect(page.locator(".dv-message")).to_have_text("Press Generate to run it.")
    # A text that has lines above those in sight shows it.
    text = page.locator("#visualizer .dv-text-box")
    page.locator("#visualizer .dv").press("End")
    expect(text).to_have_attribute("data-above", "")
    text.evaluate("box => { box.scrollTop = 0; }")
    expect(text).to_have_attribute("data-below", "")
    expect(text).not_to_have_attribute("data-above", "")


def test_the_page_works_without_a_recording_and_has_prompts_to_try(page, loaded):
    page.route("**/*.duoviz.json", lambda route: route.fulfill(status=404))
    with page.expect_response("**/*.duoviz.json"):
        page.goto(loaded)
    expect(page.locator(".dv-message")).to_contain_text("Nothing has run yet")
    page.locator("#generate").click()
    is_at(page.locator("#visualizer .dv"), state="done")
    for name, text in PROMPTS.items():
        page.locator("#examples").get_by_role("button", name=name, exact=True).click()
        expect(page.locator("#prompt textarea")).to_have_value(text)
    # Where the target is small the page says so.
    expect(page.locator("#small-target")).to_be_visible()
    page.evaluate("location.hash = '#pair=big+%2B+small'")
    expect(page.locator("#small-target")).to_be_hidden()


# What the page around Gradio adds: addresses with these parts, and how long their bodies are as they come.
OURS = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => /[/](scripts|recordings)[/]/.test(name)).map(({ encodedBodySize }) => encodedBodySize)"""


def test_the_opening_loads_little_of_ours(browser, shipped):
    with first_visit(browser, shipped) as page:
        expect(page.locator(".dv-first .dv-token").last).to_be_attached()
        page.wait_for_load_state("networkidle")
        sizes = page.evaluate(OURS)
    assert 5 < len(sizes) <= 40 and 50_000 < sum(sizes) <= 350_000, sizes


NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } });"


def test_where_a_browser_remembers_nothing_it_opens_once_a_page(browser, shipped):
    with first_visit(browser, shipped) as page:
        page.add_init_script(NO_STORAGE)
        for _ in range(2):
            page.reload()
            expect(page.locator(".dv-first")).to_be_visible()
            press(page, "Look inside this run")
            expect(page.locator(".dv-first")).to_have_count(0)
            page.evaluate("location.hash = ''")
            is_at(page.locator("#visualizer .dv"), state="recording")
