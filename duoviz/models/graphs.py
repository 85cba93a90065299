"""Forwards on a GPU as recorded graphs: all kernels of a forward are started at once."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

# Longer forwards are not recorded. The chunks in which a prompt is read have as many rows.
MOST_ROWS = 128
# No recorded forward looks at fewer slots.
FEWEST_SLOTS = 256


class Rows(NamedTuple):
    """What a forward is given: see `CompiledDecoder.forward`."""

    ids: Sequence[int]
    depths: Sequence[int]
    seen: np.ndarray
    wanted: Sequence[int]

    def tensors(self, rows: int, slots: int, spare: int) -> tuple[Tensor, Tensor]:
        """numbers int64 [4, rows]: the rows' ids, depths and slots, and which rows are wanted; seen bool [rows, slots].

        Rows beyond the tokens' are written to the slot `spare`, which no token sees, and see the first slot.
        """
        n, length = self.seen.shape
        numbers = np.zeros((4, rows), np.int64)
        numbers[0, :n], numbers[1, :n], numbers[3, : len(self.wanted)] = self.ids, self.depths, self.wanted
        numbers[2, :n], numbers[2, n:] = range(length - n, length), spare
        seen = np.zeros((rows, slots), np.bool_)
        seen[:n, :length], seen[n:, 0] = self.seen, True
        return torch.from_numpy(numbers), torch.from_numpy(seen)


class Recorded(NamedTuple):
    """A recorded forward, which finds its inputs and leaves its logits at the same places in every replay."""

    graph: torch.cuda.CUDAGraph
    numbers: Tensor
    seen: Tensor
    logits: Tensor


class Graphs:
    """One decoder's recorded forwards: rows, slots and wanted rows are rounded up to powers of two, and a shape is
    recorded when its first forward comes."""

    def __init__(self, step: Callable[[Tensor, Tensor, int], Tensor], *, device: str, spare: int):
        """step: see `TorchDecoder.step`. spare: see `Rows.tensors`."""
        self.step, self.device, self.spare = step, device, spare
        self.recorded: dict[tuple[int, int, int], Recorded] = {}

    def replay(self, rows: Rows) -> Tensor:
        """Logits [wanted, vocab] of at most MOST_ROWS rows."""
        n, length = rows.seen.shape
        slots = min(max(power_of_two(length), FEWEST_SLOTS), self.spare)
        shape = power_of_two(n), slots, power_of_two(len(rows.wanted))
        numbers, seen = rows.tensors(*shape[:2], self.spare)
        if shape not in self.recorded:
            self.recorded[shape] = self.record(numbers.to(self.device), seen.to(self.device), shape[2])
        recorded = self.recorded[shape]
        recorded.numbers.copy_(numbers)
        recorded.seen.copy_(seen)
        recorded.graph.replay()
        return recorded.logits[: len(rows.wanted)].clone()

    def record(self, numbers: Tensor, seen: Tensor, wanted: int) -> Recorded:
        """Record the forward of these inputs' shape."""
        # Once outside of the graph: what libraries set up in their first call must not be recorded.
        self.step(numbers, seen, wanted)
        graph, (stream, pool) = torch.cuda.CUDAGraph(), self.aside
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
            logits = self.step(numbers, seen, wanted)
        return Recorded(graph, numbers, seen, logits)

    @cached_property
    def aside(self) -> tuple[torch.cuda.Stream, Any]:
        """The stream and the memory of all records: only one of them is replayed at a time."""
        return torch.cuda.Stream(self.device), torch.cuda.graph_pool_handle()


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below a number."""
    return 1 << (number - 1).bit_length()
