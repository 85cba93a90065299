"""What an iteration spends beside the models' forwards, for each method; greedy, embedded pair.

    python -m tests.benchmarks.overhead [--prompts 7] [--max-new-tokens 128] [--methods NAME,…]

The work around the forwards is the part of an iteration in which neither model works: looking up or
building what is proposed, verification, rollback, the trace's record, the budget, and the way to the
draft and back. (One side waiting for the other is not among it: it is idle, and in the trace.) Below
each method's line, the main process's own steps, in ms an iteration. The methods alternate on every
prompt. Exits with 1 where the median share of a method is 5 % or more.
"""

import argparse
import importlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import mean, median
from unittest import mock

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.budget import LiveCosts
from duoviz.decoding.datastore import Datastore
from duoviz.decoding.lookahead import Window
from duoviz.decoding.ngram_pool import NgramPool
from duoviz.decoding.settings import Settings
from duoviz.models.copying import NGrams
from duoviz.models.pairs import load_pair
from duoviz.trace.metrics import common, total
from duoviz.trace.record import Recorder
from tests.benchmarks.methods import questions

ALLOWED = 0.05

# The package's attributes of these names are the methods, not their modules.
MODULES = {name: importlib.import_module(f"duoviz.decoding.{name}") for name in (*METHODS, "in_turn")}
RECORD = [(Recorder, "iteration")]
CHECK = [(MODULES["in_turn"], "judge"), (MODULES["in_turn"], "keep_accepted")]
STEPS = {
    "vanilla": RECORD,
    "speculative": [
        (MODULES["speculative"], "speculative_budget"), (MODULES["speculative"], "judge"),
        (MODULES["speculative"], "keep_accepted"), (LiveCosts, "observe"), *RECORD,
    ],
    "prompt_lookup": [(NGrams, "append"), (MODULES["prompt_lookup"], "find"), *CHECK, *RECORD],
    "rest": [(Datastore, "continuations"), (MODULES["rest"], "frequent_tree"), *CHECK, *RECORD],
    "lookahead": [
        (NgramPool, "after"), (MODULES["lookahead"], "guess_tree"), (Window, "nodes"), (MODULES["lookahead"], "judge"),
        (MODULES["lookahead"], "keep_accepted"), (MODULES["lookahead"], "continuations"), (Window, "advance"), *RECORD,
    ],
    "duodecoding": [
        (MODULES["duodecoding"], "synchronise"), (MODULES["duodecoding"], "plan_draft"), (LiveCosts, "observe"), *RECORD
    ],
}  # fmt: skip


def around(trace: dict) -> Iterator[tuple[float, float]]:
    """(seconds, of them in no forward) of each iteration after the first, which reads the prompt."""
    for before, each in zip(trace["iterations"], trace["iterations"][1:], strict=False):
        target = [(each["target"]["start"], each["target"]["end"])]
        draft = [(step["start"], step["end"]) for step in each["draft"]]
        seconds = each["sync"] - before["sync"]
        yield seconds, seconds - (total(target) + total(draft) - common(target, draft))


@contextmanager
def watched(method: str, taken: dict[str, list[float]]) -> Iterator[None]:
    """Time the method's own steps meanwhile."""
    with ExitStack() as stack:
        for owner, name in STEPS[method]:
            stack.enter_context(mock.patch.object(owner, name, timed(getattr(owner, name), taken[name])))
        yield


def timed(function: Callable, taken: list[float]) -> Callable:
    def wrapper(*arguments, **options):
        start = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            taken.append(time.perf_counter() - start)

    return wrapper


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--prompts", type=int, default=7)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options.add_argument("--methods", default=",".join(METHODS))
    options = options.parse_args()
    pair, settings = load_pair(), Settings(max_new_tokens=options.max_new_tokens)
    methods = options.methods.split(",")
    prompts = questions(1)[: options.prompts]
    iterations: dict[str, list] = defaultdict(list)
    taken: dict[str, dict[str, list[float]]] = {method: defaultdict(list) for method in methods}
    for number, prompt in enumerate([prompts[0], *prompts]):
        for method in methods:
            with watched(method, taken[method] if number else defaultdict(list)):
                trace = runner.collect(runner.stream(pair, method, prompt, settings))
            iterations[method] += around(trace) if number else []
    print(f"{runner.versions()}, {pair.cores}, {pair.target_device_label(pair.cores.target)}")
    shares = {}
    for method, rows in iterations.items():
        shares[method] = median(lost / seconds for seconds, lost in rows)
        print(
            f"{method:14} {len(rows)} iterations, median {median(seconds for seconds, _ in rows) * 1e3:.2f} ms; "
            f"around the forwards median {median(lost for _, lost in rows) * 1e3:.2f} ms, {shares[method]:.2%}"
        )
        for name, seconds in taken[method].items():
            print(f"    {name:20} {sum(seconds) / len(rows) * 1e3:7.3f} ms an iteration")
    worst = max(shares, key=shares.get)
    print(f"mean of the methods {mean(shares.values()):.2%}; most: {worst}, {shares[worst]:.2%}")
    return int(shares[worst] >= ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
