"""A real browser, and the whole page on tiny models."""

import json

import pytest
from playwright.sync_api import sync_playwright

from duoviz.web.start import quickly

with quickly():
    import gradio  # noqa: F401

from duoviz.recordings import STORY
from duoviz.web.front import SOURCES, methods_json
from tests.e2e.pages import PATIENCE, SEEN, launch_chromium, page_in, serving
from tests.e2e.tiny_site import tiny_site

KNOW = "async (methods) => (await import('/web/front/visualizer/methods.js')).know(methods)"


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
        context.add_init_script(SEEN)
        return context

    return make


@pytest.fixture(scope="session")
def context(new_context):
    """The one of most pages: what one of them has fetched the others need not fetch again."""
    return new_context(viewport={"width": 1280, "height": 1000})


@pytest.fixture
def page(context):
    page = page_in(context)
    yield page
    page.close()
    context.clear_permissions()
    assert not page.errors


@pytest.fixture
def new_page(new_context):
    """A function that opens a page with a context, and so a window, a clock and a memory, of its own."""
    pages = []

    def make(**options):
        pages.append(page_in(new_context(**options)))
        return pages[-1]

    yield make
    for page in pages:
        page.context.close()
    assert not [error for page in pages for error in page.errors]


@pytest.fixture(scope="session")
def sources():
    with serving(SOURCES.parents[1]) as address:
        yield address


@pytest.fixture
def modules(page, sources):
    """An empty page without Gradio that may import the scripts."""
    page.route(f"{sources}empty", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(f"{sources}empty")
    page.evaluate(KNOW, json.loads(methods_json()))
    return page


@pytest.fixture(scope="session")
def site():
    with tiny_site() as site:
        yield site


@pytest.fixture(scope="session")
def shipped():
    """The address of the whole page with the recordings that come along."""
    with tiny_site(recording=STORY) as site:
        yield site.url
