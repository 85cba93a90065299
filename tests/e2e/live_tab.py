"""What tests do on the Live tab."""

import re

from playwright.sync_api import expect


def open_live(page, url):
    page.goto(url)
    expect(page.locator("#generate")).to_be_visible()
    expect(page.locator(".dv")).to_have_attribute("data-state", re.compile("empty|recording"))


def open_settings(page):
    if not page.locator("#settings > button.open").count():
        page.locator("#settings > button").click()


def set_tokens(page, count):
    open_settings(page)
    type_number(page, "max-new-tokens", count)


def type_number(page, field, number):
    box = page.locator(f"#{field} input")
    expect(box).to_be_visible()
    # Typed, not filled: the page must have seen each key before the button is pressed.
    box.click()
    box.press("Control+a")
    box.press_sequentially(str(number)) if number != "" else box.press("Delete")
    box.press("Tab")


def wait_for_iterations(page, count):
    """Wait until the visitor's own run has this many."""
    page.wait_for_function(
        """count => {
          const {state, iterations} = document.querySelector('.dv').dataset;
          return state !== 'recording' && Number(iterations) >= count;
        }""",
        arg=count,
    )


def start_endless(page, url):
    """Start a run on the tiny site that goes on until it is stopped, and see it under way."""
    open_live(page, url)
    press_endless(page)


def press_endless(page):
    """The same on the page as it stands."""
    set_tokens(page, 4000)
    page.locator("#generate").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "running")
    wait_for_iterations(page, 3)
