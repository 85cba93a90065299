"""The same run without a page, and served through Gradio; and with a browser beside it.

    python -m tests.benchmarks.serving [--pairs 6] [--max-new-tokens 128]

A client in another process discards what it gets; then Chromium shows the run in a page with one button, as the Live
tab does, and its own work is given apart.
"""

import json
import time
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from statistics import median

import gradio as gr
import psutil
from playwright.sync_api import sync_playwright

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.web import front
from duoviz.web.app import HEAD
from duoviz.web.components import Visualizer
from duoviz.web.gradio_internals import calm
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from duoviz.web.visitors import WATCHED, Visitors
from duoviz.workers.local import local_slots
from duoviz.workers.pool import Pool
from duoviz.workers.request_queue import Job, RequestQueue
from duoviz.workers.tasks import Run
from tests.benchmarks.harness import alternated, arguments, questions, ratios
from tests.e2e.pages import launch_chromium


def discard(url: str) -> None:
    """One run as the page asks for it; what comes is read and thrown away."""
    session = uuid.uuid4().hex
    body = json.dumps({"data": [], "fn_index": 0, "session_hash": session}).encode()
    join = urllib.request.Request(f"{url}gradio_api/queue/join", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(join).close()
    with urllib.request.urlopen(f"{url}gradio_api/queue/data?session_hash={session}") as answer:
        for line in answer:
            if b'"msg":"process_completed"' in line:
                return


class Noted(Hardware):
    """Hardware that keeps the jobs asked for so far."""

    def __init__(self):
        super().__init__(Limits(), Pool(local_slots("1"), RequestQueue()))
        self.jobs: list[Job] = []
        self.pool.start("embedded")

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        super().start(job)

    def last_speed(self) -> float:
        return self.jobs[-1].ended["metrics"]["tps"]


@contextmanager
def served_page(hardware: Noted, run: Run) -> Iterator[str]:
    """The address of a page with one button, which shows the run as the Live tab does."""
    visitors = Visitors(hardware)

    def watch(request: gr.Request) -> Iterator[str]:
        yield from visitors.watch(request, lambda: run)

    with gr.Blocks() as demo:
        gr.Button("Run").click(watch, None, Visualizer(), **WATCHED)
    calm(demo)
    options = {"head": HEAD, "app_kwargs": {"routes": front.routes()}}
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, **options)
    yield url
    demo.close()


def served_and_not(hardware: Noted, run: Run, url: str, pairs: int) -> None:
    """Alternate a run without a page and one that is served, after one of each."""

    def headless(_: object) -> float:
        hardware.start(Job(task=run))
        hardware.jobs[-1].future.result()
        return hardware.last_speed()

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as client:

        def served(_: object) -> float:
            client.submit(discard, url).result()
            return hardware.last_speed()

        works = {"headless": headless, "served": served}
        alternated(works, range(1))
        alone, beside = alternated(works, range(pairs)).values()
    share = median(ratios(beside, alone))
    print(f"without a page {median(alone):.2f} tokens/s, served {median(beside):.2f}: {share:.3f}")


def watched(browser, hardware: Noted, url: str, count: int) -> None:
    """The same run with a page that shows it, which computes on the same machine."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(0)
    page.goto(url)
    page.wait_for_selector(".dv")
    shares, speeds = [], []
    for _ in range(count):
        asked, used = len(hardware.jobs), browser_cpu()
        page.get_by_role("button", name="Run", exact=True).click()
        # Nothing asks the browser meanwhile.
        while len(hardware.jobs) == asked or not hardware.jobs[-1].future.done():
            time.sleep(0.1)
        speeds.append(hardware.last_speed())
        shares.append((browser_cpu() - used) / hardware.jobs[-1].ended["metrics"]["wall"])
    print(f"with a browser {median(speeds):.2f} tokens/s; it computes for {median(shares):.2f} s of each second")


def browser_cpu() -> float:
    """Seconds that the browser's processes have computed so far."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name():
                total += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            pass
    return total


def main() -> None:
    options = arguments(__doc__, pairs=6, max_new_tokens=128).parse_args()
    settings = Settings(max_new_tokens=options.max_new_tokens)
    run = Run(pair="embedded", method="duodecoding", prompt=questions(1)[0], settings=settings, raw=False)
    print(f"{runner.versions()}, medians of {options.pairs} runs of {options.max_new_tokens} tokens each")
    hardware = Noted()
    with served_page(hardware, run) as url, sync_playwright() as playwright, launch_chromium(playwright) as browser:
        served_and_not(hardware, run, url, options.pairs)
        watched(browser, hardware, url, options.pairs)
    hardware.close()


if __name__ == "__main__":
    main()
