"""Whether costs that were begun on a busy machine are true soon after it is quiet.

    python -m tests.benchmarks.disturbed_start [--rounds 5] [--max-new-tokens 64]

One engine starts with an empty cache beside two busy loops, and runs each method three times. The loops end, and each
method runs three times more. Then this engine and one that starts on the quiet machine, with an empty cache of its
own, write the same answers in alternation: medians of the ratios of tokens a second. Both have a process of their own.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from statistics import median

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.trace.metrics import metrics
from tests.benchmarks.methods import questions

METHODS = ("duodecoding", "speculative", "duotree")
RUNS = 3


def spin() -> None:
    """A busy loop."""
    while True:
        pass


def serve(pipe: Connection, cache: str) -> None:
    """Load an engine, then answer (method, prompt, tokens) with tokens a second and the seconds of measuring before."""
    os.environ["DUOVIZ_CACHE"] = cache
    with load_engine(draft=True) as engine:
        calibrate, waited = engine.calibrate, []

        def timed(*arguments, **options):
            begin = time.perf_counter()
            calibrate(*arguments, **options)
            waited.append(time.perf_counter() - begin)

        engine.calibrate = timed
        pipe.send("ready")
        while request := pipe.recv():
            method, prompt, tokens = request
            waited.clear()
            trace = runner.collect(runner.stream(engine, method, prompt, Settings(max_new_tokens=tokens)))
            pipe.send((metrics(trace)["tps"], sum(waited)))


@contextmanager
def started(cache: str):
    """An engine in a process of its own; gives a function that runs a method on a prompt."""
    context = multiprocessing.get_context("spawn")
    pipe, child = context.Pipe()
    process = context.Process(target=serve, args=(child, cache))
    process.start()
    pipe.recv()

    def run(method: str, prompt: str, tokens: int) -> tuple[float, float]:
        pipe.send((method, prompt, tokens))
        return pipe.recv()

    yield run
    pipe.send(None)
    process.join()


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--max-new-tokens", type=int, default=64)
    options = options.parse_args()
    prompts = questions(options.rounds)[: 2 * options.rounds]
    with ExitStack() as stack:
        caches = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        loops = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(2)]
        for loop in loops:
            loop.start()
        disturbed = stack.enter_context(started(caches[0]))
        waits = [disturbed(method, prompts[0], options.max_new_tokens)[1] for method in METHODS for _ in range(RUNS)]
        for loop in loops:
            loop.kill()
            loop.join()
        for method in METHODS:
            for _ in range(RUNS):
                disturbed(method, prompts[0], options.max_new_tokens)
        fresh = stack.enter_context(started(caches[1]))
        quiet = [fresh(method, prompts[0], options.max_new_tokens)[1] for method in METHODS for _ in range(RUNS)]
        print(f"{runner.versions()}, {len(prompts)} prompts, {options.max_new_tokens} tokens")
        print(f"longest measuring before a run: {max(waits):.2f} s beside the loops, {max(quiet):.2f} s without them")
        far = 0
        for method in METHODS:
            ratios = []
            for number, prompt in enumerate(prompts):
                pair = (disturbed, fresh) if number % 2 else (fresh, disturbed)
                speeds = {run: run(method, prompt, options.max_new_tokens)[0] for run in pair}
                ratios.append(speeds[disturbed] / speeds[fresh])
            far += median(ratios) < 0.97
            print(
                f"{method}: {median(ratios):.3f} of the speed with fresh costs ({min(ratios):.2f} to {max(ratios):.2f})"
            )
    return int(far > 0)


if __name__ == "__main__":
    sys.exit(main())
