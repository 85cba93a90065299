"""The README's moving picture: iterations of a recorded run, played slowly in the page.

The page's clock is moved frame by frame, so that the picture is as smooth on a slow machine as on a fast one. The last
frame's picture is also saved as a still, with the suffix .png. Needs Chromium.
"""

import io
import json
import re
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from duoviz.recordings import ENDING, STORY
from tests.app import free_port, served
from tests.e2e.pages import SEEN, launch_chromium

SIZE = {"width": 1280, "height": 800}
# Milliseconds of a frame, and frames: two iterations of 2 s each.
FRAME, FRAMES = 125, 34
WIDTH, QUALITY = 960, 60


def telling(iterations: list[dict]) -> int:
    """The iteration in which most happens: guesses are accepted, and others made meanwhile, best in a few sequences."""

    def happens(index: int) -> tuple[bool, bool, int, int]:
        each = iterations[index]
        made = len(each["drafted"]) or len(each["draft"])
        return each["verdict"]["accepted"] > 0, each["sequences"] in (3, 4), min(len(each["checked"]), made), made

    return max(range(1, len(iterations)), key=happens)


def frames_of(page: Page) -> list[Image.Image]:
    """The stage, one picture after each step of the clock."""
    root = page.locator(".dv").first
    pictures = []
    for _ in range(FRAMES):
        page.clock.run_for(FRAME)
        picture = Image.open(io.BytesIO(root.screenshot())).convert("RGB")
        pictures.append(
            picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
        )
    return pictures


def draw(out: Path) -> None:
    """Write the moving picture of DuoDecoding's recorded run, and the still."""
    trace = json.loads((STORY / f"duodecoding{ENDING}").read_text(encoding="utf-8"))
    with served(free_port(), {}) as (url, _), sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.add_init_script(SEEN)
        page.clock.install()
        first = telling(trace["iterations"])
        page.goto(f"{url}#method=duodecoding&recording={first}")
        root = page.locator(".dv").first
        expect(root).to_have_attribute("data-state", re.compile("recording|done"))
        expect(root).to_have_attribute("data-shown", str(first))
        root.locator(".dv-speed").select_option("2 s")
        page.mouse.move(0, SIZE["height"] - 1)
        page.clock.pause_at(page.evaluate("Date.now() + 1000"))
        root.get_by_role("button", name="Play", exact=True).click()
        pictures = frames_of(page)
        browser.close()
    first_picture, *others = pictures
    first_picture.save(out, save_all=True, append_images=others, duration=FRAME, loop=0, quality=QUALITY, method=6)
    pictures[FRAMES // 3].save(out.with_suffix(".png"))
