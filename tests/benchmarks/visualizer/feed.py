"""From an event to its pixels: runs handed to the visualizer at their own rate."""

import argparse
import json
import time
from collections.abc import Iterator

import gradio as gr
from playwright.sync_api import Page

from duoviz.decoding.settings import Settings
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from duoviz.web.visitors import Visitors
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import RequestQueue
from duoviz.workers.tasks import Run
from tests.benchmarks.visualizer.pages import PROBE, button_page, plain_page
from tests.benchmarks.visualizer.report import Report
from tests.benchmarks.visualizer.traces import METHOD, events_of, longer

WANTED_P95_MS = 100
NODES_AT = (100, 1000, 2000)

# Hands each event over when it is due; an event is the page's alone from then on.
FEED = """(events) => new Promise((done) => {
  const handed = [], start = performance.now();
  const due = ({ type, iteration }) => type === "iteration" ? 1000 * iteration.sync : 0;
  const next = (index) => {
    if (index === events.length) return done(handed);
    const wait = Math.max(0, due(events[index]) - (performance.now() - start));
    setTimeout(() => {
      if (events[index].type === "iteration") handed.push(performance.timeOrigin + performance.now());
      window.send(events[index]);
      events[index] = null;
      next(index + 1);
    }, wait);
  };
  next(0);
})"""


def feed(browser, trace: dict, options: argparse.Namespace, report: Report) -> None:
    long = longer(trace, options.iterations)
    for name, each, run in (
        ("a recorded run, without Gradio", trace, feed_page),
        ("a recorded run, through Gradio", trace, feed_served),
        ("the run made longer, without Gradio", long, feed_page),
    ):
        print(f"\nfeed: {name}: {len(each['iterations'])} iterations in {each['iterations'][-1]['sync']:.1f} s")
        run(browser, each, report)


def heap(page: Page) -> int:
    """Bytes in use on the page's JavaScript heap, what is unused taken away before."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used


def latencies(handed: list[float], painted: list[float]) -> list[float]:
    return [after - before for before, after in zip(handed, painted, strict=True)]


def feed_page(browser, trace: dict, report: Report) -> None:
    """Hand a trace to a page at its own rate."""
    with plain_page(browser) as page:
        before = heap(page)
        page.set_default_timeout(0)
        watch_nodes(page)
        handed = page.evaluate(FEED, [{"type": "reset"}, *events_of(trace)])
        page.wait_for_function("document.querySelector('.dv').dataset.state === 'done'")
        report.times("from an event to its pixels", latencies(handed, page.evaluate("painted")), p95=WANTED_P95_MS)
        report.long_tasks(page)
        nodes = page.evaluate("window.nodes")
        report.line(
            "DOM nodes at iteration", ", ".join(f"{at}: {nodes[str(at)]}" for at in NODES_AT if str(at) in nodes)
        )
        size = len(json.dumps(trace, ensure_ascii=False, separators=(",", ":")))
        grown = heap(page) - before
        report.line(
            "JavaScript heap grown by", f"{grown / 1e6:.1f} MB; the trace has {size / 1e6:.1f} MB ({grown / size:.1f}×)"
        )


def watch_nodes(page: Page) -> None:
    page.evaluate(
        """(at) => {
          const root = document.querySelector(".dv");
          window.nodes = {};
          new MutationObserver(() => {
            for (const each of at) {
              if (Number(root.dataset.iterations) >= each) nodes[each] ??= root.querySelectorAll("*").length;
            }
          }).observe(root, { attributes: true, attributeFilter: ["data-iterations"] });
        }""",
        list(NODES_AT),
    )


class Played:
    """A place that plays a recorded run, as if it were under way: each event comes at its own time.

    ended: when the iterations did, in ms of this machine's clock.
    """

    def __init__(self, trace: dict):
        self.left, self.start, self.ended = [*events_of(trace), {"type": "done"}], 0.0, []

    def send(self, message: object) -> None:
        self.start = self.start or time.monotonic()

    def receive(self, seconds: float) -> dict:
        event = self.left.pop(0)
        if event["type"] == "iteration":
            time.sleep(max(0, event["iteration"]["sync"] - passed(self.start)))
            self.ended.append(1000 * time.time())
        return event

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        pass


def feed_served(browser, trace: dict, report: Report) -> None:
    """The same through Gradio, as a visitor's run comes; both clocks are this machine's."""
    place = Played(trace)
    hardware = Hardware(Limits(), Pool([WorkerSlot(start=lambda: place)], RequestQueue()))
    hardware.pool.start()
    visitors = Visitors(hardware)
    run = Run(pair="embedded", method=METHOD, prompt=trace["header"]["prompt"], settings=Settings(), raw=False)

    def watch(request: gr.Request) -> Iterator[str]:
        yield from visitors.watch(request, lambda: run)

    with button_page(watch) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(url)
        page.wait_for_selector(".dv")
        page.evaluate(PROBE)
        page.get_by_role("button", name="Run").click()
        page.set_default_timeout(0)
        page.wait_for_function("document.querySelector('.dv').dataset.state === 'done'")
        report.times(
            "from the end of an iteration to its pixels",
            latencies(place.ended, page.evaluate("painted")),
            p95=WANTED_P95_MS,
        )
        report.long_tasks(page)
        page.close()
    hardware.close()


def passed(start: float) -> float:
    return time.monotonic() - start
