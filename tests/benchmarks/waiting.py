"""What it costs that the threads of a forward wait for each other: vanilla on all cores, quiet and beside busy loops,
with several numbers of looks before a thread sleeps, in alternation.

    python -m tests.benchmarks.waiting [--rounds 5] [--neighbours 2]
"""

import argparse
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

TOKENS = 48
NEVER = 1 << 60
# How often a thread looks before it sleeps (`barrier.SPINS`); None: as duoviz has it.
WAYS = {"never sleeps": NEVER, "duoviz's": None, "40,000 looks": 40_000, "400 looks": 400, "sleeps at once": 0}


def child(spins: int | None, cores: str, code: Path) -> None:
    """Run vanilla once for each line on stdin, and print its tokens a second. code: a folder for what is compiled."""
    from duoviz import Settings, load_engine, runner, runs
    from duoviz.models import barrier, machine_code

    machine_code.cache_folder = lambda: code
    if spins is not None:
        barrier.SPINS = spins
    engine = load_engine("embedded")
    settings = Settings(max_new_tokens=TOKENS, cores=cores)
    print("ready", flush=True)
    for _ in sys.stdin:
        trace = runner.collect(runner.stream(engine, "vanilla", "Why is the sky blue?", settings))
        print(runs.summary(trace)["metrics"]["tps"], flush=True)


def started(spins: int | None, cores: str, cache: Path) -> subprocess.Popen:
    """A child with a cache of compiled code of its own, for what is compiled depends on the number of looks."""
    code = ["--code", str(cache / str(spins))]
    command = [sys.executable, "-m", "tests.benchmarks.waiting", "--child", str(spins), "--cores", cores, *code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen) -> str:
    return process.stdout.readline().strip()


@contextmanager
def busy(neighbours: int):
    """Loops beside the runs that never wait."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(neighbours)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def speed(process: subprocess.Popen) -> float:
    process.stdin.write("\n")
    process.stdin.flush()
    return float(answer(process))


def measure(rounds: int, neighbours: int) -> None:
    with ExitStack() as stack:
        cache = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        children = {name: stack.enter_context(started(spins, "all", cache)) for name, spins in WAYS.items()}
        children["one thread"] = stack.enter_context(started(None, "target", cache))
        for process in children.values():
            stack.callback(process.kill)
            answer(process)
            speed(process)
        quiet, beside = ({name: [] for name in children} for _ in range(2))
        for number in range(rounds):
            order = list(children) if number % 2 == 0 else list(children)[::-1]
            for name in order:
                quiet[name].append(speed(children[name]))
            with busy(neighbours):
                for name in order:
                    beside[name].append(speed(children[name]))
    report(quiet, beside, neighbours)


def report(quiet: dict[str, list[float]], beside: dict[str, list[float]], neighbours: int) -> None:
    best = median(quiet["never sleeps"])
    print(f"tokens/s of vanilla on all cores, medians; the ratios are to threads that never sleep, quiet ({best:.1f})")
    print(f"{'waiting':14}{'quiet':>8}{'ratio':>7}  {f'beside {neighbours} busy loops':>20}{'ratio':>7}")
    for name in quiet:
        alone, shared = median(quiet[name]), median(beside[name])
        print(f"{name:14}{alone:8.1f}{alone / best:7.2f}  {shared:20.1f}{shared / best:7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--neighbours", type=int, default=2)
    parser.add_argument("--child")
    parser.add_argument("--cores", default="all")
    parser.add_argument("--code", type=Path)
    options = parser.parse_args()
    if options.child is None:
        measure(options.rounds, options.neighbours)
    else:
        child(None if options.child == "None" else int(options.child), options.cores, options.code)
