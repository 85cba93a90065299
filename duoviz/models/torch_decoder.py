"""The decoder in torch's operators: on a GPU, whose forwards are recorded, and in float64 or bfloat16 anywhere."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models.llama_config import Limits, LlamaConfig, rotary_angles
from duoviz.models.weights import LayerWeights, Matrix, WeightReader, joined

# Longer forwards are not recorded. The chunks in which a prompt is read have as many rows.
MOST_ROWS = 128
# No recorded forward looks at fewer slots.
FEWEST_SLOTS = 256


class TorchDecoder:
    """A model's layers and their cache, [layers, keys and values, kv heads, slots, head size]."""

    def __init__(self, config: LlamaConfig, source: WeightReader, limits: Limits, dtype: torch.dtype, device: str):
        self.config, self.dtype, self.device = config, dtype, device

        def placed(tensor: Tensor) -> Tensor:
            return tensor.to(device, dtype, copy=True)

        table, widen = source.embedding(config)
        head = source.head(config, limits.written)
        unknown = max(0, limits.read - len(table.weight))
        self.table, self.widen = F.pad(placed(table.weight), (0, 0, 0, unknown)), widen and placed(widen.weight)
        self.head = self.table[: limits.written] if head is None else placed(head.weight[: limits.written])
        self.norm = placed(source.tensor("model.norm.weight", config.hidden_size))
        self.layers: list[LayerWeights] = []
        for index in range(config.layers):
            layer = source.layer(index, config)
            # Gate and up in one product.
            layer = layer._replace(gate=joined([layer.gate, layer.up]), up=None)
            parts = {name: part for name, part in layer._asdict().items() if part is not None}
            for name, part in parts.items():
                parts[name] = part.map(placed) if isinstance(part, Matrix) else placed(part)
            self.layers.append(layer._replace(**parts))
        # One slot more than tokens take; zeros, for what a token does not see is multiplied by zero.
        shape = config.layers, 2, config.kv_heads, limits.slots + 1, config.head_dim
        self.cache = torch.zeros(shape, dtype=dtype, device=device)
        angles = torch.cat([rotary_angles(config, limits.positions)] * 2, dim=-1)
        self.cos = (angles.cos() * config.rotary_scale).to(device, dtype)
        self.sin = (angles.sin() * config.rotary_scale).to(device, dtype)
        # So that rotating needs no other sign.
        self.sin[:, : config.head_dim // 2].neg_()
        self.graphs = Graphs(self.step, device=device, spare=limits.slots) if device != "cpu" else None

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], depths: Sequence[int], mask: np.ndarray, logit_rows: Sequence[int]) -> Tensor:
        """See `CompiledDecoder`; the logits are of this decoder's dtype."""
        rows = Rows(ids, depths, mask, logit_rows)
        if self.graphs and len(ids) <= MOST_ROWS:
            return self.graphs.replay(rows)
        numbers, padded_mask = rows.tensors(*mask.shape, spare=0)
        return self.step(numbers.to(self.device), padded_mask.to(self.device), len(logit_rows))

    def step(self, numbers: Tensor, mask: Tensor, logit_rows: int) -> Tensor:
        """Logits [logit_rows, vocab]; numbers, mask: see `Rows.tensors`."""
        ids, positions, slots, last = numbers
        x = F.embedding(ids, self.table)
        if self.widen is not None:
            x = F.linear(x, self.widen)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        bias = torch.zeros(mask.shape, dtype=self.dtype, device=self.device).masked_fill_(~mask, -torch.inf)
        bias = bias.repeat(self.config.heads // self.config.kv_heads, 1)
        for layer, cache in zip(self.layers, self.cache, strict=True):
            x = self.attend(x, layer, cache, slots, cos, sin, bias)
            gate, up = linear(self.normalise(x, layer.mlp_norm), layer.gate).chunk(2, dim=-1)
            x = x + linear(F.silu(gate).mul_(up), layer.down)
        return F.linear(self.normalise(x[last[:logit_rows]], self.norm), self.head)

    def normalise(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.rms_norm_eps)

    def attend(
        self, x: Tensor, layer: LayerWeights, cache: Tensor, slots: Tensor, cos: Tensor, sin: Tensor, bias: Tensor
    ) -> Tensor:
        """x plus its attention; x [n, hidden], cache [2, kv heads, slots, head size], bias [group · n, slots]."""
        heads, kv_heads, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        n = x.shape[0]
        qkv = linear(self.normalise(x, layer.attention_norm), layer.qkv).view(n, heads + 2 * kv_heads, size)
        qk = qkv[:, : heads + kv_heads]
        if layer.head_norms is not None:
            qk = self.normalise(qk, None) * layer.head_norms
        rotated = torch.addcmul(qk * cos, qk.roll(size // 2, dims=-1), sin)
        cache[0].index_copy_(1, slots, rotated[:, heads:].transpose(0, 1))
        cache[1].index_copy_(1, slots, qkv[:, heads + kv_heads :].transpose(0, 1))
        keys, values = cache[None, :, :, : bias.shape[1]].unbind(1)
        # The queries that share a key head are rows of one problem: no key is ever repeated.
        group = heads // kv_heads
        q = rotated[:, :heads].view(n, kv_heads, group, size).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, size)
        out = attention(q, keys, values, bias)
        out = out.view(kv_heads, group, n, size).permute(2, 0, 1, 3).reshape(n, heads * size)
        return x + linear(out, layer.out)

    @torch.inference_mode()
    def move(self, slots: Sequence[int], places: Sequence[int]) -> None:
        """Copy slots of the cache to other places."""
        self.cache[:, :, :, list(places)] = self.cache[:, :, :, list(slots)]


def linear(x: Tensor, matrix: Matrix) -> Tensor:
    """x Wᵀ + bias; x [n, in], W [out, in]."""
    return F.linear(x, matrix.weight, matrix.bias)


def attention(q: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """softmax(q kᵀ / √size + bias) v, over heads; q [1, heads, n, size], keys and values [1, heads, slots, size]."""
    if q.element_size() == 2:
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=bias)
    # With few heads torch's own leaves most of a GPU idle in 32 bits: twice the time over 2,048 slots.
    scores = (q @ keys.transpose(-1, -2)).mul_(q.shape[-1] ** -0.5).add_(bias)
    return scores.softmax(dim=-1) @ values


class Rows(NamedTuple):
    """What a forward is given: see `CompiledDecoder.forward`."""

    ids: Sequence[int]
    depths: Sequence[int]
    mask: np.ndarray
    logit_rows: Sequence[int]

    def tensors(self, rows: int, slots: int, spare: int) -> tuple[Tensor, Tensor]:
        """numbers int64 [4, rows]: the rows' ids, depths and slots, and the logit rows; mask bool [rows, slots].

        Rows beyond the tokens' are written to the slot `spare`, which no token sees, and see the first slot.
        """
        n, length = self.mask.shape
        numbers = np.zeros((4, rows), np.int64)
        numbers[0, :n], numbers[1, :n], numbers[3, : len(self.logit_rows)] = self.ids, self.depths, self.logit_rows
        numbers[2, :n], numbers[2, n:] = range(length - n, length), spare
        mask = np.zeros((rows, slots), np.bool_)
        mask[:n, :length], mask[n:, 0] = self.mask, True
        return torch.from_numpy(numbers), torch.from_numpy(mask)


class Recorded(NamedTuple):
    """A recorded forward, which finds its inputs and leaves its logits at the same places in every replay."""

    graph: torch.cuda.CUDAGraph
    numbers: Tensor
    mask: Tensor
    logits: Tensor


class Graphs:
    """One decoder's recorded forwards: rows, slots and wanted rows are rounded up to powers of two, and a shape is
    recorded when its first forward comes."""

    def __init__(self, step: Callable[[Tensor, Tensor, int], Tensor], *, device: str, spare: int):
        """step: see `TorchDecoder.step`. spare: see `Rows.tensors`."""
        self.step, self.device, self.spare = step, device, spare
        self.recorded: dict[tuple[int, int, int], Recorded] = {}

    def replay(self, rows: Rows) -> Tensor:
        """Logits [logit_rows, vocab] of at most MOST_ROWS rows."""
        n, length = rows.mask.shape
        slots = min(max(power_of_two(length), FEWEST_SLOTS), self.spare)
        shape = power_of_two(n), slots, power_of_two(len(rows.logit_rows))
        numbers, mask = rows.tensors(*shape[:2], self.spare)
        if shape not in self.recorded:
            self.recorded[shape] = self.record(numbers.to(self.device), mask.to(self.device), shape[2])
        recorded = self.recorded[shape]
        recorded.numbers.copy_(numbers)
        recorded.mask.copy_(mask)
        recorded.graph.replay()
        return recorded.logits[: len(rows.logit_rows)].clone()

    def record(self, numbers: Tensor, mask: Tensor, logit_rows: int) -> Recorded:
        """Record the forward of these inputs' shape."""
        # Once outside of the graph: what libraries set up in their first call must not be recorded.
        self.step(numbers, mask, logit_rows)
        graph, (stream, pool) = torch.cuda.CUDAGraph(), self.aside
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
            logits = self.step(numbers, mask, logit_rows)
        return Recorded(graph, numbers, mask, logits)

    @cached_property
    def aside(self) -> tuple[torch.cuda.Stream, Any]:
        """The stream and the memory of all records: only one of them is replayed at a time."""
        return torch.cuda.Stream(self.device), torch.cuda.graph_pool_handle()


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below a number."""
    return 1 << (number - 1).bit_length()
