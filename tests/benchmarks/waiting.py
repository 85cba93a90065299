"""What it costs that torch's threads spin while they wait for each other: vanilla on all cores, quiet and beside
busy loops, with several ways of waiting in alternation.

    python -m tests.benchmarks.waiting [--rounds 5] [--neighbours 2]
"""

import argparse
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from statistics import median

TOKENS = 24
# Each way of waiting, as variables of the environment; duoviz leaves alone what is set.
WAYS = {
    "torch's own": {"GOMP_SPINCOUNT": "300000"},
    "8,000 rounds": {"GOMP_SPINCOUNT": "8000"},
    "500 rounds": {"GOMP_SPINCOUNT": "500"},
    "none": {"OMP_WAIT_POLICY": "PASSIVE"},
    "duoviz's": {},
}


def child(threads: int) -> None:
    """Run vanilla once for each line on stdin, and print its tokens a second."""
    from duoviz import Settings, load_pair, runner

    pair = load_pair("embedded")
    cores = pair.cores.all if threads != 1 else pair.cores.target
    settings = Settings(max_new_tokens=TOKENS, cores="all" if cores == pair.cores.all else "target")
    print("ready", flush=True)
    for _ in sys.stdin:
        trace = runner.collect(runner.stream(pair, "vanilla", "Why is the sky blue?", settings))
        print(runner.summary(trace)["metrics"]["tps"], flush=True)


def started(way: dict[str, str], threads: int = 0) -> subprocess.Popen:
    unset = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    command = [sys.executable, "-m", "tests.benchmarks.waiting", "--child", str(threads)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=unset | way)


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
        children = {name: stack.enter_context(started(way)) for name, way in WAYS.items()}
        children["one thread"] = stack.enter_context(started({}, threads=1))
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
    best = median(quiet["torch's own"])
    print(f"tokens/s of vanilla on all cores, medians; the ratios are to torch's own waiting, quiet ({best:.1f})")
    print(f"{'waiting':14}{'quiet':>8}{'ratio':>7}  {f'beside {neighbours} busy loops':>20}{'ratio':>7}")
    for name in quiet:
        alone, shared = median(quiet[name]), median(beside[name])
        print(f"{name:14}{alone:8.1f}{alone / best:7.2f}  {shared:20.1f}{shared / best:7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--neighbours", type=int, default=2)
    parser.add_argument("--child", type=int)
    options = parser.parse_args()
    if options.child is None:
        measure(options.rounds, options.neighbours)
    else:
        child(options.child)
