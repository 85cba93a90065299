"""The same runs without a page, served through Gradio, and in the page with a browser on the same cores.

    python -m tests.benchmarks.serving [--prompts 14] [--methods NAME[:CORES],…] [--max-new-tokens 64] [--repeats 3]

Starts the server, and runs each prompt with each method: in this process, by a client that discards what it gets, and
by links in Chromium, as a visitor would; all in alternation, and of repeats the median counts. CORES (all, target)
forces the target's cores; without it they are the faster ones.
"""

from functools import partial
from itertools import count
from statistics import median
from urllib.parse import quote, urlencode

from gradio_client import Client
from playwright.sync_api import Browser, Page, sync_playwright

from duoviz import Engine, Settings, load_engine, runner
from duoviz.trace.metrics import metrics
from tests.app import free_port, served
from tests.benchmarks.harness import alternated, arguments, machine, over, questions, ratios, spread
from tests.e2e.pages import SEEN, launch_chromium
from tests.release.pages import markdown

BASE = "vanilla"
METHODS = f"{BASE},{BASE}:all,{BASE}:target,speculative,duodecoding,duotree"
# Below this share of vanilla's speed a prompt is counted as slower.
SLOWER = 0.95
# A link holds no longer prompt than this.
LONGEST = 1500
TIMEOUT = 120_000
# Whether a run of the visitor's is under way or waits.
IS_ON = "(on) => document.querySelector('.dv').dataset.live === on"
# Every run has another seed: the same link twice would start nothing.
SEEDS = count()


def opened(browser: Browser, url: str) -> Page:
    """The page in a new tab, past its first screen."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(SEEN)
    page.goto(url)
    page.locator(".dv").first.wait_for(timeout=TIMEOUT)
    return page


def alone(engine: Engine, method: str, prompt: str, **settings) -> float:
    """Tokens a second; so it is of the other two."""
    return metrics(runner.collect(runner.stream(engine, method, prompt, Settings(**settings))))["tps"]


def by_client(client: Client, method: str, prompt: str, **settings) -> float:
    return client.predict(prompt=prompt, method=method, **settings, api_name="/generate")["metrics"]["tps"]


def in_page(page: Page, method: str, prompt: str, **settings) -> float:
    link = urlencode({"method": method, "prompt": prompt, **settings, "autoplay": 1}, quote_via=quote)
    page.evaluate("(link) => { location.hash = link }", link)
    for on in ("yes", "no"):
        page.wait_for_function(IS_ON, arg=on, timeout=TIMEOUT)
    assert page.locator(".dv").first.get_attribute("data-method") == method
    return float(page.locator("[data-number=tps]").first.inner_text())


def line_of(lane: str, found: dict[tuple, list[float]]) -> list[str]:
    """How fast a lane is in each way, how many times its own speed without a page, and in the page over vanilla."""
    own, page = [found[way, lane] for way in (alone, by_client, in_page)], found[in_page, lane]
    slower = sum(ratio < SLOWER for ratio in ratios(page, found[in_page, BASE]))
    shares = [over(speeds, own[0]) for speeds in own[1:]]
    return [lane, *(f"{median(speeds):.1f}" for speeds in own), *shares, over(page, found[in_page, BASE]), str(slower)]


HEADS = ["", "no page, tokens/s", "served", "in the page", "served over no page", "page over no page",
         "page over vanilla's", "prompts on which it is slower"]  # fmt: skip


def main() -> None:
    options = arguments(__doc__, prompts=14, methods=METHODS, max_new_tokens=64, repeats=3).parse_args()
    lanes = options.methods.split(",")
    with (
        load_engine(draft=True) as engine,
        served(free_port(), {}) as (url, _),
        sync_playwright() as playwright,
        launch_chromium(playwright) as browser,
    ):
        places = {alone: engine, by_client: Client(url, verbose=False), in_page: opened(browser, url)}

        def speed(way, lane: str, prompt: str) -> float:
            method, _, cores = lane.partition(":")
            tokens, seed = options.max_new_tokens, next(SEEDS)
            return way(places[way], method, prompt, cores=cores or "auto", max_new_tokens=tokens, seed=seed)

        works = {(way, lane): partial(speed, way, lane) for way in places for lane in lanes}
        alternated(works, ["Warm up."])
        found = {work: [] for work in works}
        for number, prompt in enumerate(spread(questions(2), options.prompts)):
            for work, speeds in alternated(works, [prompt[:LONGEST]] * options.repeats, first=number).items():
                found[work].append(median(speeds))
        print(f"{machine(engine.pair)}, {options.prompts} prompts, {options.max_new_tokens} tokens, medians")
    print(markdown(HEADS, [line_of(lane, found) for lane in lanes]))


if __name__ == "__main__":
    main()
