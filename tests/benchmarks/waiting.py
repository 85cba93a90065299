"""What it costs that the threads of a forward wait for each other: vanilla on all cores, quiet and beside busy loops,
with several numbers of looks before a thread sleeps, in alternation.

    python -m tests.benchmarks.waiting [--rounds 5] [--neighbours 2]
"""

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median

from tests.benchmarks.harness import alternated, arguments, busy

TOKENS = 48
NEVER = 1 << 60
# How often a thread looks before it sleeps (`barrier.SPINS`), -1: as duoviz has it; and the target's cores.
WAYS = {
    "never sleeps": (NEVER, "all"), "duoviz's": (-1, "all"), "40,000 looks": (40_000, "all"), "400 looks": (400, "all"),
    "sleeps at once": (0, "all"), "one thread": (-1, "target"),
}  # fmt: skip


def child(spins: int, cores: str, code: Path) -> None:
    """Run vanilla once for each line on stdin, and print its tokens a second. code: a folder for what is compiled."""
    from duoviz import Settings, load_engine, runner, runs
    from duoviz.models import barrier, machine_code

    machine_code.cache_folder = lambda: code
    if spins >= 0:
        barrier.SPINS = spins
    engine, settings = load_engine("embedded"), Settings(max_new_tokens=TOKENS, cores=cores)
    for _ in sys.stdin:
        trace = runner.collect(runner.stream(engine, "vanilla", "Why is the sky blue?", settings))
        print(runs.summary(trace)["metrics"]["tps"], flush=True)


def started(spins: int, cores: str, cache: Path) -> subprocess.Popen:
    """A child with a cache of compiled code of its own, for what is compiled depends on the number of looks."""
    how = ["--child", "--spins", str(spins), "--cores", cores, "--code", str(cache / f"{spins}-{cores}")]
    command = [sys.executable, "-m", "tests.benchmarks.waiting", *how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def speed(process: subprocess.Popen, _: object = None) -> float:
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    parser = arguments(__doc__, rounds=5, neighbours=2, child=False, spins=-1, cores="all", code=Path())
    options = parser.parse_args()
    if options.child:
        return child(options.spins, options.cores, options.code)
    with ExitStack() as stack:
        cache = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        works = {}
        for name, how in WAYS.items():
            process = stack.enter_context(started(*how, cache))
            stack.callback(process.kill)
            speed(process)
            works[name] = partial(speed, process)
        quiet, beside = ({name: [] for name in works} for _ in range(2))
        for number in range(options.rounds):
            for found, neighbours in ((quiet, 0), (beside, options.neighbours)):
                with busy(neighbours):
                    for name, speeds in alternated(works, [None], first=number).items():
                        found[name] += speeds
    best = median(quiet["never sleeps"])
    print(f"tokens/s of vanilla on all cores, medians; the ratios are to threads that never sleep, quiet ({best:.1f})")
    print(f"{'waiting':14}{'quiet':>8}{'ratio':>7}  {f'beside {options.neighbours} busy loops':>20}{'ratio':>7}")
    for name in quiet:
        alone, shared = median(quiet[name]), median(beside[name])
        print(f"{name:14}{alone:8.1f}{alone / best:7.2f}  {shared:20.1f}{shared / best:7.2f}")


if __name__ == "__main__":
    main()
