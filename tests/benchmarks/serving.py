"""The same run without a page, and served through Gradio; and with a browser that shows it.

    python -m tests.benchmarks.serving [--pairs 6] [--max-new-tokens 128]

Both have a process of their own and take turns. A client discards what it gets; then Chromium shows the run in the
page, as a visitor sees it, and its own work is given apart.
"""

from statistics import median

import psutil
from gradio_client import Client
from playwright.sync_api import sync_playwright

from duoviz import Settings, load_engine, runner
from duoviz.trace.metrics import metrics
from tests.app import free_port, served
from tests.benchmarks.harness import alternated, arguments, questions, ratios
from tests.benchmarks.in_page import opened, speed
from tests.e2e.pages import launch_chromium

METHOD = "duodecoding"


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
    prompt, tokens = questions(1)[0], options.max_new_tokens
    engine = load_engine(draft=True)
    print(f"{runner.versions()}, medians of {options.pairs} runs of {tokens} tokens each")
    with served(free_port(), {}) as (url, _), sync_playwright() as playwright, launch_chromium(playwright) as browser:
        client = Client(url, verbose=False)

        def headless(_: int) -> float:
            run = runner.stream(engine, METHOD, prompt, Settings(max_new_tokens=tokens))
            return metrics(runner.collect(run))["tps"]

        def discarded(_: int) -> float:
            asked = {"prompt": prompt, "method": METHOD, "max_new_tokens": tokens}
            return client.predict(**asked, api_name="/generate")["metrics"]["tps"]

        works = {"headless": headless, "served": discarded}
        alternated(works, range(1))
        alone, beside = alternated(works, range(options.pairs)).values()
        share = median(ratios(beside, alone))
        print(f"without a page {median(alone):.2f} tokens/s, served {median(beside):.2f}: {share:.3f}")
        page, used = opened(browser, url), browser_cpu()
        speeds = [speed(page, METHOD, prompt, tokens, seed) for seed in range(options.pairs)]
        each = (browser_cpu() - used) / sum(tokens / tps for tps in speeds)
        print(f"with a browser {median(speeds):.2f} tokens/s; it computes for {each:.2f} s of each second")
    engine.close()


if __name__ == "__main__":
    main()
