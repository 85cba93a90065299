"""The Live tab in a real browser, on the embedded pair."""

import re
import time

import pytest
from gradio_client import Client
from playwright.sync_api import expect

pytestmark = pytest.mark.slow
LOADING = 120_000


def open_live(page, url):
    page.goto(url)
    expect(page.locator("#generate")).to_be_visible(timeout=60_000)
    expect(page.locator(".dv")).to_have_attribute("data-state", re.compile("empty|recording"))


def set_tokens(page, count):
    page.get_by_role("button", name="Settings ▼").click()
    type_number(page, "max-new-tokens", count)


def type_number(page, field, number):
    box = page.locator(f"#{field} input")
    expect(box).to_be_visible()
    # Typed, not filled: the page must have seen each key before the button is pressed.
    box.click()
    box.press("Control+a")
    box.press_sequentially(str(number)) if number != "" else box.press("Delete")
    box.press("Tab")


def iterations(page):
    return int(page.locator(".dv").get_attribute("data-iterations") or 0)


def wait_for_iterations(page, count, timeout=LOADING):
    """Wait until the visitor's own run has this many."""
    page.wait_for_function(
        """count => {
          const {state, iterations} = document.querySelector('.dv').dataset;
          return state !== 'recording' && Number(iterations) >= count;
        }""",
        arg=count,
        timeout=timeout,
    )


def test_generate_shows_text_branches_lanes_k_and_theta_and_stop_stops(page, app_url):
    open_live(page, app_url)
    set_tokens(page, 64)
    page.locator("#generate").click()
    wait_for_iterations(page, 3)
    early = len(page.locator(".dv-token").all())
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=LOADING)
    assert len(page.locator(".dv-token").all()) == 64 > early
    for lane in ("target", "draft"):
        assert page.locator(f"rect.dv-bar[data-lane={lane}]").count() > 3
    assert page.locator('[data-number="tps"]').inner_text().strip()
    page.keyboard.press("Home")
    seen, numbers = set(), {"k": set(), "gamma": set(), "theta": set()}
    for _ in range(iterations(page)):
        for name, values in numbers.items():
            values.add(page.locator(f'[data-number="{name}"]').inner_text())
        seen |= set(page.locator("g.dv-node").evaluate_all("nodes => nodes.map(node => node.dataset.status)"))
        page.keyboard.press("ArrowRight")
    assert {"accepted", "rejected", "discarded", "correction"} <= seen
    assert all(len(values) > 1 for values in numbers.values()), numbers
    # The page stands in the middle of a wide window.
    page.set_viewport_size({"width": 1920, "height": 1000})
    box = page.locator("#top").bounding_box()
    assert box["width"] < 1300 and abs(2 * box["x"] + box["width"] - 1920) < 20
    # The next run is stopped within a second, and its text stays.
    type_number(page, "max-new-tokens", 1000)
    page.locator("#generate").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "running", timeout=LOADING)
    wait_for_iterations(page, 3)
    start = time.monotonic()
    page.locator("#stop").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=5_000)
    assert time.monotonic() - start < 1.0
    assert 3 <= len(page.locator(".dv-token").all()) < 1000
    assert not page.errors


def test_closing_the_tab_frees_the_hardware(browser, app_url):
    context = browser.new_context()
    page = context.new_page()
    open_live(page, app_url)
    set_tokens(page, 4000)
    # Counting goes on for thousands of tokens.
    page.locator("#prompt textarea").fill("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,")
    page.get_by_label("No chat template").check()
    page.locator("#generate").click()
    wait_for_iterations(page, 3)
    context.close()
    client = Client(app_url, verbose=False)
    start = time.monotonic()
    job = client.submit(prompt="Say hello.", method="vanilla", max_new_tokens=4, api_name="/generate")
    result = job.result(timeout=60)
    assert result["metrics"]["new_tokens"] <= 4
    assert time.monotonic() - start < 15  # the abandoned run alone would take minutes


def test_the_endpoint_ends_with_what_the_command_line_prints(app_url):
    client = Client(app_url, verbose=False)
    job = client.submit(
        prompt="Name a colour.", method="duodecoding", max_new_tokens=12, temperature=0.8, top_k=50, top_p=0.9, seed=3,
        acceptance="coupled", sequences="2", budget="5", draft_mode="paper", cores="all", pair="embedded", raw=False,
        api_name="/generate",
    )  # fmt: skip
    result = job.result(timeout=240)
    chosen = {"temperature": 0.8, "top_k": 50, "top_p": 0.9, "seed": 3, "sequences": 2, "budget": 5}
    assert chosen.items() <= result["settings"].items()
    assert len(result["token_ids"]) == result["metrics"]["new_tokens"] <= 12
    with pytest.raises(Exception, match="There is no pair named 'nobody'"):
        client.predict(prompt="Hi", pair="nobody", api_name="/generate")


def test_the_sampling_fields_reach_the_run_and_mistakes_are_told(page, app_url):
    open_live(page, app_url)
    set_tokens(page, 16)
    for field, value in (("temperature", "1.5"), ("top-k", "90"), ("top-p", "0.95"), ("seed", "11")):
        type_number(page, field, value)
    page.locator("#generate").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=LOADING)
    shown = "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))
    prompt, client = page.locator("#prompt textarea").input_value(), Client(app_url, verbose=False)
    sampled = {"temperature": 1.5, "top_k": 90, "top_p": 0.95, "seed": 11}
    texts = [
        client.predict(prompt=prompt, max_new_tokens=16, api_name="/generate", **chosen)["text"]
        for chosen in (sampled, {})
    ]
    assert shown == texts[0] != texts[1]
    # Mistakes are told in the page.
    for prompt, field, number, sentence in (
        ("Hello", "top-p", 7, "top_p must be a number from 0.01 to 1, not 7."),
        ("", "top-p", 1, "The prompt is empty"),
        ("Hello", "max-new-tokens", 0, "max_new_tokens must be a whole number from 1 to 4096, not 0"),
        ("Hello", "max-new-tokens", "", "max_new_tokens must be a whole number from 1 to 4096, and nothing was given."),
        ("Hello", "max-new-tokens", 1_000_000, "max_new_tokens must be a whole number from 1 to 4096, not 1000000"),
        ("word " * 9000, "max-new-tokens", 10, "The prompt is too long"),
    ):
        type_number(page, field, number)
        page.locator("#prompt textarea").fill(prompt)
        page.locator("#generate").click()
        expect(page.locator(".dv-message")).to_contain_text(sentence, timeout=20_000)


def choose(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_each_method_comes_with_its_settings_and_writes_vanillas_text(page, app_url):
    open_live(page, app_url)
    set_tokens(page, 24)
    prompt = "Repeat after me, word for word: one two three four one two three four one two"
    page.locator("#prompt textarea").fill(prompt)
    expected = Client(app_url, verbose=False).predict(
        prompt=prompt, method="vanilla", max_new_tokens=24, api_name="/generate"
    )["text"]
    fields = {"prompt_lookup": "lookup-ngram", "rest": "rest-shortest", "lookahead": "lookahead-window"}
    for method, field in fields.items():
        choose(page, "Method", method)
        expect(page.locator(f"#{field}")).to_be_visible()
        for other in set(fields.values()) - {field}:
            expect(page.locator(f"#{other}")).to_be_hidden()
        page.locator("#generate").click()
        expect(page.locator(".dv")).to_have_attribute("data-method", method, timeout=LOADING)
        expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=LOADING)
        shown = "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))
        assert shown == expected
    type_number(page, "lookahead-window", "0")
    page.locator("#generate").click()
    expect(page.locator(".dv-message")).to_contain_text("lookahead_window must be a whole number", timeout=20_000)
