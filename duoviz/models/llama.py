"""Lean Llama-family decoder: static KV cache, tree attention, O(1) rollback."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor

from duoviz.models.language_model import ContextFull
from duoviz.models.linear import FloatLinear, Int8Linear, Kernels, fastest_kernels, quantise_rows

Weights = dict[str, Tensor]

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "int8": torch.bfloat16,
}

# Slots beyond the context for the branches of a tree, which share positions.
TREE_SLOTS = 1024


@dataclass(frozen=True)
class LlamaConfig:
    """A model's shape, read from a config.json of transformers or of our draft."""

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    context_limit: int
    vocab_size: int

    @staticmethod
    def from_dict(config: dict) -> "LlamaConfig":
        rope = config.get("rope_parameters") or {}
        return LlamaConfig(
            hidden_size=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            kv_heads=config.get("num_key_value_heads") or config["num_attention_heads"],
            head_dim=config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
            rms_norm_eps=config["rms_norm_eps"],
            rope_theta=rope.get("rope_theta") or config.get("rope_theta", 10_000.0),
            context_limit=config["max_position_embeddings"],
            vocab_size=config.get("output_tokens") or config["vocab_size"],
        )


class Layer:
    """One decoder layer's weights: query, key and value fused, gate and up fused."""

    def __init__(self, weights: Weights, prefix: str, precision: str):
        attention, mlp = prefix + "self_attn.", prefix + "mlp."
        self.qkv = linear(weights, [attention + name for name in ("q_proj", "k_proj", "v_proj")], precision)
        self.out = linear(weights, [attention + "o_proj"], precision)
        self.gate_up = linear(weights, [mlp + "gate_proj", mlp + "up_proj"], precision)
        self.down = linear(weights, [mlp + "down_proj"], precision)
        self.attention_norm = weights[prefix + "input_layernorm.weight"].to(DTYPES[precision])
        self.mlp_norm = weights[prefix + "post_attention_layernorm.weight"].to(DTYPES[precision])


class Llama:
    """A Llama-family decoder that meets `LanguageModel`; not safe for use by two threads at once."""

    supports_tree = True

    def __init__(
        self,
        config: LlamaConfig,
        weights: Weights,
        *,
        precision: str,
        device: str = "cpu",
        label: str = "llama",
        context_limit: int | None = None,
    ):
        """weights: transformers' names; int8 matrices come with a `.scale` beside their `.weight`.

        The context is `context_limit` where that is given and smaller than the model's own.
        """
        self.config, self.precision, self.device, self.label = config, precision, device, label
        self.dtype = DTYPES[precision]
        self.vocab_size = config.vocab_size
        self.context_limit = min(context_limit or config.context_limit, config.context_limit)
        weights = {name: tensor.to(device) for name, tensor in weights.items()}
        self.table, self.widen = embedding(weights, precision)
        self.layers = [Layer(weights, f"model.layers.{index}.", precision) for index in range(config.layers)]
        self.norm = weights["model.norm.weight"].to(self.dtype)
        head = "lm_head" if "lm_head.weight" in weights else "model.embed_tokens"
        self.head = linear(weights, [head], precision)
        slots = self.context_limit + TREE_SLOTS
        self.cache = torch.empty(
            config.layers, 2, config.kv_heads, slots, config.head_dim, dtype=self.dtype, device=device
        )
        self.cos, self.sin = rotary_tables(config, self.context_limit, self.dtype, device)
        self.kernels: dict[int, Kernels] = {}
        self.parents: list[int] = []
        self.depths: list[int] = []
        self.chain = 0

    @property
    def length(self) -> int:
        return len(self.parents)

    def tune(self) -> None:
        """Use the fastest kernels for the number of threads in force; timed the first time (see `linear`)."""
        linears = [getattr(layer, name) for layer in self.layers for name in ("qkv", "out", "gate_up", "down")]
        floats = [each for each in [*linears, self.head] if isinstance(each, FloatLinear)]
        threads = torch.get_num_threads()
        if threads not in self.kernels:
            self.kernels[threads] = fastest_kernels(floats)
        for each in floats:
            each.kernels = self.kernels[threads]

    @torch.inference_mode()
    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        start = self.length
        self.add_slots(len(ids), parents)
        x = F.embedding(torch.tensor(ids, device=self.device), self.table)
        if self.widen is not None:
            x = self.widen(x)
        depths = torch.tensor(self.depths[start:], device=self.device)
        cos, sin = self.cos[depths][:, None], self.sin[depths][:, None]
        mask = self.attention_mask(start)
        for index, layer in enumerate(self.layers):
            x = self.attend(x, layer, self.cache[index], start, cos, sin, mask)
            gate, up = layer.gate_up(self.normalise(x, layer.mlp_norm)).chunk(2, dim=-1)
            x = x + layer.down(F.silu(gate).mul_(up))
        if rows is not None:
            x = x[list(rows)]
        return self.head(self.normalise(x, self.norm))

    def normalise(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.rms_norm_eps)

    def attend(
        self, x: Tensor, layer: Layer, cache: Tensor, start: int, cos: Tensor, sin: Tensor, mask: Tensor | None
    ) -> Tensor:
        """x plus its attention; x [n, hidden], cache [2, kv heads, slots, head dim]."""
        heads, kv_heads, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        n, end = x.shape[0], start + x.shape[0]
        qkv = layer.qkv(self.normalise(x, layer.attention_norm)).view(n, heads + 2 * kv_heads, size)
        rotated = rotate(qkv[:, : heads + kv_heads], cos, sin)
        cache[0, :, start:end] = rotated[:, heads:].transpose(0, 1)
        cache[1, :, start:end] = qkv[:, heads + kv_heads :].transpose(0, 1)
        # The queries that share a key head are rows of one problem: no key is ever repeated.
        group = heads // kv_heads
        q = rotated[:, :heads].view(n, kv_heads, group, size).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, size)
        out = F.scaled_dot_product_attention(q, cache[None, 0, :, :end], cache[None, 1, :, :end], attn_mask=mask)
        out = out.view(kv_heads, group, n, size).permute(2, 0, 1, 3).reshape(n, heads * size)
        return x + layer.out(out)

    def add_slots(self, count: int, parents: Sequence[int] | None) -> None:
        """Enter `count` new slots with their parents and depths; leaves nothing changed if they do not fit."""
        start = self.length
        chosen = list(range(start - 1, start - 1 + count)) if parents is None else list(parents)
        depths = list(self.depths)
        for slot, parent in enumerate(chosen, start):
            if not -1 <= parent < slot:
                raise ValueError(f"the parent of slot {slot} must be an earlier slot, not {parent}")
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if len(depths) > self.cache.shape[3] or max(depths, default=0) >= self.context_limit:
            raise ContextFull(f"the text is longer than the model's context of {self.context_limit} tokens")
        self.parents += chosen
        self.depths = depths
        while self.chain < self.length and self.parents[self.chain] == self.chain - 1:
            self.chain += 1

    def attention_mask(self, start: int) -> Tensor | None:
        """[group * n, end]: 0 where a new token sees a slot (its ancestors and itself), else -inf.

        None where a single token sees every slot. The chain part [0, chain) is filled by ranges,
        only the tree beyond it is walked.
        """
        n, end = self.length - start, self.length
        if self.chain == end and n == 1:
            return None
        seen = torch.zeros(n, end, dtype=torch.bool)
        if self.chain == end:
            seen = torch.ones(n, end, dtype=torch.bool).tril_(diagonal=start)
        else:
            for row, slot in enumerate(range(start, end)):
                while slot >= self.chain:
                    seen[row, slot] = True
                    slot = self.parents[slot]
                seen[row, : slot + 1] = True
        mask = torch.zeros(n, end, dtype=self.dtype).masked_fill_(~seen, -torch.inf)
        return mask.repeat(self.config.heads // self.config.kv_heads, 1).to(self.device)

    @torch.inference_mode()
    def keep(self, slots: Sequence[int]) -> None:
        slots = list(slots)
        for parent, slot in zip(slots, slots[1:], strict=False):
            if self.parents[slot] != parent:
                raise ValueError(f"slot {slot} does not follow slot {parent}")
        first = self.depths[slots[0]]
        if any(slot != depth for slot, depth in zip(self.path_to(slots[0]), range(first), strict=True)):
            raise ValueError("the path before the first slot must be a chain from the start of the text")
        if slots[0] != first or len(slots) != slots[-1] - slots[0] + 1:
            self.cache[:, :, :, first : first + len(slots)] = self.cache[:, :, :, slots]
        self.parents = list(range(-1, first + len(slots) - 1))
        self.depths = list(range(first + len(slots)))
        self.chain = self.length

    def path_to(self, slot: int) -> list[int]:
        """The ancestors of a slot, first to last, the slot itself not among them."""
        path = []
        while (slot := self.parents[slot]) >= self.chain:
            path.append(slot)
        return [*range(slot + 1), *reversed(path)]

    def crop(self, length: int) -> None:
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot crop {self.length} slots to {length}")
        del self.parents[length:], self.depths[length:]
        self.chain = min(self.chain, length)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of x [n, heads, head dim]; the first half of `sin` carries the minus sign."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def rotary_tables(config: LlamaConfig, limit: int, dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor]:
    """cos and signed sin, [limit, head dim]; the angles are float32, as in transformers."""
    inverse = 1.0 / config.rope_theta ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim)
    angles = torch.outer(torch.arange(limit).float(), inverse)
    cos = torch.cat([angles.cos(), angles.cos()], dim=-1)
    sin = torch.cat([-angles.sin(), angles.sin()], dim=-1)
    return cos.to(device, dtype), sin.to(device, dtype)


def linear(weights: Weights, names: list[str], precision: str) -> FloatLinear | Int8Linear:
    """One kernel for the named matrices, stacked."""
    if precision != "int8":
        return FloatLinear(torch.cat([dense(weights, name) for name in names]).to(DTYPES[precision]))
    pairs = [
        (weights[f"{name}.weight"], weights[f"{name}.scale"])
        if f"{name}.scale" in weights
        else quantise_rows(weights[f"{name}.weight"].float())
        for name in names
    ]
    return Int8Linear(torch.cat([weight for weight, _ in pairs]), torch.cat([scale for _, scale in pairs]))


def dense(weights: Weights, name: str) -> Tensor:
    """The named matrix as floats, whether it is stored in int8 or not."""
    weight = weights[f"{name}.weight"]
    if weight.dtype == torch.int8:
        return weight.float() * weights[f"{name}.scale"][:, None]
    return weight


def embedding(weights: Weights, precision: str) -> tuple[Tensor, FloatLinear | Int8Linear | None]:
    """The embedding table, and the kernel that widens a low-rank one (our draft's) or None."""
    table = dense(weights, "model.embed_tokens").to(DTYPES[precision])
    if "model.embed_tokens.projection.weight" in weights:
        return table, linear(weights, ["model.embed_tokens.projection"], precision)
    return table, None


def load_llama(
    folder: Path, *, precision: str, device: str = "cpu", label: str, context_limit: int | None = None
) -> Llama:
    """Read a model folder (config.json and safetensors). Raises OSError where a file is missing."""
    config = LlamaConfig.from_dict(json.loads((folder / "config.json").read_text()))
    weights: Weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as tensors:
            weights |= {name: tensors.get_tensor(name) for name in tensors.keys()}
    return Llama(config, weights, precision=precision, device=device, label=label, context_limit=context_limit)
