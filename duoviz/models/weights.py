"""A model's tensors on their way from a file into a decoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.llama_config import LlamaConfig

TABLE, HEAD = "model.embed_tokens", "lm_head"


class Matrix(NamedTuple):
    """weight [out, in], float or int8; scale float32 [out] with int8, else None; bias [out] or None."""

    weight: Tensor
    scale: Tensor | None = None
    bias: Tensor | None = None

    def map(self, change: Callable[[Tensor], Tensor]) -> "Matrix":
        """The matrix whose tensors are those of this one, changed."""
        return joined([self], lambda tensors: change(tensors[0]))


class LayerWeights(NamedTuple):
    """One decoder layer. head_norms: [query and key heads, head size], or None."""

    attention_norm: Tensor
    qkv: Matrix
    head_norms: Tensor | None
    out: Matrix
    mlp_norm: Tensor
    gate: Matrix
    up: Matrix
    down: Matrix


@dataclass(frozen=True)
class WeightReader:
    """Reads tensors by transformers' names; int8 matrices come with a `.scale` beside their `.weight`.

    quantised: matrices are given in int8, else as floats, in whichever of the two they are stored. Everything is given
    as a view where possible: what a model keeps it copies, for a tensor of a file is a view of all of the file.
    """

    weights: Mapping[str, Tensor]
    quantised: bool

    def tensor(self, name: str, *shape: int) -> Tensor:
        """Raises KeyError where there is none and RuntimeError for one of another size, as all here do."""
        tensor = self.weights[name]
        if tuple(tensor.shape) != shape:
            raise RuntimeError(f"{name} is {list(tensor.shape)} and not {list(shape)}")
        return tensor

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        """The matrix [rows, columns] of this name and its bias, if it has one, in the kind of number that is wanted."""
        weight, scale = self.tensor(f"{name}.weight", rows, columns), None
        if weight.dtype == torch.int8:
            scale = self.tensor(f"{name}.scale", rows).float()
        if self.quantised and scale is None:
            weight, scale = quantise_rows(weight.float())
        elif not self.quantised and scale is not None:
            weight, scale = weight.float() * scale[:, None], None
        bias = f"{name}.bias"
        return Matrix(weight, scale, self.tensor(bias, rows) if bias in self.weights else None)

    def layer(self, index: int, config: LlamaConfig) -> LayerWeights:
        """The decoder layer of this number, from 0."""
        prefix, hidden, inner = f"model.layers.{index}.", config.hidden_size, config.intermediate_size
        queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
        attention, mlp = f"{prefix}self_attn.", f"{prefix}mlp."
        head_norms = None
        if f"{attention}q_norm.weight" in self.weights:
            q, k = (self.tensor(f"{attention}{name}_norm.weight", config.head_dim) for name in "qk")
            head_norms = torch.cat([q.expand(config.heads, -1), k.expand(config.kv_heads, -1)])
        sides = (("q", queries), ("k", keys), ("v", keys))
        return LayerWeights(
            attention_norm=self.tensor(f"{prefix}input_layernorm.weight", hidden),
            qkv=joined([self.matrix(f"{attention}{name}_proj", rows, hidden) for name, rows in sides]),
            head_norms=head_norms,
            out=self.matrix(f"{attention}o_proj", hidden, queries),
            mlp_norm=self.tensor(f"{prefix}post_attention_layernorm.weight", hidden),
            gate=self.matrix(f"{mlp}gate_proj", inner, hidden),
            up=self.matrix(f"{mlp}up_proj", inner, hidden),
            down=self.matrix(f"{mlp}down_proj", hidden, inner),
        )

    def table(self, config: LlamaConfig) -> str:
        """The name of the embedding table; a tied model may have it as its head alone."""
        return HEAD if config.tied and f"{TABLE}.weight" not in self.weights else TABLE

    def embedding(self, config: LlamaConfig) -> tuple[Matrix, Matrix | None]:
        """The embedding table, and what widens a low-rank one (our draft's) or None."""
        name, projection = self.table(config), f"{TABLE}.projection"
        rows, width = self.weights[f"{name}.weight"].shape
        if f"{projection}.weight" in self.weights:
            return self.matrix(name, rows, width), self.matrix(projection, config.hidden_size, width)
        return self.matrix(name, rows, config.hidden_size), None

    def head(self, config: LlamaConfig, least: int) -> Matrix | None:
        """At least so many rows; None where it is the embedding table."""
        name = HEAD if f"{HEAD}.weight" in self.weights or not config.tied else TABLE
        if (rows := len(self.weights[f"{name}.weight"])) < least:
            raise RuntimeError(f"{name} has {rows:,} rows and not {least:,}")
        return None if name == self.table(config) else self.matrix(name, rows, config.hidden_size)


def joined(parts: Sequence[Matrix], join: Callable[[list[Tensor]], Tensor] = torch.cat) -> Matrix:
    """One matrix of several: `join` gets their weights, their scales and their biases. By default one below the other.

    Either all have a scale or none, and so for the bias.
    """
    weights, scales, biases = (list(kind) for kind in zip(*parts, strict=True))
    return Matrix(join(weights), *(None if kind[0] is None else join(kind) for kind in (scales, biases)))


def quantise_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A float [out, in] as int8 [out, in] and one float32 scale a row, [out]: weight ≈ int8 * scale[:, None]."""
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale
