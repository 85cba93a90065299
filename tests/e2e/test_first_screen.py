"""What a visitor sees before anything has run or is loaded."""

import json
import re
import threading

import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.models.embedded import ModelUnavailable
from tests.conftest import tiny_pair
from tests.e2e.tiny_site import tiny_site


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The folder of a recorded run, and the run."""
    settings = Settings(max_new_tokens=60)
    trace = runner.collect(runner.stream(tiny_pair(noise=0.3), "duodecoding", "the recorded prompt", settings))
    folder = tmp_path_factory.mktemp("traces")
    (folder / "duodecoding.duoviz.json").write_text(json.dumps(trace))
    return folder, trace


@pytest.fixture(scope="module")
def loading(recording):
    """The page while its models are being loaded: its address, how far it is, and what ends it."""
    told, ready = threading.Event(), threading.Event()

    def load(name, progress):
        progress(0.4, "Reading weights")
        told.set()
        ready.wait(60)
        if name != "embedded":
            raise ModelUnavailable("The model cannot be fetched: there is no network.")
        return tiny_pair(noise=0.3)

    with tiny_site(load, recording=recording[0]) as (url, _):
        yield url, ready
        ready.set()


# From the navigation to the frame in which the first iteration is drawn.
FIRST_DRAWN = """() => {
  window.firstDrawn = new Promise((done) => {
    const look = () => {
      if (document.querySelector("#visualizer .dv-node, #visualizer .dv-bar")) done(performance.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}"""


def test_a_recorded_run_plays_before_anything_is_loaded_and_gives_way_to_the_live_one(page, loading, recording):
    url, ready = loading
    page.add_init_script(f"({FIRST_DRAWN})()")
    page.goto(url)
    print("seconds to the first drawn iteration:", page.evaluate("() => window.firstDrawn") / 1000)
    dv = page.locator("#visualizer .dv")
    expect(dv).to_have_attribute("data-state", "recording")
    label = page.locator(".dv-origin")
    expect(label).to_contain_text("A recording, not a live run. DuoDecoding, recorded on")
    header = recording[1]["header"]
    expect(label).to_contain_text(header["target"]["device"].split("(")[1].rstrip(")"))
    expect(label.locator("q")).to_have_text("the recorded prompt")
    expect(page.locator(".dv-message")).to_contain_text("Press Generate to run it live")
    # It plays by itself, slowly, and to the end.
    expect(page.locator(".dv-speed")).to_have_value("0.25")
    expect(page.locator(".dv-where")).to_have_text(re.compile(r"^Playing iteration \d+; .* At 0.25× the real speed\.$"))
    last = len(recording[1]["iterations"]) - 1
    expect(dv).to_have_attribute("data-shown", str(last), timeout=30_000)
    expect(page.locator(".dv-where")).to_have_text(f"You are at iteration {last}; the last is {last}.")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".dv-share-link")).to_have_value(re.compile("&method=duodecoding&seed=0$"))
    page.locator("#generate").click()
    expect(label).to_be_hidden()
    expect(page.locator(".dv-message")).to_have_text("Reading weights (40%)")
    ready.set()
    expect(dv).to_have_attribute("data-state", "done", timeout=30_000)
    expect(page.locator(".dv-speed")).to_have_value("1")
    assert not page.errors


def test_a_failure_to_load_says_why(page, loading):
    url, ready = loading
    ready.set()
    page.goto(f"{url}#pair=big+%2B+small&autoplay=1")
    expect(page.locator(".dv-share-message")).to_contain_text("It names other models", timeout=30_000)
    page.locator("#generate").click()
    sentence = "The model cannot be fetched: there is no network."
    expect(page.locator(".dv-message")).to_have_text(sentence, timeout=30_000)
    expect(page.locator(".dv-origin")).to_be_hidden()


def test_it_is_held_for_those_who_want_no_motion_and_at_a_links_iteration(browser, loading, recording):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(loading[0])
    dv, where = page.locator("#visualizer .dv"), page.locator(".dv-where")
    expect(dv).to_have_attribute("data-state", "recording", timeout=30_000)
    branches = [
        each["sequences"] or 0 if each["verdict"]["outcome"] == "hit" else 0 for each in recording[1]["iterations"]
    ]
    telling = branches.index(max(branches))
    expect(where).to_have_text(f"You are at iteration {telling}; the last is {len(branches) - 1}.")
    page.get_by_role("button", name="Step forward").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".dv-share-link")).to_have_value(re.compile(f"&recording={telling + 1}$"))
    link = page.locator(".dv-share-link").input_value()
    context.close()
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    expect(page.locator(".dv-where")).to_have_text(
        f"You are at iteration {telling + 1}; the last is {len(branches) - 1}."
    )
    page.wait_for_timeout(500)
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-shown", str(telling + 1))
    context.close()


def test_the_page_works_without_a_recording(page, tmp_path):
    file = tmp_path / "duodecoding.duoviz.json"
    file.write_text("")
    with tiny_site(recording=tmp_path) as (url, _):
        for content in ("", "{}", None):
            if content is None:
                file.unlink()
            else:
                file.write_text(content)
            with page.expect_response(lambda response: "duoviz.json" in response.url):
                page.goto(url)
            expect(page.locator(".dv-message")).to_contain_text("Nothing has run yet", timeout=30_000)
        page.locator("#generate").click()
        expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "done", timeout=30_000)
    assert not page.errors
