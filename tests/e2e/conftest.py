"""A real browser, and the whole page on tiny models."""

import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

from duoviz.web.script import HERE, filled
from tests.e2e.tiny_site import tiny_site

# Milliseconds for whatever is to come: no machine is so slow, nor so busy.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


def launch_chromium(playwright):
    """The system's Chromium, without a window."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "the browser tests need Chromium: install your system's package"
    return playwright.chromium.launch(
        executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    )


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        instance = launch_chromium(playwright)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def new_context(browser):
    """A function that makes a browser's context, which is to be closed by its test."""

    def make(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        return context

    return make


@pytest.fixture(scope="session")
def context(new_context):
    """The one of most pages: what one of them has fetched the others need not fetch again."""
    return new_context(viewport={"width": 1280, "height": 1000})


def page_in(context):
    """A new page that keeps its errors."""
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


@pytest.fixture
def page(context):
    page = page_in(context)
    yield page
    page.close()
    context.clear_permissions()


@pytest.fixture
def clocked_page(new_context):
    """A page whose clock a test may hold: it has a context, and so a clock, of its own."""
    context = new_context()
    yield page_in(context)
    context.close()


def open_modules(page):
    """A page without Gradio that may import the scripts, at their paths in `duoviz/web`."""

    def answer(route):
        path = HERE / route.request.url.removeprefix("http://plain.test/")
        if path.suffix == ".js":
            # An error in here would leave the page waiting for ever.
            if path.is_file():
                route.fulfill(body=filled(path.read_text(encoding="utf-8")), content_type="text/javascript")
            else:
                route.fulfill(status=404)
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route("http://plain.test/**", answer)
    page.goto("http://plain.test/")
    return page


@pytest.fixture
def modules(page):
    return open_modules(page)


@pytest.fixture(scope="session")
def site():
    with tiny_site() as site:
        yield site
