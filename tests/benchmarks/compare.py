"""Every method against vanilla through the same code as the Compare tab: how often the texts are equal, tie or defect.

    python -m tests.benchmarks.compare [--prompts 20] [--max-new-tokens 96] [--methods NAME,…]

Runs greedy and sampled (T = 0.8), on prompts spread over the seven tasks. Prints the counts of each
method as they grow and exits with 1 on a defect; every tie and every defect is told with its place and margin.
"""

import argparse
import sys
from collections import Counter

from duoviz import runner
from duoviz.comparison import against_vanilla
from duoviz.decoding import METHODS
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import load_pair
from duoviz.trace.agreement import VERDICTS, sentence
from tests.benchmarks.methods import questions, spread

TEMPERATURES = (0.0, 0.8)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--prompts", type=int, default=20)
    options.add_argument("--max-new-tokens", type=int, default=96)
    options.add_argument("--methods", default=",".join(METHODS))
    options = options.parse_args()
    pair = load_pair()
    counts: Counter = Counter()
    positions: Counter = Counter()
    for number, prompt in enumerate(spread(questions(6), options.prompts), 1):
        for temperature in TEMPERATURES:
            settings = Settings(max_new_tokens=options.max_new_tokens, temperature=temperature)
            lanes = runner.lanes(options.methods.split(","), settings)
            rows = list(runner.compare(pair, [prompt], lanes, warmups=int(number == 1)))
            for found in against_vanilla(pair, rows):
                lane = found["method"], found["cores"], temperature
                counts[*lane, found["verdict"]] += 1
                positions[lane] += found["tokens"]
                if found["verdict"] != "equal":
                    print(f"{lane}, {prompt[:60]!r}: {sentence(found)}", flush=True)
        print(f"{number} of {options.prompts}", end="\r", flush=True)
    print(f"δ = {runtime(pair).delta or 'not needed'}; {runner.versions()}, {pair.cores}")
    print(f"{'method':14} {'cores':7} {'T':>4} {'positions':>10} " + " ".join(f"{verdict:>13}" for verdict in VERDICTS))
    for lane in positions:
        method, cores, temperature = lane
        found = " ".join(f"{counts[*lane, verdict]:13}" for verdict in VERDICTS)
        print(f"{method:14} {cores:7} {temperature:4} {positions[lane]:10,} {found}")
    return int(any(verdict == "defect" for *_, verdict in counts))


if __name__ == "__main__":
    sys.exit(main())
