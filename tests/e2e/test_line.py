"""Many visitors at once: one place, taken in the order they came."""

from itertools import cycle

import pytest
from playwright.sync_api import expect

from duoviz.web.session import runs_ahead
from duoviz.workers.request_queue import Bounds
from tests.e2e.pages import open_live, set_tokens, start_endless, wait_for_iterations
from tests.until import wait_until
from tests.web.served import client_of


def told(page, before):
    expect(page.locator(".dv-message")).to_have_text(runs_ahead(before))


def in_line(job):
    """The job of a client, which has been told its place."""
    wait_until(lambda: job.outputs() or job.done())
    assert job.outputs()
    return job


def test_the_line_is_bounded_a_full_one_leaves_the_page_alive_and_each_gets_its_own_text(page, site, monkeypatch):
    monkeypatch.setattr(site.hardware.queue, "bounds", Bounds(length=21))
    start_endless(page, site.url)
    last, *clients = [client_of(site.url) for _ in range(11)]
    prompts = [f"Name a thing that is {word}." for word in "red cold tall loud soft round sweet old".split()]
    asked = {"method": "vanilla", "max_new_tokens": 12, "api_name": "/generate"}
    given = zip(2 * clients, cycle(prompts), strict=False)
    jobs = [in_line(client.submit(prompt=prompt, **asked)) for client, prompt in given]
    with pytest.raises(Exception, match="2 of your runs are already waiting"):
        clients[0].predict(prompt="Hi", **asked)
    with pytest.raises(Exception, match="The line is full: try again in a few minutes."):
        last.predict(prompt="Hi", **asked)
    page.locator("#stop").click()
    expect(page.locator(".dv-message")).to_have_text("Stopped.")
    texts = [job.result()["text"] for job in jobs]
    alone = [last.predict(prompt=prompt, **asked)["text"] for prompt in prompts]
    assert texts == [*alone, *alone, *alone[:4]] and len(set(alone)) == len(alone)


def test_a_waiting_visitor_sees_the_place_and_may_stop_and_who_reloads_or_leaves_frees_it(new_page, site):
    # Each has its own context: one browser keeps only so many connections to a server open.
    first, second, third = (new_page() for _ in range(3))
    start_endless(first, site.url)
    for before, page in enumerate((second, third), 1):
        open_live(page, site.url)
        set_tokens(page, 4000)
        page.locator("#generate").click()
        told(page, before)
    second.locator("#stop").click()
    expect(second.locator(".dv")).to_have_attribute("data-state", "done")
    expect(second.locator(".dv-message")).to_have_text("Stopped.")
    assert second.locator(".dv-token").count() == 0
    told(third, 1)
    # It did not touch the run under way, whose place its page's reload frees, as does a tab that is closed.
    expect(first.locator(".dv-message")).to_have_text("Running.")
    first.reload()
    expect(third.locator(".dv")).to_have_attribute("data-state", "running")
    wait_for_iterations(third, 3)
    third.context.close()
    wait_until(lambda: not site.hardware.queue.jobs)
