"""What it costs that the threads of a forward wait for each other: vanilla on all cores, quiet and beside busy loops,
with several numbers of looks before a thread sleeps, in alternation.

    python -m tests.benchmarks.waiting [--rounds 5] [--neighbours 2]
"""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from duoviz import Settings, load_engine, runner
from duoviz.models import barrier, machine_code
from duoviz.trace.metrics import metrics
from tests.benchmarks.harness import alternated, arguments, busy

TOKENS = 48
# How often a thread looks before it sleeps (`barrier.SPINS`), and the target's cores.
WAYS = {
    "never sleeps": (1 << 60, "all"), "duoviz's": (barrier.SPINS, "all"), "40,000 looks": (40_000, "all"),
    "400 looks": (400, "all"), "sleeps at once": (0, "all"), "one thread": (barrier.SPINS, "target"),
}  # fmt: skip


def load(spins: int, cores: str, code: Path) -> None:
    """In a process of its own. code: a folder for what is compiled, which depends on the number of looks."""
    global vanilla
    barrier.SPINS, machine_code.cache_folder = spins, lambda: code
    engine, settings = load_engine(), Settings(max_new_tokens=TOKENS, cores=cores)
    vanilla = lambda: runner.stream(engine, "vanilla", "Why is the sky blue?", settings)  # noqa: E731


def speed() -> float:
    """Tokens a second, in the process that has loaded."""
    return metrics(runner.collect(vanilla()))["tps"]


def main() -> None:
    options = arguments(__doc__, rounds=5, neighbours=2).parse_args()
    with ExitStack() as stack:
        cache, works = Path(stack.enter_context(tempfile.TemporaryDirectory())), {}
        for number, (name, way) in enumerate(WAYS.items()):
            loaded = (*way, cache / str(number))
            process = ProcessPoolExecutor(1, get_context("spawn"), initializer=load, initargs=loaded)
            works[name] = lambda _, pool=stack.enter_context(process): pool.submit(speed).result()
        alternated(works, [0])
        quiet, beside = ({name: [] for name in works} for _ in range(2))
        for number in range(options.rounds):
            for found, neighbours in ((quiet, 0), (beside, options.neighbours)):
                with busy(neighbours):
                    for name, speeds in alternated(works, [neighbours], first=number).items():
                        found[name] += speeds
    best = median(quiet["never sleeps"])
    print(f"{runner.versions()}, tokens/s of vanilla, medians; ratios to threads that never sleep, quiet ({best:.1f})")
    print(f"{'waiting':14}{'quiet':>8}{'ratio':>7}  {f'beside {options.neighbours} busy loops':>20}{'ratio':>7}")
    for name in quiet:
        alone, shared = median(quiet[name]), median(beside[name])
        print(f"{name:14}{alone:8.1f}{alone / best:7.2f}  {shared:20.1f}{shared / best:7.2f}")


if __name__ == "__main__":
    main()
