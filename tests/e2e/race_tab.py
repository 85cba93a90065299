"""What tests read from a race."""

from playwright.sync_api import expect


def finished(page):
    expect(page.locator(".dv-race")).to_have_attribute("data-playing", "false")


def side(page, number):
    return page.locator(".dv-side").nth(number)


def text_of(side):
    return "".join(side.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))


def figure(page, name, number):
    return page.locator(f'.dv-figures [data-figure="{name}"]').nth(number)
