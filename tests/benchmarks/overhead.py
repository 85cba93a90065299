"""What an iteration loses to bookkeeping, to the pipe and to a change of budget; greedy, embedded pair.

    python -m tests.benchmarks.overhead [--prompts 6] [--max-new-tokens 128]

Lost time is the part of an iteration in which neither side's model works: from the last
synchronisation to the start of the first forward (verification, the record, the budget, the
request), and from the end of the last forward to the next synchronisation (the answer's way back).
One side waiting for the other is not lost but idle, and given apart. Below the table, what the main
process spends in each of its own steps. Exits with 1 where the median loss is 5 % or more.
"""

import argparse
import importlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import median

from duoviz import runner
from duoviz.decoding.budget import LiveCosts
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import load_pair
from duoviz.trace.record import Recorder
from tests.benchmarks.methods import questions

ALLOWED = 0.05


def losses(trace: dict) -> list[dict]:
    """For each iteration after the prefill: its seconds by part, and whether γ changed."""
    rows = []
    for before, each in zip(trace["iterations"], trace["iterations"][1:], strict=False):
        if not each["draft"] or not before["draft"]:
            continue
        begin, draft_end = before["sync"], each["draft"][-1]["end"]
        first = min(each["target"]["start"], each["draft"][0]["start"])
        last = max(each["target"]["end"], draft_end)
        rows.append(
            {
                "iteration": each["sync"] - begin,
                "before the first forward": first - begin,
                "request to the draft's first step": each["draft"][0]["start"] - each["target"]["start"],
                "after the last forward": each["sync"] - last,
                "lost": each["sync"] - begin - (last - first),
                "one side idle": abs(each["target"]["end"] - draft_end),
                "changed": each["budget"] != before["budget"],
            }
        )
    return rows


def timed(function: Callable, taken: list[float]) -> Callable:
    def wrapper(*arguments, **options):
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            taken.append(time.perf_counter() - start)

    return wrapper


def watch_steps() -> dict[str, list[float]]:
    """Time the main process's own steps from now on."""
    taken: dict[str, list[float]] = defaultdict(list)
    # The package's attribute of this name is the method, not its module.
    duodecoding = importlib.import_module("duoviz.decoding.duodecoding")
    for name, owner, attribute in (
        ("verification", duodecoding, "synchronise"),
        ("budget and plan", duodecoding, "plan_draft"),
        ("following the run", LiveCosts, "observe"),
        ("the trace's record", Recorder, "iteration"),
    ):
        setattr(owner, attribute, timed(getattr(owner, attribute), taken[name]))
    return taken


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--prompts", type=int, default=6)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options = options.parse_args()
    pair, settings = load_pair(), Settings(max_new_tokens=options.max_new_tokens)
    prompts = questions(1)[: options.prompts]
    runner.collect(runner.stream(pair, "duodecoding", prompts[0], settings))
    taken = watch_steps()
    submit = pair.resources["draft"].submit
    pair.resources["draft"].submit = timed(submit, taken["request into the pipe"])
    rows = []
    for prompt in prompts:
        rows += losses(runner.collect(runner.stream(pair, "duodecoding", prompt, settings)))
    print(f"{runner.versions()}, {pair.cores}, {pair.target_device_label(pair.cores.target)}")
    iteration = median(row["iteration"] for row in rows)
    print(f"{len(rows)} iterations, median {iteration * 1e3:.2f} ms")
    for name in (
        "before the first forward",
        "after the last forward",
        "request to the draft's first step",
        "one side idle",
    ):
        print(f"  {name:36} {median(row[name] for row in rows) * 1e3:7.3f} ms")
    shares = {"all": [row["lost"] / row["iteration"] for row in rows]}
    for changed in (True, False):
        shares["γ changed" if changed else "γ as before"] = [
            row["lost"] / row["iteration"] for row in rows if row["changed"] == changed
        ]
    for name, values in shares.items():
        if values:
            print(f"lost, {name:12} median {median(values):6.2%} of an iteration ({len(values)} iterations)")
    for name, seconds in taken.items():
        print(f"  {name:36} {median(seconds) * 1e3:7.3f} ms")
    return int(median(shares["all"]) >= ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
