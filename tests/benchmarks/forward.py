"""Where a forward's time goes: the products beside a plain read of the same weights, and everything else.

    python -m tests.benchmarks.forward [--pair NAME] [--context 128] [--rounds 15]

For the target and the draft, on one core and on all, after `--context` tokens: milliseconds, medians of rounds in
which all row counts take turns. Of a target on a GPU: the forwards, and the share of the memory's speed that the
weights are read at. Then what lies between two forwards in a run of vanilla.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np
from numba import njit

from duoviz import Engine, Settings, load_engine, runner
from duoviz.models import kernels
from duoviz.models.barrier import wait_for_all
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.team import team
from duoviz.models.tiles import PANEL
from duoviz.models.weights import Matrix
from tests.benchmarks.harness import arguments, machine

ROWS = (1, 2, 4, 8, 16)


@njit(nogil=True)
def products(model, x, inner, y, logits, meeting, rank, threads):
    """One thread's part of a forward's products, and nothing else of it."""
    none = model.norm[:0]
    for layer in range(len(model.qkv)):
        for x_of, panels, scale, bias in (
            (x, model.qkv, model.qkv_scale, model.qkv_bias),
            (x, model.out, model.out_scale, model.out_bias),
            (x, model.gate_up, model.gate_up_scale, model.gate_up_bias),
            (inner, model.down, model.down_scale, model.down_bias),
        ):
            wait_for_all(meeting, threads)
            first, last = kernels.own_range(panels.shape[1], rank, threads)
            kernels.product(x_of, panels[layer], scale[layer], bias[layer], y, first, last)
    wait_for_all(meeting, threads)
    first, last = kernels.own_range(len(model.head), rank, threads)
    kernels.product(x, model.head, model.head_scale, none, logits, first, last)
    wait_for_all(meeting, threads)


@njit(nogil=True)
def read(weights, totals, meeting, rank, threads):
    """One thread's part of a plain read: weights, int64 arrays of one dimension."""
    total = 0
    for each in weights:
        first, last = kernels.own_range(len(each), rank, threads)
        for value in each[first:last]:
            total += value
    totals[rank] = total
    wait_for_all(meeting, threads)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(name: str, model: LanguageModel, context: int, rounds: int) -> None:
    """Print a line for each row count, on the cores in force."""
    weights = model.decoder.weights
    matrices = [weights.qkv, weights.out, weights.gate_up, weights.down, weights.head]
    flat = tuple(each.reshape(-1).view(np.int64) for each in matrices)
    workers, width = team(model.decoder.most_threads(1)), weights.attention_norm.shape[1]
    wide = max(weights.qkv.shape[1], weights.gate_up.shape[1]) * PANEL
    model.crop(0)
    model.forward([3] * context, rows=[0])

    def forward(rows: int) -> None:
        model.forward([3] * rows)
        model.crop(context)

    works: dict[tuple, Callable[[], object]] = {("read",): lambda: workers.run(read, flat, np.zeros(64, np.int64))}
    for rows in ROWS:
        shapes = width, weights.down.shape[2] * weights.down.shape[4], wide, len(weights.head) * PANEL
        buffers = [np.ones((rows, columns), np.float32) for columns in shapes]
        works["products", rows] = lambda buffers=buffers: workers.run(products, weights, *buffers)
        works["forward", rows] = lambda rows=rows: forward(rows)
    times: dict[tuple, list[float]] = {}
    for _ in range(2 + rounds):
        for key, work in works.items():
            times.setdefault(key, []).append(seconds(work))
    taken = {key: 1e3 * median(each[2:]) for key, each in times.items()}
    size = sum(each.nbytes for each in matrices) / 1e6
    print(f"\n{name}, {workers.threads} threads: {size:.0f} MB, a plain read {taken['read',]:.2f} ms")
    print(f"{'rows':>6}{'forward':>9}{'products':>10}{'of a read':>11}{'else':>8}{'':>7}{'T(n)/T(1)':>11}")
    for rows in ROWS:
        whole, part = taken["forward", rows], taken["products", rows]
        print(
            f"{rows:6}{whole:9.2f}{part:10.2f}{part / taken['read',]:11.2f}{whole - part:8.2f}"
            f"{(whole - part) / whole:7.0%}{whole / taken['forward', 1]:11.2f}"
        )


def measure_on_gpu(model: LanguageModel, context: int, rounds: int) -> None:
    """Print the target's forwards on a GPU, and how fast its weights are read."""
    matrices = [
        model.decoder.head,
        *(part.weight for layer in model.decoder.layers for part in layer if isinstance(part, Matrix)),
    ]
    size = sum(each.nbytes for each in matrices)
    model.crop(0)
    model.forward([3] * context, rows=[0])
    times: dict[int, list[float]] = {}
    for _ in range(2 + rounds):
        for rows in (*ROWS, 32):
            times.setdefault(rows, []).append(seconds(lambda rows=rows: model.forward([3] * rows).cpu()))
            model.crop(context)
    taken = {rows: median(each[2:]) for rows, each in times.items()}
    print(f"\ntarget, {model.precision}: {size / 1e9:.2f} GB, read at {size / taken[1] / 1e12:.2f} TB/s by one row")
    for rows, each in taken.items():
        print(f"{rows:6}{1e3 * each:9.2f} ms{each / taken[1]:11.2f}")


def between_forwards(engine: Engine, cores: str) -> str:
    """How long vanilla takes between two forwards, in words."""
    run = runner.stream(engine, "vanilla", "Why is the sky blue?", Settings(max_new_tokens=96, cores=cores))
    spans = [each["target"] for each in runner.collect(run)["iterations"][1:]]
    gap = 1e3 * median(after["start"] - before["end"] for before, after in pairwise(spans))
    forward = 1e3 * median(span["end"] - span["start"] for span in spans)
    share = gap / (gap + forward)
    return f"vanilla, cores {cores}: {gap:.2f} ms between two forwards of {forward:.2f} ms ({share:.1%})"


def main() -> None:
    options = arguments(__doc__, pair="embedded", context=128, rounds=15).parse_args()
    engine = load_engine(options.pair)
    pair = engine.pair
    draft = pair.draft.load()
    print(f"{machine(pair)}, after {options.context} tokens")
    models = [("target, float32", pair.target), ("draft, int8", draft.model)]
    if pair.target.device != "cpu":
        measure_on_gpu(models.pop(0)[1], options.context, options.rounds)
    for name, model in models:
        for cores in (pair.cores.all[-1:], pair.cores.all):
            with on_cores(cores):
                measure(name, model, options.context, options.rounds)
    print()
    for cores in ("target", "all"):
        between_forwards(engine, cores)
        print(between_forwards(engine, cores))


if __name__ == "__main__":
    main()
