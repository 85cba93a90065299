"""A model's tensors on their way from a file into a decoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.llama_config import LlamaConfig

ATTENTION, MLP = "self_attn.", "mlp."
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

    def vector(self, name: str, size: int) -> Tensor:
        """Raises KeyError where there is none and RuntimeError for one of another size, as all here do."""
        return of_shape(name, self.weights[name], (size,))

    def matrix(self, name: str, rows: int, columns: int, *, bias: bool = False) -> Matrix:
        """The matrix [rows, columns] of this name, in the kind of number that is wanted."""
        weight, scale = of_shape(name, self.weights[f"{name}.weight"], (rows, columns)), None
        if weight.dtype == torch.int8:
            scale = self.vector(f"{name}.scale", rows).float()
        if self.quantised and scale is None:
            weight, scale = quantise_rows(weight.float())
        elif not self.quantised and scale is not None:
            weight, scale = weight.float() * scale[:, None], None
        return Matrix(weight, scale, self.vector(f"{name}.bias", rows) if bias else None)

    def layer(self, index: int, config: LlamaConfig) -> LayerWeights:
        """The decoder layer of this number, from 0."""
        prefix, hidden, inner = f"model.layers.{index}.", config.hidden_size, config.intermediate_size
        queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim
        parts = [
            self.matrix(f"{prefix}{ATTENTION}{name}_proj", rows, hidden, bias=config.qkv_bias)
            for name, rows in (("q", queries), ("k", keys), ("v", keys))
        ]
        head_norms = None
        if config.head_norms:
            q, k = (self.vector(f"{prefix}{ATTENTION}{name}_norm.weight", config.head_dim) for name in "qk")
            head_norms = torch.cat([q.expand(config.heads, -1), k.expand(config.kv_heads, -1)])
        gate, up = (
            self.matrix(f"{prefix}{MLP}{name}_proj", inner, hidden, bias=config.mlp_bias) for name in ("gate", "up")
        )
        return LayerWeights(
            attention_norm=self.vector(prefix + "input_layernorm.weight", hidden),
            qkv=joined(parts),
            head_norms=head_norms,
            out=self.matrix(f"{prefix}{ATTENTION}o_proj", hidden, queries, bias=config.out_bias),
            mlp_norm=self.vector(prefix + "post_attention_layernorm.weight", hidden),
            gate=gate,
            up=up,
            down=self.matrix(f"{prefix}{MLP}down_proj", hidden, inner, bias=config.mlp_bias),
        )

    def table(self, config: LlamaConfig) -> str:
        """The name of the embedding table; a tied model may have it as its head alone."""
        return HEAD if config.tied and f"{TABLE}.weight" not in self.weights else TABLE

    def embedding(self, config: LlamaConfig) -> tuple[Matrix, Matrix | None]:
        """The embedding table, and what widens a low-rank one (our draft's) or None."""
        name = self.table(config)
        rows, width = self.weights[f"{name}.weight"].shape
        if f"{TABLE}.projection.weight" in self.weights:
            projection = self.matrix(f"{TABLE}.projection", config.hidden_size, width)
            return self.matrix(name, rows, width), projection
        return self.matrix(name, rows, config.hidden_size), None

    def head(self, config: LlamaConfig, least: int) -> Matrix | None:
        """At least so many rows; None where it is the embedding table."""
        name = HEAD if f"{HEAD}.weight" in self.weights or not config.tied else TABLE
        if (rows := len(self.weights[f"{name}.weight"])) < least:
            raise RuntimeError(f"{name} has {rows:,} rows and not {least:,}")
        return None if name == self.table(config) else self.matrix(name, rows, config.hidden_size)


def of_shape(name: str, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The tensor. Raises RuntimeError where it has another shape."""
    if tuple(tensor.shape) != shape:
        raise RuntimeError(f"{name} is {list(tensor.shape)} and not {list(shape)}")
    return tensor


def joined(parts: Sequence[Matrix], join: Callable[[list[Tensor]], Tensor] = torch.cat) -> Matrix:
    """One matrix of several: `join` gets their weights, their scales and their biases. By default one below the other.

    Either all have a scale or none, and so for the bias.
    """
    scales = [part.scale for part in parts if part.scale is not None]
    biases = [part.bias for part in parts if part.bias is not None]
    weight = join([part.weight for part in parts])
    return Matrix(weight, join(scales) if scales else None, join(biases) if biases else None)


def quantise_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A float [out, in] as int8 [out, in] and one float32 scale a row, [out]: weight ≈ int8 * scale[:, None]."""
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
    return (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8), scale
