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

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from duoviz import runner
from tests.benchmarks.harness import arguments
from tests.benchmarks.visualizer.feed import feed
from tests.benchmarks.visualizer.report import Report
from tests.benchmarks.visualizer.serving import serving
from tests.benchmarks.visualizer.steps import steps
from tests.benchmarks.visualizer.traces import recorded
from tests.e2e.pages import launch_chromium


def main() -> int:
    parser = arguments(__doc__, iterations=2000, long=5000, steps=200, pairs=6, max_new_tokens=128)
    parser.add_argument("parts", nargs="*", metavar="feed|steps|serving")
    parser.add_argument("--trace", type=Path)
    options = parser.parse_args()
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
