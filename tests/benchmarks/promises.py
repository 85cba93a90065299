"""What DuoTree's chances promised, and what the target wrote, on every prompt.

    python -m tests.benchmarks.promises [--temperature 0] [--max-new-tokens 128] [--prompts 84]

Counted are the tokens that were checked after a verified token, in ten bins of chance; none of the prompts was used to
fit the table. No time is measured.
"""

import sys

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from tests.benchmarks.harness import arguments, machine, questions, spread

# Of fewer tokens a bin says little.
ENOUGH = 100


def promises(iterations: list[dict]) -> list[tuple[float, float, int]]:
    """In ten bins of chance: the mean chance of the tokens checked after a verified token, how many of them the
    target wrote, and how many they are."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(10)]
    for each in iterations:
        nodes = each["checked"]
        for node in nodes:
            if "chance" in node and (node["parent"] < 0 or nodes[node["parent"]]["status"] == "accepted"):
                bins[min(9, int(10 * node["chance"]))].append((node["chance"], node["status"] == "accepted"))
    return [(*(sum(column) / len(found) for column in zip(*found, strict=True)), len(found)) for found in bins if found]


def main() -> int:
    options = arguments(__doc__, temperature=0.0, max_new_tokens=128, prompts=84).parse_args()
    engine = load_engine()
    settings = Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)
    iterations = []
    for prompt in spread(questions(12), options.prompts):
        iterations += runner.collect(runner.stream(engine, "duotree", prompt, settings))["iterations"]
    found = promises(iterations)
    print(f"{machine(engine.pair)}, temperature {options.temperature}, {options.prompts} prompts")
    for promised, seen, count in found:
        print(f"  promised {promised:.3f}, seen {seen:.3f} ({count:,} tokens)")
    largest = max((abs(promised - seen) for promised, seen, count in found if count >= ENOUGH), default=0.0)
    print(f"  at most {100 * largest:.1f} points apart where there are {ENOUGH} tokens")
    return int(largest > 0.05)


if __name__ == "__main__":
    sys.exit(main())
