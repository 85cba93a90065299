"""The real app in its own process, and a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from duoviz.web.script import FOLDER

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


@contextmanager
def served(command, port, **options):
    """The URL of the app that this command starts on this port."""
    process = subprocess.Popen(command, **options)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_for(url, 120)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="session")
def app_url():
    """`python app.py`, as the README starts it."""
    port = free_port()
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    with served([sys.executable, "app.py"], port, cwd=ROOT, env=environment) as url:
        yield url


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


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    context.close()


@pytest.fixture
def modules(page):
    """A page without Gradio that may import the scripts, at their paths in `duoviz/web`."""

    def answer(route):
        path = FOLDER.parent / route.request.url.removeprefix("http://plain.test/")
        if path.suffix == ".js":
            # An error in here would leave the page waiting for ever.
            route.fulfill(path=path, content_type="text/javascript") if path.is_file() else route.fulfill(status=404)
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route("http://plain.test/**", answer)
    page.goto("http://plain.test/")
    return page
