"""Whether costs that were begun on a busy machine are true soon after it is quiet.

    python -m tests.benchmarks.disturbed_start [--rounds 5] [--max-new-tokens 64]

One engine starts with an empty cache beside two busy loops, and runs each method three times. The loops end, and each
method runs three times more. Then this engine and one that starts on the quiet machine, with an empty cache of its
own, write the same answers in alternation: medians of the ratios of tokens a second. Both have a process of their own.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from statistics import median

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.trace.metrics import metrics
from tests.benchmarks.harness import alternated, arguments, busy, questions, ratios

METHODS = ("duodecoding", "speculative", "duotree")
RUNS = 3


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
        while request := pipe.recv():
            method, prompt, tokens = request
            waited.clear()
            trace = runner.collect(runner.stream(engine, method, prompt, Settings(max_new_tokens=tokens)))
            pipe.send((metrics(trace)["tps"], sum(waited)))


@contextmanager
def started(tokens: int):
    """An engine in a process of its own; gives a function that runs a method on a prompt."""
    context = multiprocessing.get_context("spawn")
    pipe, child = context.Pipe()
    with tempfile.TemporaryDirectory() as cache:
        process = context.Process(target=serve, args=(child, cache))
        process.start()

        def run(method: str, prompt: str) -> tuple[float, float]:
            pipe.send((method, prompt, tokens))
            return pipe.recv()

        yield run
        pipe.send(None)
        process.join()


def main() -> int:
    options = arguments(__doc__, rounds=5, max_new_tokens=64).parse_args()
    prompts = questions(options.rounds)[: 2 * options.rounds]

    def measuring(run) -> float:
        """The longest measuring before one of these runs, in seconds."""
        return max(run(method, prompts[0])[1] for method in METHODS for _ in range(RUNS))

    with ExitStack() as stack:
        with busy(2):
            disturbed = stack.enter_context(started(options.max_new_tokens))
            beside = measuring(disturbed)
        measuring(disturbed)
        fresh = stack.enter_context(started(options.max_new_tokens))
        print(f"{runner.versions()}, {len(prompts)} prompts, {options.max_new_tokens} tokens")
        print(f"longest measuring before a run: {beside:.2f} s beside the loops, {measuring(fresh):.2f} s without them")
        far = 0
        for method in METHODS:
            found = alternated({"fresh": partial(fresh, method), "disturbed": partial(disturbed, method)}, prompts)
            shares = ratios(*([speed for speed, _ in found[name]] for name in ("disturbed", "fresh")))
            far += median(shares) < 0.97
            print(
                f"{method}: {median(shares):.3f} of the speed with fresh costs ({min(shares):.2f} to {max(shares):.2f})"
            )
    return int(far > 0)


if __name__ == "__main__":
    sys.exit(main())
