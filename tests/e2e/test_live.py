"""The Live tab's runs: those that do not end by themselves, take another one's place, or do not begin."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import (
    is_at,
    open_live,
    open_settings,
    press,
    press_endless,
    set_tokens,
    start_endless,
    type_number,
)


def test_a_run_is_played_slowly_behind_it_until_it_is_to_be_followed_and_that_is_kept(page, site):
    page.add_init_script("localStorage.removeItem('duoviz pace')")
    start_endless(page, site.url)
    dv, where = page.locator("#visualizer .dv"), page.locator(".dv-where")
    generate, stop = page.locator("#generate"), page.locator("#stop")
    behind = re.compile(r"^Iteration \d+ of \d+ so far")
    expect(where).to_have_text(behind)
    # The text and the figures are the whole run's; of the text, what is not shown yet looks so.
    expect(page.locator(".dv-later .dv-token").first).to_be_visible()
    expect(page.locator("[data-number=tps]")).to_have_text(re.compile(r"\d"))
    # One place: what was pressed to start it has given way, and the focus to it, which comes back.
    expect(generate).to_be_hidden()
    expect(stop).to_be_focused()
    stop.press("Enter")
    expect(generate).to_be_focused()
    expect(page.locator(".dv-message")).to_have_text("Stopped.")
    # Stopped, what is played stands still, and what was written is kept.
    is_at(dv, state="done", playing="no")
    assert int(dv.get_attribute("data-shown")) < int(dv.get_attribute("data-iterations")) - 1
    assert 3 <= page.locator(".dv-token").count() < 4000
    press_endless(page)
    press(page, "Follow live")
    expect(where).to_have_text(re.compile(r"^Following the run: iteration \d+$"))
    # So is the next run, until it is to be watched slowly again.
    stop.click()
    press_endless(page)
    expect(where).to_have_text(re.compile("^Following the run"))
    press(page, "Watch it slowly")
    expect(where).to_have_text(behind)
    stop.click()
    # One that ends by itself is played on.
    set_tokens(page, 20)
    generate.click()
    expect(page.locator(".dv-message")).to_contain_text("Finished")
    is_at(dv, playing="yes")
    press(page, "Skip to the end")
    last = int(dv.get_attribute("data-iterations")) - 1
    expect(where).to_have_text(f"Iteration {last} of {last} after the prompt")
    # The large model alone ran after it.
    expect(page.locator("[data-number=phi]")).to_have_text(re.compile(r"\d"))
    expect(page.locator("[data-number=phi] + * small")).to_have_text("one run each")


def test_a_run_that_is_started_during_another_ends_it(page, site):
    open_live(page, site.url)
    for place in ("#prompt textarea", "#method input:checked"):
        press_endless(page)
        *_, run = site.hardware.queue.jobs
        page.locator("#prompt textarea").fill("Another")
        set_tokens(page, 5)
        page.locator(place).press("Enter")
        # The first one never had an end to show; the second one has.
        expect(page.locator(".dv-message")).to_contain_text("Finished")
        is_at(page.locator(".dv"), iterations=re.compile("^[1-5]$"))
        assert run.stop.is_set() and run not in site.hardware.queue.jobs


def test_a_wrong_setting_says_so_under_its_own_method_and_leaves_the_stage_as_it_was(page, site):
    open_live(page, site.url)
    set_tokens(page, 5)
    page.locator("#generate").click()
    expect(page.locator(".dv-message")).to_contain_text("Finished")
    text = page.locator(".dv-text-box").inner_text()
    page.locator("#method label").filter(has_text="DuoTree").click()
    set_tokens(page, 0)
    page.locator("#prompt textarea").press("Enter")
    expect(page.locator(".dv-message")).to_contain_text("enter a whole number")
    # Also where the settings lie over it, until it is right.
    expect(page.locator("#settings .wrong-field")).to_contain_text("enter a whole number")
    expect(page.locator("#max-new-tokens input")).to_have_attribute("aria-invalid", "true")
    # Also one whose name is its label.
    set_tokens(page, 5)
    type_number(page, "temperature", -1)
    page.locator("#prompt textarea").press("Enter")
    expect(page.locator("#settings .wrong-field")).to_contain_text("Temperature: enter ")
    expect(page.locator("#settings input[aria-invalid]")).to_have_count(1)
    expect(page.locator(".dv-method")).to_have_text("DuoTree")
    assert page.locator(".dv-text-box").inner_text() == text
    is_at(page.locator("#visualizer .dv"), method="duodecoding")
    expect(page.locator("#generate")).to_be_visible()
    # Escape closes a list, and then the settings.
    open_settings(page)
    field, options = page.get_by_label("Models"), page.get_by_role("listbox")
    field.click()
    expect(options).to_be_visible()
    field.press("Escape")
    expect(options).to_be_hidden()
    expect(field).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
