"""The decoder in torch's operators: on a GPU, and in float64 or bfloat16 anywhere."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

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
        shape = config.layers, 2, config.kv_heads, limits.slots, config.head_dim
        self.cache = torch.empty(shape, dtype=dtype, device=device)
        angles = torch.cat([rotary_angles(config, limits.positions)] * 2, dim=-1)
        self.cos = (angles.cos() * config.rotary_scale).to(device, dtype)
        self.sin = (angles.sin() * config.rotary_scale).to(device, dtype)
        # So that rotating needs no other sign.
        self.sin[:, : config.head_dim // 2].neg_()

    @torch.inference_mode()
    def forward(self, ids: Sequence[int], depths: Sequence[int], seen: np.ndarray, wanted: Sequence[int]) -> Tensor:
        """See `CompiledDecoder`; the logits are of this decoder's dtype."""
        x = F.embedding(torch.tensor(ids, device=self.device), self.table)
        if self.widen is not None:
            x = F.linear(x, self.widen)
        positions = torch.tensor(depths, device=self.device)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        mask = self.mask(seen)
        for layer, cache in zip(self.layers, self.cache, strict=True):
            x = self.attend(x, layer, cache[:, :, : seen.shape[1]], cos, sin, mask)
            gate, up = linear(self.normalise(x, layer.mlp_norm), layer.gate).chunk(2, dim=-1)
            x = x + linear(F.silu(gate).mul_(up), layer.down)
        return F.linear(self.normalise(x[list(wanted)], self.norm), self.head)

    def normalise(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.rms_norm_eps)

    def mask(self, seen: np.ndarray) -> Tensor | None:
        """[group · n, slots]: 0 where a token sees a slot, else -inf; None where a single token sees every slot."""
        if len(seen) == 1 and seen.all():
            return None
        mask = torch.zeros(seen.shape, dtype=self.dtype).masked_fill_(~torch.from_numpy(seen), -torch.inf)
        return mask.repeat(self.config.heads // self.config.kv_heads, 1).to(self.device)

    def attend(
        self, x: Tensor, layer: LayerWeights, cache: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None
    ) -> Tensor:
        """x plus its attention; x [n, hidden], cache [2, kv heads, slots in use, head size]."""
        heads, kv_heads, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        n = x.shape[0]
        qkv = linear(self.normalise(x, layer.attention_norm), layer.qkv).view(n, heads + 2 * kv_heads, size)
        qk = qkv[:, : heads + kv_heads]
        if layer.head_norms is not None:
            qk = self.normalise(qk, None) * layer.head_norms
        rotated = torch.addcmul(qk * cos, qk.roll(size // 2, dims=-1), sin)
        cache[0, :, -n:] = rotated[:, heads:].transpose(0, 1)
        cache[1, :, -n:] = qkv[:, heads + kv_heads :].transpose(0, 1)
        # The queries that share a key head are rows of one problem: no key is ever repeated.
        group = heads // kv_heads
        q = rotated[:, :heads].view(n, kv_heads, group, size).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, size)
        out = F.scaled_dot_product_attention(q, cache[None, 0], cache[None, 1], attn_mask=mask)
        out = out.view(kv_heads, group, n, size).permute(2, 0, 1, 3).reshape(n, heads * size)
        return x + linear(out, layer.out)

    @torch.inference_mode()
    def move(self, slots: Sequence[int], places: Sequence[int]) -> None:
        """Copy slots of the cache to other places."""
        self.cache[:, :, :, list(places)] = self.cache[:, :, :, list(slots)]


def linear(x: Tensor, matrix: Matrix) -> Tensor:
    """x Wᵀ + bias; x [n, in], W [out, in]."""
    return F.linear(x, matrix.weight, matrix.bias)
