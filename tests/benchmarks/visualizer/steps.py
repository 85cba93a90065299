"""Keys and the slider in a long trace, and loading it."""

import argparse
import json
import tempfile
from pathlib import Path

from tests.benchmarks.visualizer.pages import plain_page
from tests.benchmarks.visualizer.report import Report
from tests.benchmarks.visualizer.traces import longer

WANTED_STEP_MS = 50

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
