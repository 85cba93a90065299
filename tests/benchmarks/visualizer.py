"""What it costs to show a run: in the browser, and on the machine that serves it.

    python -m tests.benchmarks.visualizer [feed] [steps] [serving] [--trace FILE] [--iterations 2000]
                                          [--long 5000] [--steps 200] [--pairs 6] [--max-new-tokens 128]

Without a part's name, all three. `feed`: a recorded DuoDecoding run is handed to the visualizer at its
own rate, in a page without Gradio, through Gradio, and made longer (its iterations over and over, at
later times). `steps`: keys and the slider in a loaded long trace, and loading it. `serving`: the same
run without a page and served through Gradio to a client that discards what it gets, alternated; both
in this process, on one thread. The browser's own work is given apart. Without --trace, a run of the
embedded pair is recorded first. Exits with 1 where a figure is not as wanted.

A frame counts as painted when the browser's main thread is done with it; the compositor's part, which
it does beside that, is not in the times.
"""

import argparse
import json
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import gradio as gr
import psutil
from playwright.sync_api import Page, sync_playwright

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import Pair, load_pair
from duoviz.trace.metrics import metrics
from duoviz.web.jobs import Job, Run
from duoviz.web.gradio_internals import calm
from duoviz.web.limits import Limits
from duoviz.web.script import CSS, FOLDER
from duoviz.web.session import Hardware
from duoviz.web.visitors import WATCHED, Visitors
from duoviz.web.visualizer import Visualizer
from tests.benchmarks.methods import questions
from tests.e2e.conftest import launch_chromium

WANTED_P95_MS = 100
WANTED_STEP_MS = 50
WANTED_SERVING_LOSS = 0.03
LONG_TASK_MS = 50
NODES_AT = (100, 1000, 2000)
METHOD = "duodecoding"

# The modules in a page of their own; what a frame has painted is told by `painted`, one time for each iteration.
PAGE = """<!doctype html><style>body { margin: 16px; font-family: sans-serif; } .page { %s }</style>
<div class="page"><div id="root"></div></div><script type="module">
import { mount } from "./mount.js";
mount(document.getElementById("root"), { subscribe(callback) { window.send = callback; } });
</script>"""

PROBE = """() => {
  window.painted = [];
  window.longTasks = [];
  window.afterPaint = (act) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = act;
    port2.postMessage(null);
  };
  const root = document.querySelector(".dv");
  new MutationObserver(() => {
    const count = Number(root.dataset.iterations);
    afterPaint(() => {
      const now = performance.timeOrigin + performance.now();
      while (painted.length < count) painted.push(now);
    });
  }).observe(root, { attributes: true, attributeFilter: ["data-iterations"] });
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ entryTypes: ["longtask"] });
}"""

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

# The milliseconds from choosing a file to the frame that shows it.
LOADING = """() => {
  const root = document.querySelector(".dv");
  root.querySelector("input[type=file]").addEventListener("change", () => {
    const chosen = performance.now();
    new MutationObserver((_changes, observer) => {
      if (root.dataset.state !== "done") return;
      observer.disconnect();
      afterPaint(() => { window.loaded = performance.now() - chosen; });
    }).observe(root, { attributes: true, attributeFilter: ["data-state"] });
  }, { capture: true });
}"""

# Times of acts, each begun at a random moment between two frames.
TIMED = """async ([kind, count]) => {
  const root = document.querySelector(".dv"), slider = root.querySelector(".dv-slider");
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const acts = {
    right: () => press("ArrowRight"), left: () => press("ArrowLeft"),
    ends: (number) => press(number % 2 ? "End" : "Home"),
    scrub: (number) => {
      slider.value = Math.floor(((number * 0.618034) % 1) * Number(slider.max));
      slider.dispatchEvent(new Event("input"));
    },
  };
  slider.value = Math.floor(slider.max / 2);
  slider.dispatchEvent(new Event("input"));
  const times = [];
  for (let number = 0; number < count; number++) {
    await new Promise((done) => setTimeout(done, 20 + 40 * Math.random()));
    const start = performance.now();
    acts[kind](number);
    await new Promise((done) => requestAnimationFrame(() => afterPaint(done)));
    times.push(performance.now() - start);
  }
  return times;
}"""


class Report:
    """Prints figures, and remembers whether all are as wanted."""

    def __init__(self):
        self.good = True

    def line(self, what: str, figure: str, *, good: bool | None = None) -> None:
        self.good = self.good and good is not False
        print(f"  {what:58} {figure}{'' if good is None else '  as wanted' if good else '  NOT as wanted'}", flush=True)

    def times(self, what: str, milliseconds: list[float], *, p95: float | None = None) -> None:
        ordered = sorted(milliseconds)
        share = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        figures = f"p50 {median(ordered):6.1f}  p95 {share:6.1f}  max {ordered[-1]:6.1f} ms"
        self.line(f"{what} ({len(ordered)})", figures, good=None if p95 is None else share <= p95)

    def long_tasks(self, page: Page) -> None:
        tasks = page.evaluate("longTasks")
        longest = f", the longest {max(tasks):.0f} ms" if tasks else ""
        self.line(f"tasks over {LONG_TASK_MS} ms", f"{len(tasks)}{longest}", good=not tasks)


def longer(trace: dict, count: int) -> dict:
    """A trace of so many iterations: those after the first over and over, each time later by their length."""
    first, *others = trace["iterations"]
    length = others[-1]["sync"] - first["sync"]
    iterations = [first]
    while len(iterations) < count:
        turn, place = divmod(len(iterations) - 1, len(others))
        iterations.append(later(others[place], turn * length, len(iterations)))
    return trace | {"iterations": iterations, "end": runner.end(iterations, "length")}


def later(iteration: dict, seconds: float, index: int) -> dict:
    def moved(span: dict) -> dict:
        return span | {name: round(span[name] + seconds, 6) for name in ("start", "end")}

    moves = {"index": index, "sync": round(iteration["sync"] + seconds, 6), "target": moved(iteration["target"])}
    return iteration | moves | {"draft": [moved(step) for step in iteration["draft"]]}


def events_of(trace: dict) -> list[dict]:
    told = [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
    last = {"type": "end", "end": trace["end"], "metrics": metrics(trace)}
    return [{"type": "reset"}, {"type": "header", "header": trace["header"]}, *told, last]


@contextmanager
def plain_page(browser) -> Iterator[Page]:
    """A page with the visualizer and the probe, without Gradio."""

    def answer(route):
        name = route.request.url.rsplit("/", 1)[-1]
        if name.endswith(".js"):
            route.fulfill(path=FOLDER / name, content_type="text/javascript")
        else:
            route.fulfill(body=PAGE % CSS, content_type="text/html; charset=utf-8")

    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.route("http://plain.test/**", answer)
    page.goto("http://plain.test/")
    page.wait_for_selector(".dv")
    page.evaluate(PROBE)
    yield page
    page.close()


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
        handed = page.evaluate(FEED, events_of(trace))
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


@dataclass(eq=False, kw_only=True)
class Played(Job):
    """A recorded run, as if it were under way: each event comes at its own time.

    ended: when the iterations did, in ms of this machine's clock.
    """

    trace: dict
    ended: list[float] = field(default_factory=list)

    def check_request(self, longest: int) -> None:
        pass

    def stream(self, pair: Pair) -> Iterator[dict]:
        start = time.monotonic()
        for event in events_of(self.trace)[1:]:
            if event["type"] == "iteration":
                time.sleep(max(0, event["iteration"]["sync"] - passed(start)))
                self.ended.append(1000 * time.time())
            yield event

    def take(self, event: dict) -> None:
        self.events.put(event)

    def finish(self, pair: Pair, reason: tuple[str, ...]) -> None:
        pass


def feed_served(browser, trace: dict, report: Report) -> None:
    """The same through Gradio, as a visitor's run comes; both clocks are this machine's."""
    hardware, job = Hardware(Limits()), Played(pair="embedded", trace=trace)
    hardware.loaded, hardware.pair = job.pair, SimpleNamespace(longest_prompt=1)
    visitors = Visitors(hardware)

    def watch(request: gr.Request) -> Iterator[str]:
        yield from visitors.watch(request, lambda: job)

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
            latencies(job.ended, page.evaluate("painted")),
            p95=WANTED_P95_MS,
        )
        report.long_tasks(page)
        page.close()
    hardware.thread.shutdown()


@contextmanager
def button_page(watch: Callable[[gr.Request], Iterator[str]]) -> Iterator[str]:
    """The address of a page with one button, which calls `watch` for the visualizer, as on the Live tab."""
    with gr.Blocks() as demo:
        gr.Button("Run").click(watch, None, Visualizer(), **WATCHED)
    calm(demo)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    try:
        yield url
    finally:
        demo.close()


def passed(start: float) -> float:
    return time.monotonic() - start


def feed(browser, trace: dict, options: argparse.Namespace, report: Report) -> None:
    long = longer(trace, options.iterations)
    for name, each, run in (
        ("a recorded run, without Gradio", trace, feed_page),
        ("a recorded run, through Gradio", trace, feed_served),
        ("the run made longer, without Gradio", long, feed_page),
    ):
        print(f"\nfeed: {name}: {len(each['iterations'])} iterations in {each['iterations'][-1]['sync']:.1f} s")
        run(browser, each, report)


def steps(browser, trace: dict, options: argparse.Namespace, report: Report) -> None:
    long = longer(trace, options.long)
    with plain_page(browser) as page, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "long.duoviz.json"
        file.write_text(json.dumps({name: long[name] for name in ("header", "iterations", "end")}), encoding="utf-8")
        print(f"\nsteps: a trace of {len(long['iterations'])} iterations, {file.stat().st_size / 1e6:.1f} MB")
        page.set_default_timeout(0)
        page.evaluate(LOADING)
        page.locator(".dv input[type=file]").set_input_files(file)
        page.wait_for_function("window.loaded")
        report.line("loading it, from the file chosen to all painted", f"{page.evaluate('loaded'):.0f} ms")
        report.long_tasks(page)
        page.evaluate("() => { longTasks.length = 0; }")
        for kind, what in (("right", "a step forward"), ("left", "a step back"), ("scrub", "the slider to any place")):
            report.times(
                f"{what}, from the key to its frame", page.evaluate(TIMED, [kind, options.steps]), p95=WANTED_STEP_MS
            )
        report.times("Home and End in turn", page.evaluate(TIMED, ["ends", options.steps // 10]))
        page.get_by_role("button", name="Whole run").click()
        report.times(
            "a step forward with the whole run in view",
            page.evaluate(TIMED, ["right", options.steps]),
            p95=WANTED_STEP_MS,
        )
        report.long_tasks(page)


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


@contextmanager
def served_page(hardware: Hardware, prompt: str, settings: Settings) -> Iterator[tuple[str, list[Run]]]:
    """A page with one button, which shows the run as the Live tab does: its address, and the runs asked for so far."""
    visitors, runs = Visitors(hardware), []

    def ask() -> Run:
        runs.append(Run(pair="embedded", method=METHOD, prompt=prompt, settings=settings, raw=False))
        return runs[-1]

    def watch(request: gr.Request) -> Iterator[str]:
        yield from visitors.watch(request, ask)

    with button_page(watch) as url:
        yield url, runs


def serving(browser, options: argparse.Namespace, report: Report) -> None:
    hardware, prompt, settings = Hardware(Limits()), questions(1)[0], Settings(max_new_tokens=options.max_new_tokens)
    pair = hardware.thread.submit(hardware.ready_pair, "embedded", bool).result()

    def alone() -> dict:
        # The last visitor's run has ended, and so would this one.
        pair.stopped = bool
        return runner.collect(runner.stream(pair, METHOD, prompt, settings))

    def headless() -> float:
        return metrics(hardware.thread.submit(alone).result())["tps"]

    with served_page(hardware, prompt, settings) as (url, runs):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as client:

            def served() -> float:
                client.submit(discard, url).result()
                return runs[-1].summary["metrics"]["tps"]

            print(f"\nserving: {METHOD}, {options.max_new_tokens} new tokens, {options.pairs} pairs of runs after one")
            compare_serving(headless, served, options.pairs, report)
        watched(browser, url, runs, options.pairs, report)
    hardware.close()


def compare_serving(headless: Callable[[], float], served: Callable[[], float], pairs: int, report: Report) -> None:
    """Alternate both, `pairs` times; the order changes from pair to pair."""
    headless(), served()
    rows = []
    for number in range(pairs):
        order = (headless, served) if number % 2 == 0 else (served, headless)
        found = {run: run() for run in order}
        rows.append((found[headless], found[served]))
    ratio = median(after / before for before, after in rows)
    report.line("without a page, median", f"{median(row[0] for row in rows):.2f} tokens/s")
    report.line("served to a client that discards, median", f"{median(row[1] for row in rows):.2f} tokens/s")
    report.line("median of the pairs' ratios", f"{ratio:.3f}", good=ratio >= 1 - WANTED_SERVING_LOSS)


def watched(browser, url: str, runs: list[Run], count: int, report: Report) -> None:
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
        shares.append((browser_cpu() - used) / runs[-1].summary["metrics"]["wall"])
    found = [run.summary["metrics"]["tps"] for run in runs[-count:]]
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


def recorded(file: Path | None, tokens: int) -> dict:
    """The trace in a file, or of a run now."""
    if file:
        return json.loads(file.read_text(encoding="utf-8"))
    pair, settings = load_pair(), Settings(max_new_tokens=tokens)
    runs = [runner.collect(runner.stream(pair, METHOD, questions(1)[0], settings)) for _ in range(2)]
    pair.resources["draft"].close()
    return runs[-1]


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("parts", nargs="*", metavar="feed|steps|serving")
    options.add_argument("--trace", type=Path)
    options.add_argument("--iterations", type=int, default=2000)
    options.add_argument("--long", type=int, default=5000)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--pairs", type=int, default=6)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options = options.parse_args()
    parts, report = options.parts or ["feed", "steps", "serving"], Report()
    print(f"{runner.versions()}")
    trace = recorded(options.trace, options.max_new_tokens) if set(parts) & {"feed", "steps"} else None
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        if "feed" in parts:
            feed(browser, trace, options, report)
        if "steps" in parts:
            steps(browser, trace, options, report)
        if "serving" in parts:
            serving(browser, options, report)
        browser.close()
    return int(not report.good)


if __name__ == "__main__":
    sys.exit(main())
