"""A real browser and its pages."""

import shutil

from playwright.sync_api import expect

from duoviz.web.script import HERE, filled

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


def page_in(context):
    """A new page that keeps its errors."""
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


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
