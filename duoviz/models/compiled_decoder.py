"""The decoder on a processor, in float32 or with int8 weights: panels of weights, and one compiled forward."""

import mmap
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models import kernels
from duoviz.models.attention import TOGETHER
from duoviz.models.barrier import MEETING
from duoviz.models.llama_config import Limits, LlamaConfig, rotary_angles
from duoviz.models.steps import run_steps
from duoviz.models.team import BORROWED, NOTHING, team
from duoviz.models.tiles import PANEL
from duoviz.models.weights import LayerWeights, Matrix, WeightReader, joined

# Bytes: a processor finds its way in memory faster where the pages have this size.
LARGE_PAGE = 1 << 21
# Bytes of weights and rows for which another thread pays: waking it and waiting for it takes time.
A_THREADS_BYTES, A_THREADS_ROWS = 3_000_000, 16


class CompiledDecoder:
    """A model's layers and their cache; `kernels` says how they are laid out and computed."""

    def __init__(self, config: LlamaConfig, source: WeightReader, limits: Limits):
        self.limits = limits
        self.known = max(len(source.weights[f"{source.table(config)}.weight"]), limits.read)
        self.shape = kernels.Shape(config.heads, config.kv_heads, config.head_dim, np.float32(config.rms_norm_eps))
        self.weights = weights = read_weights(config, source, limits)
        # Bytes of all that a forward reads.
        self.size = sum(part.nbytes for part in (weights.qkv, weights.out, weights.gate_up, weights.down, weights.head))
        sizes = config.layers, config.kv_heads
        slots, columns = -(-limits.slots // PANEL), -(-config.head_dim // PANEL)
        # Not zeros, which would be written: the memory that a short text does not use is never there.
        self.cache = kernels.Cache(
            torch.empty(*sizes, slots, config.head_dim, PANEL).numpy(),
            torch.empty(*sizes, columns, slots * PANEL, PANEL).numpy(),
        )
        self.work: kernels.Buffers | None = None
        # Compiled here, where no other thread waits for it.
        kernels.run(*self.arguments([0], [0], np.ones((1, 1), np.bool_), [0], 1), np.zeros(MEETING, np.int64), 0, 1)

    def forward(self, ids: Sequence[int], depths: Sequence[int], mask: np.ndarray, logit_rows: Sequence[int]) -> Tensor:
        """Logits, float32 [logit_rows, written ids]; mask: bool [ids, slots]; for the arguments see `kernels.Call`.

        Raises IndexError for an id or a row that is none.
        """
        workers = team(self.most_threads(len(ids)))
        arguments = self.arguments(ids, depths, mask, logit_rows, workers.parts)
        workers.run(kernels.run, *arguments)
        return torch.from_numpy(arguments[-1][:, : self.limits.written])

    def draft(
        self, ids: Sequence[int], depths: Sequence[int], mask: np.ndarray, rows: Sequence[int], *asked: NamedTuple
    ) -> None:
        """Draft steps without a temperature: asked: Copies, Sureness, Steps (see `steps`). Raises IndexError."""
        workers = team(self.most_threads(len(ids)))
        arguments = self.arguments(ids, depths, mask, rows, workers.parts, room=PANEL)
        workers.run(run_steps, *arguments, self.limits.written, *asked)

    def most_threads(self, rows: int) -> int:
        """How many threads pay for a forward of so many rows."""
        return max(1, int(self.size * max(1, rows / A_THREADS_ROWS) / A_THREADS_BYTES))

    def arguments(
        self,
        ids: Sequence[int],
        depths: Sequence[int],
        mask: np.ndarray,
        logit_rows: Sequence[int],
        threads: int,
        *,
        room: int = 0,
    ) -> tuple:
        """The arguments of `kernels.run`; the last one is the output buffer for logits, with room for more columns."""
        # What is compiled checks no index.
        if not 0 <= min(ids) <= max(ids) < self.known:
            raise IndexError(f"each id must be from 0 to {self.known - 1:,}")
        if len(logit_rows) > len(ids) or not all(0 <= row < len(ids) for row in logit_rows):
            raise IndexError(f"each logit row must be one of the {len(ids)}, and named once")
        call = kernels.Call(np.array(ids, np.int64), np.array(depths, np.int64), mask, np.array(logit_rows, np.int64))
        logits = np.empty((len(logit_rows), len(self.weights.head) * PANEL + room), np.float32)
        work, busy = self.buffers(len(ids), threads), BORROWED.get(NOTHING).busy
        return self.weights, self.shape, self.cache, work, call, busy, logits

    def buffers(self, rows: int, threads: int) -> kernels.Buffers:
        """Enough for so many rows and threads; kept from one forward to the next."""
        if self.work is None or len(self.work.x) < rows or len(self.work.own) < threads:
            if self.work is not None:
                rows, threads = max(rows, len(self.work.x)), max(threads, len(self.work.own))
            weights, (_, _, columns, slots, _) = self.weights, self.cache.values.shape
            width, inner = weights.attention_norm.shape[1], weights.gate_up.shape[1] // 2 * PANEL
            wide = max(weights.qkv.shape[1], weights.gate_up.shape[1]) * PANEL
            narrow = weights.widen.shape[1] * weights.widen.shape[3]
            shapes = ((width,), (padded(width),), (wide,), (self.shape.heads * self.shape.size,), (inner,))
            self.work = kernels.Buffers(
                *(np.zeros((rows, *shape), np.float32) for shape in shapes),
                own=np.zeros((threads, rows, max(padded(width), narrow)), np.float32),
                scores=np.zeros((threads, TOGETHER, slots), np.float32),
                turned=np.zeros((threads, 2, TOGETHER, columns * PANEL), np.float32),
            )
        return self.work

    def move(self, slots: Sequence[int], places: Sequence[int]) -> None:
        """Copy slots of the cache to other places."""
        (keys, values), old, new = self.cache, np.array(slots), np.array(places)
        keys[:, :, new // PANEL, :, new % PANEL] = keys[:, :, old // PANEL, :, old % PANEL]
        values[:, :, :, new] = values[:, :, :, old]


def read_weights(config: LlamaConfig, source: WeightReader, limits: Limits) -> kernels.Weights:
    """A model's tensors, laid out for `kernels.run`."""
    layers, hidden, inner = config.layers, config.hidden_size, config.intermediate_size
    heads = (config.heads + 2 * config.kv_heads) * config.head_dim
    kind = np.int8 if source.quantised else np.float32
    # First of all, for what the largest tensors are copied from is given up before the layers come.
    embedding, widen, head = read_tables(config, source, limits, kind)
    qkv, out = Panels(layers, heads, hidden, kind), Panels(layers, hidden, config.heads * config.head_dim, kind)
    gate_up, down = Panels(layers, 2 * padded(inner), hidden, kind), Panels(layers, hidden, inner, kind)
    norms: list[list[np.ndarray]] = []
    for index in range(layers):
        layer = source.layer(index, config)
        qkv.set(index, layer.qkv)
        out.set(index, layer.out)
        gate_up.set(index, alternated(layer))
        down.set(index, layer.down)
        head_norms = torch.empty(0, config.head_dim) if layer.head_norms is None else layer.head_norms
        norms.append([float_array(norm) for norm in (layer.attention_norm, head_norms, layer.mlp_norm)])
    attention_norm, head_norms, mlp_norm = (np.stack(arrays) for arrays in zip(*norms, strict=True))
    angles = rotary_angles(config, limits.positions)
    cos, sin = float_array(angles.cos() * config.rotary_scale), float_array(angles.sin() * config.rotary_scale)
    return kernels.Weights(
        embedding=embedding.panels[0], embedding_scale=embedding.scale[0],
        widen=widen.panels[0], widen_scale=widen.scale[0],
        attention_norm=attention_norm, qkv=qkv.panels, qkv_scale=qkv.scale, qkv_bias=qkv.bias, head_norms=head_norms,
        out=out.panels, out_scale=out.scale, out_bias=out.bias,
        mlp_norm=mlp_norm, gate_up=gate_up.panels, gate_up_scale=gate_up.scale, gate_up_bias=gate_up.bias,
        down=down.panels, down_scale=down.scale, down_bias=down.bias,
        norm=float_array(source.tensor("model.norm.weight", hidden)),
        head=head.panels[0][: padded(limits.written) // PANEL], head_scale=head.scale[0], cos=cos, sin=sin,
    )  # fmt: skip


def read_tables(
    config: LlamaConfig, source: WeightReader, limits: Limits, kind: type
) -> tuple["Panels", "Panels", "Panels"]:
    """The embedding table, what widens it, and the head."""
    table, projection = source.embedding(config)
    embedding = Panels(1, max(len(table.weight), limits.read), table.weight.shape[1], kind)
    embedding.set(0, table)
    widen = Panels(1, 0 if projection is None else config.hidden_size, table.weight.shape[1], kind)
    if projection is not None:
        widen.set(0, projection)
    separate, head = source.head(config, limits.written), embedding
    if separate is not None:
        head = Panels(1, limits.written, config.hidden_size, kind)
        head.set(0, separate.map(lambda part: part[: limits.written]))
    return embedding, widen, head


class Panels:
    """A matrix of each layer, in the panels, scales and biases of `kernels.Weights`.

    terms: how many of a row's numbers stand together in a panel.
    """

    def __init__(self, layers: int, rows: int, columns: int, kind: type):
        self.rows = padded(rows)
        self.terms = 2 if kind is np.int8 else 1
        self.panels = in_large_pages((layers, self.rows // PANEL, -(-columns // self.terms), PANEL, self.terms), kind)
        self.scale = np.ones((layers, self.rows if kind is np.int8 else 0), np.float32)
        self.bias = np.zeros((layers, 0), np.float32)

    def set(self, layer: int, matrix: Matrix) -> None:
        """Copy a layer's matrix, [at most rows, columns]; what it lacks is zeros."""
        weight, scale, bias = matrix
        full, rest = divmod(len(weight), PANEL)
        panels = torch.from_numpy(self.panels[layer])
        # Padded where the last term would stand alone.
        if missing := -weight.shape[1] % self.terms:
            weight = F.pad(weight, (0, missing))
        weight = weight.unflatten(1, (-1, self.terms))
        panels[:full].copy_(weight[: full * PANEL].unflatten(0, (full, PANEL)).transpose(1, 2))
        if rest:
            panels[full, :, :rest] = weight[full * PANEL :].transpose(0, 1)
        if scale is not None:
            self.scale[layer, : len(scale)] = float_array(scale)
        if bias is not None:
            if not self.bias.size:
                self.bias = np.zeros((len(self.panels), self.rows), np.float32)
            self.bias[layer, : len(bias)] = float_array(bias)


def alternated(layer: LayerWeights) -> Matrix:
    """Gate and up, a panel of each in turn."""

    def in_panels(part: Tensor) -> Tensor:
        missing = -len(part) % PANEL
        return F.pad(part, (0, missing) if part.dim() == 1 else (0, 0, 0, missing)).view(-1, PANEL, *part.shape[1:])

    parts = [layer.gate.map(in_panels), layer.up.map(in_panels)]
    return joined(parts, lambda panels: torch.stack(panels, dim=1).flatten(0, 2))


def padded(columns: int) -> int:
    """The columns that so many take in panels."""
    return -(-columns // PANEL) * PANEL


def float_array(tensor: Tensor) -> np.ndarray:
    """A copy of a tensor, float32, in an array of its shape."""
    return tensor.float().contiguous().numpy().copy()


def in_large_pages(shape: tuple[int, ...], kind: type) -> np.ndarray:
    """Zeros, in large pages where the system has them and they do not waste memory."""
    size = prod(shape) * np.dtype(kind).itemsize
    if size < LARGE_PAGE:
        return np.zeros(shape, kind)
    try:
        memory = mmap.mmap(-1, size + LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # no such pages, or no memory, which numpy says better
        return np.zeros(shape, kind)
    start = -np.frombuffer(memory, np.uint8).ctypes.data % LARGE_PAGE
    return np.frombuffer(memory, kind, prod(shape), start).reshape(shape)
