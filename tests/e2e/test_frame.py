"""The page as a Space: in a frame that a page of another origin makes as high as the page in it asks for."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.journeys import a_run_comes_to_its_end, choose_tab, listen, the_page_is_drawn
from tests.e2e.pages import fits, serving
from tests.until import wait_until

HUB = Path(__file__).parent / "hub"
# No page of ours is so high.
BOUND = 12_000


@pytest.fixture(scope="module")
def hub():
    """The address of the page around."""
    with serving(HUB) as address:
        yield address


@pytest.fixture(params=[1280, 390])
def held(request, new_page, hub, shipped):
    """The page in its frame, in a window of each width: the page around it, and the frame; nothing goes wrong there."""
    page = new_page(viewport={"width": request.param, "height": 900})
    faults = listen(page)
    page.goto(f"{hub}#{shipped}")
    frame = page.locator("#space").element_handle().content_frame()
    the_page_is_drawn(frame)
    yield page, frame
    assert not faults


# The frame's height in each of the next pictures of the page around it.
HEIGHTS = """async () => {
  const heights = [];
  while (heights.push(document.getElementById("space").clientHeight) < 6) await new Promise(requestAnimationFrame);
  return heights;
}"""
# Where what is drawn ends, whatever the frame's height.
CONTENT = "document.querySelector('.tabs').getBoundingClientRect().bottom"


def comes_to_rest(page, frame):
    """The frame has the content's height, and for many pictures no other."""
    seen = set()

    def rests():
        heights = page.evaluate(HEIGHTS)
        seen.update(heights)
        assert max(heights) < BOUND and len(seen) < 20, seen
        # Nothing is cut off, and little is empty.
        content = frame.evaluate(CONTENT)
        return len(set(heights)) == 1 and content - 2 <= heights[0] <= 1.05 * content

    wait_until(rests)


# Everything that folds something out or puts something else in its place.
FOLD_OUT = """() => {
  const folds = document.querySelectorAll("summary, .label-wrap, button[aria-expanded], .gallery-item, .ll-thumbnail");
  window.fold = [...folds].find((node) => node.checkVisibility() && !("walked" in node.dataset));
  if (!window.fold) return null;
  window.fold.dataset.walked = "";
  window.fold.click();
  return window.fold.textContent.trim();
}"""
# What lies over the page is within the frame, near what it came from, and no strip; it is folded in again.
OVER = """() => {
  const over = window.fold.parentElement.lastElementChild;
  if (!over.checkVisibility() || !/absolute|fixed/.test(getComputedStyle(over).position)) return [];
  const [from, { left, right, top, bottom }] = [window.fold, over].map((node) => node.getBoundingClientRect());
  const isNear = Math.min(Math.abs(top - from.bottom), Math.abs(from.top - bottom)) < 40 && right - left > 250;
  const isWithin = left >= 0 && right <= innerWidth && bottom <= innerHeight;
  window.fold.click();
  return isNear && isWithin ? [] : [from.bottom, left, right, top, bottom, innerHeight];
}"""


def test_every_fold_leaves_the_frame_as_high_as_the_content(held):
    page, frame = held
    for tab in ("Live", "Compare", "Learn", "Lab"):
        choose_tab(frame, tab)
        comes_to_rest(page, frame)
        while fold := frame.evaluate(FOLD_OUT):
            comes_to_rest(page, frame)
            assert frame.evaluate(OVER) == [], fold
        assert fits(frame), tab


@pytest.mark.parametrize("held", [390], indirect=True)
def test_a_run_in_a_frame_leaves_it_as_high_as_the_content(held):
    page, frame = held
    a_run_comes_to_its_end(frame)
    comes_to_rest(page, frame)
    # What is said stands where it was asked for, and not at the frame's far end, to which the page around would go.
    frame.get_by_role("button", name="Copy link").click()
    expect(frame.locator(".dv-share-link")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    assert frame.locator(".dv-toast").evaluate("(node) => node.getBoundingClientRect().bottom") < 300
