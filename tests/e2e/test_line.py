"""Many visitors at once: one place, taken in the order they came."""

import re
import time

import pytest
from playwright.sync_api import expect

from duoviz.places.line import Bounds
from duoviz.web.session import runs_ahead
from tests.e2e.live_tab import open_live, set_tokens, start_endless
from tests.web.client import client_of

PROMPTS = [f"Name a thing that is {word}." for word in "red cold tall loud soft round sweet old".split()]


def told(page, before):
    sentence = runs_ahead(before)
    expect(page.locator(".dv-message")).to_have_text(sentence)


def in_line(job):
    """The job of a client, which has been told its place."""
    while not job.outputs():
        assert not job.done()
        time.sleep(0.02)
    return job


def test_eight_visitors_at_once_get_their_own_texts_in_the_order_they_came(site, monkeypatch):
    first, *clients = [client_of(site.url) for _ in ("Count.", *PROMPTS)]
    ran, do = [], site.hardware.pool.do

    def submit(client, prompt, tokens=12):
        return client.submit(prompt=prompt, max_new_tokens=tokens, api_name="/generate")

    def watched(seat, job, order):
        ran.append(job.work.prompt)
        do(seat, job, order)

    alone = [submit(first, prompt).result()["text"] for prompt in PROMPTS]
    monkeypatch.setattr(site.hardware.pool, "do", watched)
    busy = in_line(submit(first, "Count.", tokens=4000))
    jobs = [in_line(submit(*each)) for each in zip(clients, PROMPTS, strict=True)]
    assert not any(job.done() for job in jobs)
    busy.cancel()
    assert [job.result()["text"] for job in jobs] == alone
    assert len(set(alone)) == len(alone) and ran == ["Count.", *PROMPTS]


def test_the_line_is_bounded_and_a_full_one_leaves_the_page_alive(page, site, monkeypatch):
    monkeypatch.setattr(site.hardware.line, "bounds", Bounds(length=21))
    start_endless(page, site.url)
    last, *clients = [client_of(site.url) for _ in range(11)]
    asked = {"prompt": "Hi", "method": "vanilla", "max_new_tokens": 1, "api_name": "/generate"}
    jobs = [in_line(client.submit(**asked)) for client in clients for _ in range(2)]
    with pytest.raises(Exception, match="2 of your runs are already waiting"):
        clients[0].predict(**asked)
    with pytest.raises(Exception, match="The line is full: try again in a few minutes."):
        last.predict(**asked)
    page.locator("#stop").click()
    expect(page.locator(".dv-message")).to_have_text("Stopped.")
    assert {job.result()["metrics"]["new_tokens"] for job in jobs} == {1}


def test_a_waiting_visitor_sees_the_place_and_may_stop_or_leave_and_a_reload_frees_it(new_context, site):
    # Each has its own: one browser keeps only so many connections to a server open.
    contexts = [new_context() for _ in range(4)]
    first, second, third, fourth = (context.new_page() for context in contexts)
    start_endless(first, site.url)
    for before, page in enumerate((second, third, fourth), 1):
        open_live(page, site.url)
        set_tokens(page, 4)
        page.locator("#generate").click()
        told(page, before)
    second.locator("#stop").click()
    expect(second.locator(".dv")).to_have_attribute("data-state", "done")
    expect(second.locator(".dv-message")).to_have_text("Stopped.")
    assert second.locator(".dv-token").count() == 0
    told(fourth, 2)
    contexts[2].close()
    told(fourth, 1)
    # None of it touched the run under way, and a reload of its page frees the place.
    expect(first.locator(".dv-message")).to_have_text("Running.")
    first.reload()
    expect(fourth.locator(".dv")).to_have_attribute("data-state", "done")
    expect(fourth.locator(".dv-message")).to_have_text(re.compile("Finished"))
    for context in contexts:
        context.close()
