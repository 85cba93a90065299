"""What a first and a second visit to the page load over a slow link, and when the recording moves.

    python -m tests.benchmarks.first_visit [--rounds 3] [--beside DIR]

`--beside` names another checkout, which is visited in alternation. The link has 1.6 Mbit/s and 150 ms; the browser's
cache is empty at the first visit. Our own files are the page itself, scripts and recordings; all others are Gradio's.
Bytes are those on the wire.
"""

import argparse
import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from urllib.parse import urlparse

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.app import ROOT, free_port, served
from tests.benchmarks.cold_start import MOVING, WATCH, first_text
from tests.e2e.pages import launch_chromium

# A visitor who comes back: no story plays before the recording.
SEEN = "localStorage.setItem('duoviz story', 'seen')"
LINK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 1.6e6 / 8}
OURS = ("/scripts/", "/recordings/")
# Milliseconds after which a page has loaded all that it loads by itself.
REST = 5000


def is_ours(url: str) -> bool:
    path = urlparse(url).path
    return path == "/" or path.startswith(OURS)


def visit(context: BrowserContext, url: str) -> dict[str, float]:
    """Open the page in this context: seconds until the recording moves, and what had been loaded a while later."""
    page = context.new_page()
    link = context.new_cdp_session(page)
    link.send("Network.enable")
    link.send("Network.emulateNetworkConditions", LINK)
    urls, sizes, cached = {}, {}, set()
    link.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
    link.on("Network.requestServedFromCache", lambda event: cached.add(event["requestId"]))
    link.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    page.goto(url, wait_until="commit", timeout=120_000)
    seconds = page.wait_for_function("window.moved", timeout=120_000).json_value() / 1000
    page.wait_for_timeout(REST)
    page.close()
    sent = {number: size for number, size in sizes.items() if number not in cached and size}
    ours = [number for number in sent if is_ours(urls[number])]
    return {
        "seconds until the recording moves": seconds,
        "requests": len(sent),
        "kB": sum(sent.values()) / 1e3,
        "our requests": len(ours),
        "our kB": sum(sent[number] for number in ours) / 1e3,
    }


def visits(browser: Browser, url: str) -> dict[str, dict[str, float]]:
    """Two visits, one after the other, with one cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(f"({WATCH})({json.dumps(MOVING['live'])}); {SEEN}")
    both = {name: visit(context, url) for name in ("first visit", "second visit")}
    context.close()
    return both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", type=Path)
    options = parser.parse_args()
    roots = [ROOT, *([options.beside.resolve()] if options.beside else [])]
    with sync_playwright() as playwright, ExitStack() as stack:
        browser = stack.enter_context(launch_chromium(playwright))
        urls = {}
        for root in roots:
            port, quiet = free_port(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            urls[root], _ = stack.enter_context(served(port, dict(os.environ), cwd=root, **quiet))
            first_text(port)
        rounds = [{root: visits(browser, url) for root, url in urls.items()} for _ in range(options.rounds)]
    for root in roots:
        for name in rounds[0][root]:
            figures = {figure: median(done[root][name][figure] for done in rounds) for figure in rounds[0][root][name]}
            print(f"{root}, {name}:", ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items()))


if __name__ == "__main__":
    main()
