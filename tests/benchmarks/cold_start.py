"""How long it takes until something is to be seen, with an empty cache and with a full one.

    python -m tests.benchmarks.cold_start [--rounds 3] [--beside DIR]

`--beside` names another checkout, which is started in alternation. The server is started as the README does it, and
asked as soon as it answers: for the first token of a run, and, started anew, for a page whose recording moves, which
is asked for again once the models are loaded (the server may then still measure its costs); the Lab's results are
then drawn in a page that has been opened before its tab is pressed, and in one that is opened at its address. The
browser's cache is always empty. The parts are what the command line tells while it does the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from tests.app import ROOT, free_port, served
from tests.e2e.pages import launch_chromium

PROMPT = "Why is the sky blue?"
# How long a page is left alone before a tab is pressed in it, in milliseconds.
REST = 3000
# What changes, frame by frame, where a recording plays.
MOVING = {"live": ["#visualizer .dv", "moment"], "compare": [".dv-race", "clock"]}
# When that was seen to change, in milliseconds since the page was asked for.
WATCH = """([place, name]) => {
  let first = null;
  const look = () => {
    const now = document.querySelector(place)?.dataset[name] ?? "";
    if (now !== "") first ??= now;
    if (first !== null && now !== first) window.moved = performance.now();
    else requestAnimationFrame(look);
  };
  look();
}"""
# How long after the Lab's tab is pressed, or its address asked for, the map, the bars and the row of parts are there.
DRAWN = """(pressed) => new Promise((done) => {
  const begin = pressed ? performance.now() : 0;
  if (pressed) [...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent.includes("Lab")).click();
  const look = () => {
    const seen = (place) => document.querySelector(place)?.getClientRects().length;
    const all = [".ll-map", ".ll-bars td", ".ll-thumbnail"].every(seen);
    requestAnimationFrame(all ? () => done(performance.now() - begin) : look);
  };
  look();
})"""


def environment(cache: Path) -> dict[str, str]:
    # What pip has kept would be no download.
    return os.environ | {"DUOVIZ_CACHE": str(cache), "PIP_NO_CACHE_DIR": "1", "PYTHONUNBUFFERED": "1"}


def server_times(root: Path, cache: Path) -> dict[str, float]:
    """Seconds from `python app.py` to the page, and to the first token of a run asked for then."""
    port = free_port()
    start = time.perf_counter()
    with served(port, environment(cache), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        page = time.perf_counter() - start
        return {"the page answers": page, "first token in the page": first_text(port) - start}


def moving_times(root: Path, cache: Path, browser: Browser, tab: str) -> dict[str, float]:
    """Seconds from asking for the page until a recording moves in it.

    As soon as it can be had, when the server still loads its models; and from a server that has done so.
    """
    port, tells = free_port(), f"something moves in {tab.capitalize()}, from its address"
    with served(port, environment(cache), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        loading = moved(browser, port, tab)
        first_text(port)
        return {f"{tells}, while the models load": loading, tells: moved(browser, port, tab)}


def moved(browser: Browser, port: int, tab: str) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(f"({WATCH})({json.dumps(MOVING[tab])})")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/#tab={tab}", wait_until="commit")
    milliseconds = page.wait_for_function("window.moved", timeout=120_000).json_value()
    context.close()
    return milliseconds / 1000


def lab_times(root: Path, cache: Path, browser: Browser) -> dict[str, float]:
    """Seconds until the results that come along are drawn, from a server that has loaded its models."""
    port = free_port()
    with served(port, environment(cache), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        first_text(port)
        return {
            "the Lab is drawn, from its address": drawn(browser, f"http://127.0.0.1:{port}/#tab=lab", pressed=False),
            "the Lab is drawn, from its tab": drawn(browser, f"http://127.0.0.1:{port}/", pressed=True),
        }


def drawn(browser: Browser, address: str, *, pressed: bool) -> float:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    if pressed:
        page.get_by_role("tab", name="Lab").wait_for()
        page.wait_for_timeout(REST)
    seconds = page.evaluate(DRAWN, pressed) / 1000
    context.close()
    return seconds


def first_text(port: int) -> float:
    """When the first token of a run comes, on this process's clock."""
    url = f"http://127.0.0.1:{port}/gradio_api/call"
    body = json.dumps({"prompt": PROMPT, "max_new_tokens": 8}).encode()
    request = urllib.request.Request(f"{url}/v2/generate", body, {"Content-Type": "application/json"})
    event = json.load(urllib.request.urlopen(request))["event_id"]
    for line in urllib.request.urlopen(f"{url}/generate/{event}"):
        if line.startswith(b"data:") and (json.loads(line[5:]) or [{}])[0].get("text"):
            return time.perf_counter()
    raise RuntimeError("the run ended without a token")


def command_times(root: Path, cache: Path) -> dict[str, float]:
    """Seconds of each part that the command line tells of, in order; the last ends with the first token."""
    command = [sys.executable, "-m", "duoviz", "generate", PROMPT, "--max-new-tokens", "8"]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=root, env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    told = [(start, "importing")]

    def listen() -> None:
        for line in process.stderr:
            if line[:4].strip().endswith("%"):
                told.append((time.perf_counter(), line[5:].strip().partition(",")[0]))

    listener = threading.Thread(target=listen)
    listener.start()
    process.stdout.read(1)
    told.append((time.perf_counter(), ""))
    process.communicate()
    listener.join()
    parts: dict[str, float] = {}
    for (begin, part), (end, _) in zip(told, told[1:], strict=False):
        parts[part] = parts.get(part, 0.0) + end - begin
    return parts


def measure(roots: list[Path], rounds: int) -> dict[tuple[Path, str], list[dict[str, float]]]:
    """For each checkout, with an empty and with a full cache, each round's seconds."""
    found = {(root, cache): [] for root in roots for cache in ("empty", "full")}
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for number in range(rounds):
            for root in roots if number % 2 == 0 else roots[::-1]:
                with tempfile.TemporaryDirectory() as folder:
                    for cache in ("empty", "full"):
                        times = server_times(root, Path(folder, "page")) | command_times(root, Path(folder, "command"))
                        for tab in MOVING:
                            times |= moving_times(root, Path(folder, tab), browser, tab)
                        times |= lab_times(root, Path(folder, "page"), browser)
                        found[root, cache].append(times)
                        told = times["first token in the page"]
                        print(f"round {number + 1}, {root}, {cache}: {told:.1f} s", flush=True)
        browser.close()
    return found


def report(found: dict[tuple[Path, str], list[dict[str, float]]]) -> None:
    for (root, cache), rounds in found.items():
        print(f"\n{root}, {cache} cache: seconds, medians of {len(rounds)}")
        for part in dict.fromkeys(part for times in rounds for part in times):
            print(f"  {median(times.get(part, 0.0) for times in rounds):6.2f}  {part}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    report(measure([ROOT, *(path.resolve() for path in options.beside)], options.rounds))
