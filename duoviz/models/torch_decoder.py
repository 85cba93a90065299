"""The decoder in torch's operators: on a GPU, and in float64 or bfloat16 anywhere."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models.graphs import MOST_ROWS, Graphs, Rows
from duoviz.models.llama_config import Limits, LlamaConfig, rotary_angles
from duoviz.models.weights import LayerWeights, Matrix, WeightReader, joined


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
        self.norm = placed(source.vector("model.norm.weight", config.hidden_size))
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
    def forward(self, ids: Sequence[int], depths: Sequence[int], seen: np.ndarray, wanted: Sequence[int]) -> Tensor:
        """See `CompiledDecoder`; the logits are of this decoder's dtype."""
        rows = Rows(ids, depths, seen, wanted)
        if self.graphs and len(ids) <= MOST_ROWS:
            return self.graphs.replay(rows)
        numbers, seen_by = rows.tensors(*seen.shape, spare=0)
        return self.step(numbers.to(self.device), seen_by.to(self.device), len(wanted))

    def step(self, numbers: Tensor, seen: Tensor, wanted: int) -> Tensor:
        """Logits [wanted, vocab]; numbers, seen: see `Rows.tensors`."""
        ids, positions, slots, last = numbers
        x = F.embedding(ids, self.table)
        if self.widen is not None:
            x = F.linear(x, self.widen)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        mask = torch.zeros(seen.shape, dtype=self.dtype, device=self.device).masked_fill_(~seen, -torch.inf)
        mask = mask.repeat(self.config.heads // self.config.kv_heads, 1)
        for layer, cache in zip(self.layers, self.cache, strict=True):
            x = self.attend(x, layer, cache, slots, cos, sin, mask)
            gate, up = linear(self.normalise(x, layer.mlp_norm), layer.gate).chunk(2, dim=-1)
            x = x + linear(F.silu(gate).mul_(up), layer.down)
        return F.linear(self.normalise(x[last[:wanted]], self.norm), self.head)

    def normalise(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.rms_norm_eps)

    def attend(
        self, x: Tensor, layer: LayerWeights, cache: Tensor, slots: Tensor, cos: Tensor, sin: Tensor, mask: Tensor
    ) -> Tensor:
        """x plus its attention; x [n, hidden], cache [2, kv heads, slots, head size], mask [group · n, slots seen]."""
        heads, kv_heads, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        n = x.shape[0]
        qkv = linear(self.normalise(x, layer.attention_norm), layer.qkv).view(n, heads + 2 * kv_heads, size)
        qk = qkv[:, : heads + kv_heads]
        if layer.head_norms is not None:
            qk = self.normalise(qk, None) * layer.head_norms
        rotated = torch.addcmul(qk * cos, qk.roll(size // 2, dims=-1), sin)
        cache[0].index_copy_(1, slots, rotated[:, heads:].transpose(0, 1))
        cache[1].index_copy_(1, slots, qkv[:, heads + kv_heads :].transpose(0, 1))
        keys, values = cache[None, :, :, : mask.shape[1]].unbind(1)
        # The queries that share a key head are rows of one problem: no key is ever repeated.
        group = heads // kv_heads
        q = rotated[:, :heads].view(n, kv_heads, group, size).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, size)
        out = attention(q, keys, values, mask)
        out = out.view(kv_heads, group, n, size).permute(2, 0, 1, 3).reshape(n, heads * size)
        return x + linear(out, layer.out)

    @torch.inference_mode()
    def move(self, slots: Sequence[int], places: Sequence[int]) -> None:
        """Copy slots of the cache to other places."""
        self.cache[:, :, :, list(places)] = self.cache[:, :, :, list(slots)]


def linear(x: Tensor, matrix: Matrix) -> Tensor:
    """x Wᵀ + bias; x [n, in], W [out, in]."""
    return F.linear(x, matrix.weight, matrix.bias)


def attention(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """softmax(q kᵀ / √size + mask) v, over heads; q [1, heads, n, size], keys and values [1, heads, slots, size]."""
    if q.element_size() == 2:
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
    # With few heads torch's own leaves most of a GPU idle in 32 bits: twice the time over 2,048 slots.
    scores = (q @ keys.transpose(-1, -2)).mul_(q.shape[-1] ** -0.5).add_(mask)
    return scores.softmax(dim=-1) @ values
