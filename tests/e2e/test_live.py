"""The Live tab's runs that do not end by themselves."""

import time

from playwright.sync_api import expect

from tests.e2e.live_tab import start_endless
from tests.web.client import client_of


def test_the_text_grows_with_the_run_and_stop_keeps_it(page, site):
    start_endless(page, site.url)
    assert page.locator(".dv-token").count() >= 3
    page.locator("#stop").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    expect(page.locator(".dv-message")).to_have_text("Stopped.")
    assert 3 <= page.locator(".dv-token").count() < 4000
    assert not page.errors


def test_closing_the_tab_frees_the_hardware(new_context, site):
    context = new_context()
    start_endless(context.new_page(), site.url)
    context.close()
    client = client_of(site.url)
    result = client.predict(prompt="Say hello.", method="vanilla", max_new_tokens=4, api_name="/generate")
    assert result["metrics"]["new_tokens"] <= 4


def test_a_run_whose_time_is_over_keeps_its_text_and_says_so(page, site):
    start_endless(page, site.url)
    (run,) = site.hardware.line.jobs
    run.deadline = time.monotonic()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    expect(page.locator(".dv-message")).to_have_text("Stopped: a run may take 600 seconds here.")
    assert 3 <= page.locator(".dv-token").count() < 4000
