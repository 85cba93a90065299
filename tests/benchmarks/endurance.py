"""Many runs of all methods in one process: whether memory, open files and threads stay level.

    python -m tests.benchmarks.endurance [--runs 500]

On the embedded pair. Memory is that of this process and of the draft's; the first round of runs, which loads what
each method keeps, comes before the first reading.
"""

import argparse
import itertools
import sys
from contextlib import closing

import psutil

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import load_pair

PROMPTS = ("Why is the sky blue?", "List five ideas for a rainy afternoon.", "Write a haiku about the sea. " * 20)
GREEDY, DRAWN = Settings(max_new_tokens=16), Settings(max_new_tokens=16, temperature=0.8, acceptance="rejection")
ALLOWED = 1.05


def reading() -> tuple[float, int, int]:
    """Megabytes, open files and threads."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    memory = sum(each.memory_full_info().pss for each in family) / 1e6
    return memory, sum(each.num_fds() for each in family), sum(each.num_threads() for each in family)


def told(runs: int) -> tuple[float, int, int]:
    """A reading, printed."""
    memory, files, threads = reading()
    print(f"{runs:4} runs: {memory:.0f} MB, {files} files, {threads} threads", flush=True)
    return memory, files, threads


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=500)
    runs = options.parse_args().runs
    pair = load_pair()
    kinds = [(method, prompt, settings) for prompt in PROMPTS for settings in (GREEDY, DRAWN) for method in METHODS]
    found = []
    for number, (method, prompt, settings) in zip(range(runs + len(kinds)), itertools.cycle(kinds), strict=False):
        if number >= len(kinds) and (number - len(kinds)) % 100 == 0:
            found.append(told(number - len(kinds)))
        with closing(runner.stream(pair, method, prompt, settings)) as events:
            for place, _ in enumerate(events):
                # Every fifth is left in the middle.
                if number % 5 == 4 and place == 3:
                    break
    found.append(told(runs))
    (before, *level), (after, *now) = found[0], found[-1]
    return int(after > ALLOWED * before or now != level)


if __name__ == "__main__":
    sys.exit(main())
