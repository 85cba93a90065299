"""The time to the first token of every method, and of transformers.generate, by the prompt's length.

    python -m tests.benchmarks.first_token [--lengths 64,256,1000] [--rounds 8] [--methods NAME,…]

The prompts are beginnings of one long text. After a round to warm up, every run has one of vanilla's on all cores
beside it, which goes first in every second round; the methods come in another order each round. The table gives
medians, and how many times vanilla's they are: the median of the pairs, and the middle half of them. What vanilla
differs from itself is the machine's unrest.
"""

import argparse
import random
from collections.abc import Callable
from statistics import median, quantiles

from duoviz import runner, runs
from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.settings import Settings
from duoviz.models.pair import Pair
from duoviz.runner import Lane
from tests.benchmarks.methods import tasked
from tests.benchmarks.transformers_rows import TransformersRows

TOKENS = 4
VANILLA = "vanilla"


def prompt_of(pair: Pair, tokens: int) -> str:
    """The beginning of a text that makes a prompt of so many tokens, the chat's own among them, or hardly fewer."""
    words = " ".join(prompt for task, prompt in tasked(12) if task == "summarization").split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(pair.encode(" ".join(words[:middle]))) <= tokens else (low, middle - 1)
    return " ".join(words[:low])


def lanes_of(engine: Engine, methods: list[str], settings: Settings) -> dict[str, Callable[[str], float]]:
    """What is measured: from a prompt to the seconds until its first token."""

    def ours(lane: Lane) -> Callable[[str], float]:
        return lambda prompt: next(runner.compare(engine, [prompt], [lane], warmups=0))["metrics"]["ttft"]

    vanilla, shared, *others = runs.lanes(methods, settings)
    found = {VANILLA: ours(vanilla), "vanilla once more": ours(vanilla), "vanilla, the target's cores": ours(shared)}
    found |= {lane.name: ours(lane) for lane in others}
    theirs = TransformersRows(engine.pair, TOKENS)
    return found | {"transformers": lambda prompt: theirs.run(prompt, TOKENS, {})["metrics"]["ttft"]}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--lengths", default="64,256,1000")
    options.add_argument("--rounds", type=int, default=8)
    options.add_argument("--methods", default=",".join(METHODS))
    options = options.parse_args()
    engine, settings = load_engine("embedded"), Settings(max_new_tokens=TOKENS)
    pair = engine.pair
    lanes = lanes_of(engine, options.methods.split(","), settings)
    vanilla, order = lanes.pop(VANILLA), random.Random(0)
    print(f"{runner.versions()}, {pair.cores}")
    for length in map(int, options.lengths.split(",")):
        prompt = prompt_of(pair, length)
        times = {name: [] for name in lanes}
        for number in range(-1, options.rounds):
            for name in order.sample(list(lanes), len(lanes)):
                both = [vanilla, lanes[name]][:: 1 if number % 2 else -1]
                seconds = [each(prompt) for each in both][:: 1 if number % 2 else -1]
                times[name] += [seconds] if number >= 0 else []
        print(f"\n{len(pair.encode(prompt))} tokens")
        for name, pairs in times.items():
            low, middle, high = quantiles((mine / base for base, mine in pairs), n=4)
            usual = median(mine for _, mine in pairs)
            print(f"  {name:36} {1000 * usual:7.1f} ms  {middle:5.2f}  ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
