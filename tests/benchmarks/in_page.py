"""How fast the methods are in the page, with a browser on the same cores: 14 prompts, two of each task.

    python -m tests.benchmarks.in_page [--methods NAME[:CORES],…] [--max-new-tokens 64] [--repeats 3]

Starts the server, opens the page in Chromium and runs each prompt with each method in turn, by links, as a visitor
would; of repeats the median counts. Vanilla is the baseline. CORES (all, target) forces the target's cores; without it
they are the faster ones.
"""

from functools import partial
from itertools import count
from statistics import mean, median
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from duoviz.lab.tasks import TASKS, own_questions
from tests.app import free_port, served
from tests.benchmarks.harness import alternated, arguments
from tests.e2e.pages import SEEN, launch_chromium

BASE = "vanilla"
METHODS = f"{BASE},{BASE}:all,{BASE}:target,speculative,duodecoding,duotree"
# Below this share of vanilla's speed a prompt is counted as slower.
SLOWER = 0.95
# A link holds no longer prompt than this.
LONGEST = 1500
TIMEOUT = 120_000
# Whether a run of the visitor's is under way or waits.
IS_ON = "(on) => document.querySelector('.dv').dataset.live === on"


def opened(browser: Browser, url: str) -> Page:
    """The page in a new tab, past its first screen."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(SEEN)
    page.goto(url)
    page.locator(".dv").first.wait_for(timeout=TIMEOUT)
    return page


def speed(page: Page, lane: str, prompt: str, tokens: int, seed: int = 0) -> float:
    """Run a prompt in Live by a link; tokens a second, as the page writes them. seed: another to run it again."""
    method, _, cores = lane.partition(":")
    settings = {
        "method": method,
        "cores": cores or "auto",
        "max_new_tokens": tokens,
        "seed": seed,
        "prompt": prompt[:LONGEST],
    }
    link = urlencode({**settings, "autoplay": 1}, quote_via=quote)
    page.evaluate("(link) => { location.hash = link }", link)
    for on in ("yes", "no"):
        page.wait_for_function(IS_ON, arg=on, timeout=TIMEOUT)
    assert page.locator(".dv").first.get_attribute("data-method") == method
    return float(page.locator("[data-number=tps]").first.inner_text())


def measure(page: Page, lanes: list[str], tokens: int, repeats: int) -> list[dict[str, float]]:
    """Tokens a second by lane, for each prompt; every second round runs the lanes backwards."""
    prompts = [question.turns[0] for task in TASKS for question in own_questions([task])[:2]]
    rows, seeds = [], count()

    def measured(lane: str, prompt: str) -> float:
        # The same link twice would start nothing, so each has another seed.
        return speed(page, lane, prompt, tokens, next(seeds))

    works = {lane: partial(measured, lane) for lane in lanes}
    for number, prompt in enumerate(prompts):
        found = alternated(works, [prompt] * repeats, first=number)
        rows.append({lane: median(speeds) for lane, speeds in found.items()})
        print(f"{number + 1:2}", *(f"{lane} {rows[-1][lane]:.1f}" for lane in lanes), flush=True)
    return rows


def main() -> None:
    options = arguments(__doc__, methods=METHODS, max_new_tokens=64, repeats=3).parse_args()
    lanes = options.methods.split(",")
    with served(free_port(), {}) as (url, _), sync_playwright() as playwright, launch_chromium(playwright) as browser:
        page = opened(browser, url)
        speed(page, lanes[-1], "Warm up.", 16)
        rows = measure(page, lanes, options.max_new_tokens, options.repeats)
    for lane in lanes:
        ratios = [row[lane] / row[BASE] for row in rows]
        slower = sum(ratio < SLOWER for ratio in ratios)
        print(f"{lane}: {mean(ratios):.2f} times vanilla (median {median(ratios):.2f}), slower on {slower} prompts")


if __name__ == "__main__":
    main()
