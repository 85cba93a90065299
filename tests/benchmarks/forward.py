"""Where a forward's time goes: the products beside a plain read of the same weights, and everything else.

    python -m tests.benchmarks.forward [--pair NAME] [--context 128] [--rounds 15]

For the target and the draft, on one core and on all, after `--context` tokens: milliseconds, medians of rounds in
which all row counts take turns. Of a target on a GPU: the forwards, and how fast the weights are read.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit

from duoviz import load_engine
from duoviz.models import kernels
from duoviz.models.barrier import wait_for_all
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.team import team
from duoviz.models.tiles import PANEL
from duoviz.models.weights import Matrix
from tests.benchmarks.harness import arguments, machine, milliseconds

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


def products_of(weights, rows: int, most: int) -> Callable[[], None]:
    """What computes the products of a forward over so many rows, on the cores in force and at most so many threads."""
    inner, wide = weights.down.shape[2] * weights.down.shape[4], max(weights.qkv.shape[1], weights.gate_up.shape[1])
    widths = weights.attention_norm.shape[1], inner, wide * PANEL, len(weights.head) * PANEL
    return partial(team(most).run, products, weights, *(np.ones((rows, width), np.float32) for width in widths))


def forwards(model: LanguageModel, context: int) -> dict[tuple, Callable[[], object]]:
    """A forward over each number of rows, after so many tokens."""
    model.crop(0)
    model.forward([3] * context, rows=[0])

    def forward(rows: int) -> None:
        model.forward([3] * rows).cpu()
        model.crop(context)

    return {("forward", rows): partial(forward, rows) for rows in ROWS}


def measure(name: str, model: LanguageModel, context: int, rounds: int) -> None:
    """Print a line for each row count, on the cores in force."""
    weights, most = model.decoder.weights, model.decoder.most_threads(1)
    matrices = [weights.qkv, weights.out, weights.gate_up, weights.down, weights.head]
    flat = tuple(each.reshape(-1).view(np.int64) for each in matrices)
    works = forwards(model, context) | {("products", rows): products_of(weights, rows, most) for rows in ROWS}
    taken = milliseconds(works | {("read",): partial(team(most).run, read, flat, np.zeros(64, np.int64))}, rounds)
    size, plain = sum(each.nbytes for each in matrices) / 1e6, taken["read",]
    print(f"\n{name}, {team(most).threads} threads: {size:.0f} MB, a plain read {plain:.2f} ms")
    print(f"{'rows':>6}{'forward':>9}{'products':>10}{'of a read':>11}{'else':>8}{'':>7}{'T(n)/T(1)':>11}")
    for rows in ROWS:
        whole, part = taken["forward", rows], taken["products", rows]
        rest = whole - part
        print(f"{rows:6}{whole:9.2f}{part:10.2f}{part / plain:11.2f}{rest:8.2f}{rest / whole:7.0%}", end="")
        print(f"{whole / taken['forward', 1]:11.2f}")


def measure_on_gpu(model: LanguageModel, context: int, rounds: int) -> None:
    """Print the target's forwards on a GPU, and how fast its weights are read."""
    layers = (part.weight for layer in model.decoder.layers for part in layer if isinstance(part, Matrix))
    size = sum(each.nbytes for each in (model.decoder.head, *layers))
    taken = milliseconds(forwards(model, context), rounds)
    one = taken["forward", 1]
    print(f"\ntarget, {model.precision}: {size / 1e9:.2f} GB, read at {size / one / 1e9:.2f} TB/s by one row")
    for (_, rows), each in taken.items():
        print(f"{rows:6}{each:9.2f} ms{each / one:11.2f}")


def main() -> None:
    options = arguments(__doc__, pair="embedded", context=128, rounds=15).parse_args()
    pair = load_engine(options.pair).pair
    print(f"{machine(pair)}, after {options.context} tokens")
    models = [("target", pair.target), ("draft", pair.draft.load().model)]
    if pair.target.device != "cpu":
        measure_on_gpu(models.pop(0)[1], options.context, options.rounds)
    for name, model in models:
        for cores in (pair.cores.all[-1:], pair.cores.all):
            with on_cores(cores):
                measure(name, model, options.context, options.rounds)


if __name__ == "__main__":
    main()
