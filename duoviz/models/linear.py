"""Matrix products: float (plain or packed) and int8 weight-only."""

import hashlib
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models import torch_internals
from duoviz.models.cache import cache_folder, measured_once, recall, remember
from duoviz.models.cores import machine_name

ROW_COUNTS = (1, 2, 4, 8, 16, 32)
# With up to so many rows, adding rows of zeros can pay.
LARGEST_PADDING = 8
# How often each row count is timed at most, and up to which ratio two of them count as equally fast.
MOST_ROUNDS, SAME = 6, 1.05
# int8 matrices have a multiple of this many columns.
INT8_COLUMNS = 32

# For each of ROW_COUNTS with how many rows to multiply; empty where that was not timed.
Padding = dict[int, int]


class FloatLinear:
    """y = x Wᵀ + b in one float precision, by torch's kernel or, once packed, by oneDNN's for packed weights.

    The packed kernel can take less time for a few rows more. It rounds differently with another number of
    rows, so that number is chosen once for a machine (see `fastest_padding`) and then kept.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        self.weight, self.bias = weight, bias
        self.shape, self.packed = tuple(weight.shape), False
        self.padding: Padding = {}

    def pack(self) -> None:
        """Lay the weight out in the blocks that oneDNN multiplies fastest, in place of the plain one."""
        if not self.packed:
            self.weight = torch_internals.packed(self.weight)
            self.packed = True

    def product(self, x: Tensor, rows: int) -> Tensor:
        """The product, computed with `rows` rows at least: zeros are added and cut off again."""
        if x.shape[0] < rows:
            return self.product(F.pad(x, (0, 0, 0, rows - x.shape[0])), rows)[: x.shape[0]]
        if self.packed:
            return torch_internals.packed_product(x, self.weight, self.bias)
        return F.linear(x, self.weight, self.bias)

    def __call__(self, x: Tensor) -> Tensor:
        return self.product(x, self.padding.get(row_class(x.shape[0]), 0))


class Int8Linear:
    """y = x (W·scale)ᵀ + b with int8 weights, one scale a row, and bfloat16 activations."""

    def __init__(self, weight: Tensor, scale: Tensor, bias: Tensor | None = None):
        # torch's kernel computes nonsense, or crashes, where the columns do not fill its blocks.
        self.missing_columns = -weight.shape[1] % INT8_COLUMNS
        self.weight = F.pad(weight, (0, self.missing_columns)).contiguous()
        self.scale, self.bias = scale.to(torch.bfloat16), bias

    def __call__(self, x: Tensor) -> Tensor:
        if self.missing_columns:
            x = F.pad(x, (0, self.missing_columns))
        y = torch_internals.int8_product(x, self.weight, self.scale)
        return y if self.bias is None else y + self.bias


def row_class(rows: int) -> int:
    """The measured row count that stands for `rows`: the next one up, or the largest."""
    return next((count for count in ROW_COUNTS if count >= rows), ROW_COUNTS[-1])


def quantise_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 [out, in] and one float32 scale a row: weight ≈ int8 * scale[:, None]."""
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale


def can_pack(linear: FloatLinear) -> bool:
    """Whether oneDNN has a kernel for the packed matrix: float32, and only on x86 is it known to be the faster one."""
    weight = linear.weight
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return (
        x86 and torch.backends.mkldnn.is_available() and weight.dtype == torch.float32 and weight.device.type == "cpu"
    )


def fastest_padding(linears: Sequence[FloatLinear]) -> Padding:
    """With how many rows to multiply, for each row count and the number of threads in force; packs the matrices.

    The choice is timed once for a machine, these shapes and this number of threads, then read from
    the cache folder, because another number of rows rounds differently. Empty where nothing can be packed.
    """
    if not all(linear.packed or can_pack(linear) for linear in linears):
        return {}
    for linear in linears:
        linear.pack()
    shapes = sorted({linear.shape for linear in linears})
    key = f"{machine_name()} {torch.__version__} {torch.get_num_threads()} {shapes} {len(linears)}"
    file = cache_folder() / f"padding-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"

    def measure() -> Padding:
        padding = timed_padding(linears)
        remember(file, {"for": key, "rows": list(padding.values())})
        return padding

    return measured_once(lambda: stored_padding(file), measure)


def stored_padding(file: Path) -> Padding | None:
    """The choice in a cache file, or None where it is missing, damaged or was never timed."""
    try:
        padding = dict(zip(ROW_COUNTS, recall(file)["rows"], strict=True))
    except (ValueError, KeyError, TypeError):
        return None
    possible = all(type(chosen) is int and chosen in candidates(rows) for rows, chosen in padding.items())
    return padding if possible else None


def candidates(rows: int) -> list[int]:
    """The row counts that `rows` rows may be computed with."""
    return [rows, *(count for count in ROW_COUNTS if rows < count <= LARGEST_PADDING)]


@torch.inference_mode()
def timed_padding(linears: Sequence[FloatLinear]) -> Padding:
    """For each row count the one that multiplies all the matrices in the least time.

    All are timed in alternated rounds, the first of which does not count, until it is clear for each which
    is the fastest, or that it does not matter.
    """
    times: dict[int, list[float]] = {rows: [] for rows in ROW_COUNTS if rows <= LARGEST_PADDING}
    for number in range(1 + MOST_ROUNDS):
        for rows, taken in times.items():
            seconds = time_of(rows, linears)
            if number:
                taken.append(seconds)
        if number >= 2 and all(is_clear([times[each] for each in candidates(rows)]) for rows in times):
            break
    chosen = {rows: min(candidates(rows), key=lambda each: median(times[each])) for rows in times}
    return {rows: chosen.get(rows, rows) for rows in ROW_COUNTS}


def time_of(rows: int, linears: Sequence[FloatLinear]) -> float:
    """Seconds to multiply all the matrices by so many rows."""
    inputs = {size: torch.randn(rows, size) for size in {linear.shape[1] for linear in linears}}
    start = time.perf_counter()
    for linear in linears:
        linear.product(inputs[linear.shape[1]], rows)
    return time.perf_counter() - start


def is_clear(times: Sequence[Sequence[float]]) -> bool:
    """Whether one series of times lies below all others, or is as good as any other."""
    best, *others = sorted(times, key=median)
    return all(max(best) < min(other) or median(other) < SAME * median(best) for other in others)
