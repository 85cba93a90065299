"""Matrix kernels: float (plain or packed) and int8 weight-only."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models.cores import machine_name
from duoviz.models.embedded import cache_folder, remember

ROW_COUNTS = (1, 2, 4, 8, 16, 32)
# int8 matrices have a multiple of this many columns.
INT8_COLUMNS = 32


class Kernel(NamedTuple):
    """How to multiply: plain or packed, and with how many rows at least (a few more can cost less)."""

    packed: bool
    rows: int


# The kernel for each of ROW_COUNTS; empty where only the plain one exists.
Kernels = dict[int, Kernel]


class FloatLinear:
    """y = x Wᵀ + b in one float precision, by a plain or a packed kernel.

    Both kernels compute the same product in the same precision; they round differently, so the
    choice for a row count is made once for a machine (see `fastest_kernels`) and then kept.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        self.weight, self.bias = weight, bias
        self.packed: Tensor | None = None
        self.kernels: Kernels = {}

    def pack(self) -> None:
        """Lay the weight out in the blocks that oneDNN multiplies fastest; serves any number of rows."""
        if self.packed is None:
            self.packed = torch.ops.mkldnn._reorder_linear_weight(self.weight, 8)

    def plain_product(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def packed_product(self, x: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")

    def product(self, x: Tensor, kernel: "Kernel") -> Tensor:
        """The product by one kernel; with fewer rows than it wants, zeros are added and cut off again."""
        rows = x.shape[0]
        if rows < kernel.rows:
            return self.product(F.pad(x, (0, 0, 0, kernel.rows - rows)), kernel)[:rows]
        return self.packed_product(x) if kernel.packed else self.plain_product(x)

    def __call__(self, x: Tensor) -> Tensor:
        if not self.kernels:
            return self.plain_product(x)
        return self.product(x, self.kernels[row_class(x.shape[0])])


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
        y = torch._weight_int8pack_mm(x, self.weight, self.scale)
        return y if self.bias is None else y + self.bias


def row_class(rows: int) -> int:
    """The measured row count that stands for `rows`: the next one up, or the largest."""
    return next((count for count in ROW_COUNTS if count >= rows), ROW_COUNTS[-1])


def quantise_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """int8 [out, in] and one float32 scale a row: weight ≈ int8 * scale[:, None]."""
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale


def fastest_kernels(linears: Sequence[FloatLinear]) -> Kernels:
    """The fastest kernel for each row count, for the number of threads in force.

    The choice is timed once for a machine, these shapes and this number of threads, then read from
    the cache folder, because a different kernel rounds differently. Only float32 on a CPU with
    oneDNN has a packed kernel.
    """
    packable = linears and linears[0].weight.dtype == torch.float32 and linears[0].weight.device.type == "cpu"
    if not packable or not torch.backends.mkldnn.is_available():
        return {}
    for linear in linears:
        linear.pack()
    return remembered_kernels(linears)


def remembered_kernels(linears: Sequence[FloatLinear]) -> Kernels:
    """The kernel for each row count, from the cache folder or timed now."""
    shapes = sorted({tuple(linear.weight.shape) for linear in linears})
    key = f"{machine_name()} {torch.__version__} {torch.get_num_threads()} {shapes} {len(linears)}"
    file = cache_folder() / f"kernels-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    kernels = stored_kernels(file)
    if kernels is None:
        kernels = {rows: fastest_kernel(linears, rows) for rows in ROW_COUNTS}
        remember(file, {"for": key, "kernels": list(kernels.values())})
    return kernels


def stored_kernels(file: Path) -> Kernels | None:
    """The kernels in a cache file, or None where it is missing, damaged or names one that was never timed."""
    try:
        stored = json.loads(file.read_text())["kernels"]
        timed = {rows: candidates(rows) for rows in ROW_COUNTS}
        return {
            rows: timed[rows][timed[rows].index(tuple(kernel))] for rows, kernel in zip(ROW_COUNTS, stored, strict=True)
        }
    except (OSError, ValueError, KeyError, TypeError):
        return None


def candidates(rows: int) -> list[Kernel]:
    """The kernels that can multiply by `rows` rows and are worth timing."""
    padded = [Kernel(True, count) for count in ROW_COUNTS if rows < count <= 8]
    return [Kernel(False, rows), Kernel(True, rows), *padded]


@torch.inference_mode()
def fastest_kernel(linears: Sequence[FloatLinear], rows: int) -> Kernel:
    """The kernel that multiplies all the matrices by `rows` rows in the least time (median of alternated rounds)."""
    inputs = {size: torch.randn(rows, size) for size in {linear.weight.shape[1] for linear in linears}}
    times: dict[Kernel, list[float]] = {kernel: [] for kernel in candidates(rows)}
    for _ in range(7):
        for kernel, taken in times.items():
            start = time.perf_counter()
            for linear in linears:
                linear.product(inputs[linear.weight.shape[1]], kernel)
            taken.append(time.perf_counter() - start)
    return min(times, key=lambda kernel: median(times[kernel][1:]))
