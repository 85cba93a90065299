"""The same run without a page and served through Gradio; and with a browser beside it."""

import argparse
import json
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from statistics import median

import gradio as gr
import psutil

from duoviz.decoding.settings import Settings
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from duoviz.web.visitors import Visitors
from duoviz.workers.jobs import Job
from duoviz.workers.local import local_slots
from duoviz.workers.pool import Pool
from duoviz.workers.request_queue import RequestQueue
from duoviz.workers.tasks import Run
from tests.benchmarks.harness import alternated, questions
from tests.benchmarks.visualizer.pages import button_page
from tests.benchmarks.visualizer.report import Report
from tests.benchmarks.visualizer.traces import METHOD

WANTED_SERVING_LOSS = 0.03


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


@contextmanager
def served_page(hardware: Noted, run: Run) -> Iterator[tuple[str, list[Job]]]:
    """A page with one button, which shows the run as the Live tab does: its address, and the jobs asked for so far."""
    visitors = Visitors(hardware)

    def watch(request: gr.Request) -> Iterator[str]:
        yield from visitors.watch(request, lambda: run)

    with button_page(watch) as url:
        yield url, hardware.jobs


def serving(browser, options: argparse.Namespace, report: Report) -> None:
    hardware, settings = Noted(), Settings(max_new_tokens=options.max_new_tokens)
    run = Run(pair="embedded", method=METHOD, prompt=questions(1)[0], settings=settings, raw=False)

    def headless() -> float:
        hardware.start(Job(task=run))
        hardware.jobs[-1].future.result()
        return hardware.jobs[-1].ended["metrics"]["tps"]

    with served_page(hardware, run) as (url, runs):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as client:

            def served() -> float:
                client.submit(discard, url).result()
                return runs[-1].ended["metrics"]["tps"]

            print(f"\nserving: {METHOD}, {options.max_new_tokens} new tokens, {options.pairs} pairs of runs after one")
            compare_serving(headless, served, options.pairs, report)
        watched(browser, url, runs, options.pairs, report)
    hardware.close()


def compare_serving(headless: Callable[[], float], served: Callable[[], float], pairs: int, report: Report) -> None:
    """Alternate both, `pairs` times; the order changes from pair to pair."""
    headless(), served()
    found = alternated({"headless": headless, "served": served}, pairs)
    ratio = median(after / before for before, after in zip(found["headless"], found["served"], strict=True))
    report.line("without a page, median", f"{median(found['headless']):.2f} tokens/s")
    report.line("served to a client that discards, median", f"{median(found['served']):.2f} tokens/s")
    report.line("median of the pairs' ratios", f"{ratio:.3f}", good=ratio >= 1 - WANTED_SERVING_LOSS)


def watched(browser, url: str, runs: list[Job], count: int, report: Report) -> None:
    """The same run with a page that shows it, which computes on the same machine."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(0)
    page.goto(url)
    page.wait_for_selector(".dv")
    shares = []
    for _ in range(count):
        asked, used = len(runs), browser_cpu()
        page.get_by_role("button", name="Run", exact=True).click()
        # Nothing asks the browser meanwhile.
        while len(runs) == asked or not runs[-1].future.done():
            time.sleep(0.1)
        shares.append((browser_cpu() - used) / runs[-1].ended["metrics"]["wall"])
    found = [run.ended["metrics"]["tps"] for run in runs[-count:]]
    report.line("with a page that shows it, median", f"{median(found):.2f} tokens/s")
    report.line("the browser's CPU time per second of these runs, median", f"{median(shares):.2f} s")
    page.close()


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
