"""Many visitors at once, on the real app: one place, taken in the order they came."""

import re
import time

import pytest
from gradio_client import Client
from playwright.sync_api import expect

from duoviz.web import session
from duoviz.web.app import build_app
from duoviz.web.limits import Limits
from duoviz.web.serving import launch
from tests.conftest import tiny_pair
from tests.e2e.test_live import LOADING, open_live, set_tokens, wait_for_iterations

pytestmark = pytest.mark.slow
PROMPTS = [f"Name a thing that is {word}." for word in "red cold tall loud soft round sweet old".split()]
# Counting goes on for thousands of tokens.
COUNTING = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,"


def new_page(context):
    page = context.new_page()
    page.set_default_timeout(30_000)
    return page


def begin_counting(page, url):
    open_live(page, url)
    set_tokens(page, 4000)
    page.locator("#prompt textarea").fill(COUNTING)
    page.get_by_label("No chat template").check()
    page.locator("#generate").click()


def told(page, before):
    sentence = f"Visitors before you: {before}. Your run starts when theirs have ended."
    expect(page.locator(".dv-message")).to_have_text(sentence, timeout=10_000)


def test_eight_visitors_at_once_get_their_own_texts_in_the_order_they_came(app_url):
    clients = [Client(app_url, verbose=False) for _ in PROMPTS]

    def submit(client, prompt):
        return client.submit(prompt=prompt, max_new_tokens=12, api_name="/generate")

    alone = [submit(clients[0], prompt).result(timeout=240)["text"] for prompt in PROMPTS]
    ended, jobs = [], []
    # A longer run first, so that all eight are in the line before the first of them begins.
    busy = clients[0].submit(prompt=COUNTING, raw=True, max_new_tokens=150, api_name="/generate")
    while not busy.outputs():
        time.sleep(0.05)
    for number, (client, prompt) in enumerate(zip(clients, PROMPTS, strict=True)):
        job = submit(client, prompt)
        job.add_done_callback(lambda _, number=number: ended.append(number))
        jobs.append(job)
        while not job.outputs():
            time.sleep(0.02)
    assert not ended
    assert [job.result(timeout=240)["text"] for job in jobs] == alone
    assert len(set(alone)) == len(alone) and ended == list(range(len(jobs)))


def test_the_line_is_bounded_and_a_full_one_leaves_the_page_alive(page, app_url):
    begin_counting(page, app_url)
    wait_for_iterations(page, 3)
    last, *clients = [Client(app_url, verbose=False) for _ in range(11)]
    asked = {"prompt": "Hi", "method": "vanilla", "max_new_tokens": 1, "api_name": "/generate"}
    jobs = [client.submit(**asked) for client in clients for _ in range(2)]
    while not all(job.outputs() for job in jobs):
        time.sleep(0.05)
    with pytest.raises(Exception, match="2 runs of yours, or from your address, are in the line already"):
        clients[0].predict(**asked)
    with pytest.raises(Exception, match="20 visitors are waiting already: try again in a few minutes."):
        last.predict(**asked)
    start = time.monotonic()
    page.locator("#stop").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=5_000)
    assert time.monotonic() - start < 3
    assert {job.result(timeout=120)["metrics"]["new_tokens"] for job in jobs} == {1}


def test_a_waiting_visitor_sees_the_place_and_may_stop_or_leave_and_a_reload_frees_it(browser, app_url):
    contexts = [browser.new_context() for _ in range(4)]
    first, second, third, fourth = map(new_page, contexts)
    begin_counting(first, app_url)
    wait_for_iterations(first, 3)
    for before, page in enumerate((second, third, fourth), 1):
        open_live(page, app_url)
        set_tokens(page, 4)
        page.locator("#generate").click()
        told(page, before)
    second.locator("#stop").click()
    expect(second.locator(".dv")).to_have_attribute("data-state", "done", timeout=5_000)
    expect(second.locator(".dv-message")).to_have_text("Stopped.")
    assert second.locator(".dv-token").count() == 0
    told(fourth, 2)
    contexts[2].close()
    told(fourth, 1)
    # None of it touched the run under way, and a reload of its page frees the place.
    expect(first.locator(".dv-message")).to_have_text("Running.")
    first.reload()
    expect(fourth.locator(".dv")).to_have_attribute("data-state", "done", timeout=15_000)
    expect(fourth.locator(".dv-message")).to_have_text(re.compile("Finished"))
    for context in contexts:
        context.close()


def test_a_run_whose_time_is_over_keeps_its_text_and_says_so(page, monkeypatch):
    monkeypatch.setattr(session, "load_pair", lambda name, progress, sources: tiny_pair(context=8192))
    hardware = session.Hardware(Limits(run_seconds=0.5))
    demo = build_app(hardware)
    _, url, _ = launch(demo, hardware, prevent_thread_lock=True, quiet=True)
    try:
        open_live(page, url)
        set_tokens(page, 4000)
        page.locator("#generate").click()
        expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=LOADING)
        expect(page.locator(".dv-message")).to_have_text("Stopped: a run may take 0.5 seconds here.")
        assert 0 < page.locator(".dv-token").count() < 4000
    finally:
        demo.close()
        hardware.close()
