"""What DuoTree's chances promised, and what the target wrote, on every prompt.

    python -m tests.benchmarks.promises [--temperature 0] [--max-new-tokens 128]

Counted are the tokens that were checked after a verified token, in ten bins of chance; none of the prompts was used to
fit the table. No time is measured.
"""

import argparse
import sys

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from tests.benchmarks.methods import promises, questions


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--temperature", type=float, default=0.0)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options = options.parse_args()
    engine = load_engine()
    settings = Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)
    iterations, prompts = [], questions(12)
    for number, prompt in enumerate(prompts, 1):
        iterations += runner.collect(runner.stream(engine, "duotree", prompt, settings))["iterations"]
        print(f"{number} of {len(prompts)}", end="\r", flush=True)
    found = promises(iterations)
    print(f"{runner.versions()}, temperature {options.temperature}, {len(prompts)} prompts")
    for promised, seen, count in found:
        print(f"  promised {promised:.3f}, seen {seen:.3f} ({count:,} tokens)")
    largest = max(abs(promised - seen) for promised, seen, _ in found)
    print(f"  at most {100 * largest:.1f} points apart")
    return int(largest > 0.05)


if __name__ == "__main__":
    sys.exit(main())
