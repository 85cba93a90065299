"""The picture of the page in the README, from the recorded run.

    python -m tests.benchmarks.screenshot [--method duodecoding] [--out assets/screenshot.png]

Needs Chromium.
"""

import argparse
import json
import re
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from duoviz.decoding import METHODS
from duoviz.recordings import ENDING, FOLDER
from tests.app import free_port, served
from tests.e2e.pages import launch_chromium

WIDTH, HEIGHT = 1280, 800
# How far the iteration has been played, of its own time.
REACHED = 0.55


def telling(iterations: list[dict]) -> int:
    """The iteration in which most happens: guesses are checked, and others made meanwhile, best in a few sequences."""

    def happens(index: int) -> tuple[bool, int, int]:
        each = iterations[index]
        made = len(each["drafted"]) or len(each["draft"])
        return each["sequences"] in (3, 4), min(len(each["checked"]), made), made

    return max(range(1, len(iterations)), key=happens)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--method", default="duodecoding", choices=METHODS)
    options.add_argument("--out", type=Path, default=Path("assets/screenshot.png"))
    options = options.parse_args()
    trace = json.loads((FOLDER / f"{options.method}{ENDING}").read_text(encoding="utf-8"))
    with served(free_port(), {}) as (url, _), sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(f"{url}#method={options.method}")
        root = page.locator(".dv").first
        expect(root).to_have_attribute("data-state", re.compile("recording|done"))
        root.locator(".dv-slider").fill(str(telling(trace["iterations"])))
        root.locator(".dv-speed").select_option("3 s")
        root.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_timeout(3000 * REACHED)
        root.get_by_role("button", name="Pause", exact=True).click()
        page.mouse.move(0, HEIGHT - 1)
        page.wait_for_timeout(500)
        page.screenshot(path=options.out)
        browser.close()


if __name__ == "__main__":
    main()
