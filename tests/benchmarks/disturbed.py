"""How long a start beside other work is felt: each method with the costs learnt then, and with fresh ones.

    python -m tests.benchmarks.disturbed [--pairs 6] [--max-new-tokens 64] [--methods NAME,…]

Busy loops on every core disturb the first four runs; two undisturbed runs follow. Then runs with these costs alternate
with runs whose costs were learnt in an undisturbed start. Both kinds go on learning, as ever.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from unittest.mock import patch

from duoviz import Engine, Settings, load_engine, runner
from duoviz.decoding import engine as engines
from duoviz.decoding.costs import Costs
from duoviz.decoding.placement import Placement
from duoviz.trace.metrics import metrics
from tests.benchmarks.harness import alternated, arguments, machine, questions, ratios

DISTURBED, AFTER = 4, 2


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def speed(engine: Engine, costs: dict[Placement, Costs], method: str, prompt: str, settings: Settings) -> float:
    """Tokens/s of a run that begins with these costs and adds to them."""
    engine.kept_costs = costs
    return metrics(runner.collect(runner.stream(engine, method, prompt, settings)))["tps"]


def measured(engine: Engine, method: str, prompts: Sequence[str], settings: Settings) -> list[float]:
    """The ratios of a method's speeds, with the costs of a disturbed start over fresh ones, prompt by prompt."""
    disturbed: dict[Placement, Costs] = {}
    fresh: dict[Placement, Costs] = {}
    engine.taken = None
    with busy_loops(len(engine.pair.cores.all)):
        for prompt in prompts[:DISTURBED]:
            speed(engine, disturbed, method, prompt, settings)
    for prompt in prompts[:AFTER]:
        speed(engine, disturbed, method, prompt, settings)
        speed(engine, fresh, method, prompt, settings)
    speeds = alternated(
        {
            "disturbed": lambda prompt: speed(engine, disturbed, method, prompt, settings),
            "fresh": lambda prompt: speed(engine, fresh, method, prompt, settings),
        },
        prompts,
    )
    return ratios(speeds["disturbed"], speeds["fresh"])


def main() -> None:
    options = arguments(__doc__, pairs=6, max_new_tokens=64, methods="speculative,duodecoding,duotree").parse_args()
    settings, prompts = Settings(max_new_tokens=options.max_new_tokens), questions(1)[: options.pairs]
    # What an earlier process learnt is left aside.
    with patch.object(engines, "recall_costs", lambda file: Costs()), load_engine() as engine:
        print(machine(engine.pair))
        for method in options.methods.split(","):
            found = sorted(measured(engine, method, prompts, settings))
            print(f"{method:14} {median(found):.3f}  ({', '.join(f'{each:.2f}' for each in found)})", flush=True)


if __name__ == "__main__":
    main()
