"""The time to the first token of every method, and of transformers.generate, by the prompt's length.

    python -m tests.benchmarks.first_token [--lengths 64,256,1000] [--rounds 7] [--methods NAME,…]

The prompts are beginnings of one long text. Methods are alternated, each round beginning with another one, after a
round to warm up; the table gives medians, and how many times vanilla's on all cores they are.
"""

import argparse
from statistics import median

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import Pair, load_pair
from tests.benchmarks.methods import tasked
from tests.benchmarks.transformers_rows import TransformersRows

TOKENS = 4


def prompt_of(pair: Pair, tokens: int) -> str:
    """The beginning of a text that makes a prompt of so many tokens, the chat's own among them, or hardly fewer."""
    words = " ".join(prompt for task, prompt in tasked(12) if task == "summarization").split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(pair.encode(" ".join(words[:middle]))) <= tokens else (low, middle - 1)
    return " ".join(words[:low])


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--lengths", default="64,256,1000")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--methods", default=",".join(METHODS))
    options = options.parse_args()
    pair, settings = load_pair("embedded"), Settings(max_new_tokens=TOKENS)
    runner.settle(pair, options.methods.split(","), settings)
    lanes = runner.lanes(options.methods.split(","), settings)
    lanes[1] = lanes[1]._replace(name="vanilla, target's cores")
    other = TransformersRows(pair, TOKENS)
    print(f"{runner.versions()}, {pair.cores}")
    for length in map(int, options.lengths.split(",")):
        prompt = prompt_of(pair, length)
        rounds = []
        for number in range(options.rounds + 1):
            turned = [*lanes[number % len(lanes) :], *lanes[: number % len(lanes)]]
            rows = [*runner.compare(pair, [prompt], turned, warmups=0), *other.rows(prompt, warmup=False)]
            rounds += [rows] if number else []
        times = {name: [] for name in [lane.name for lane in lanes] + list(other.options)}
        for rows in rounds:
            for row in rows:
                times[row["method"]].append(row["metrics"]["ttft"])
        base = median(times["vanilla"])
        print(f"\n{len(pair.encode(prompt))} tokens")
        for name, found in times.items():
            print(f"  {name:36} {1000 * median(found):7.1f} ms  {median(found) / base:5.2f}")


if __name__ == "__main__":
    main()
