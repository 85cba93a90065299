"""A model in a larger shape: it computes the same function at the larger model's cost.

Every number of the larger model is read and multiplied, so a forward pass takes what that shape takes; the text is the
small model's. Old sizes are h (hidden), i (inner), l (layers), n (query heads), m (key heads), d (head size); new ones
are the capitals, D a multiple of d, and r = H / h.

- Embedding and head: columns beyond h are zero, so the hidden state is zero there in every layer.
- RMS norms: the mean is over H numbers, so weights are divided by √r, and ε by r.
- Attention: the two rows of rotary pair p go to pair p · D/d, which turns at the same frequency, θ^(−2p/d). Queries are
  multiplied by √(D/d), because scores are divided by √D. Values take the first d of D. Where fewer queries share a key
  head than before, the key head is copied. Output columns of what is new are zero.
- MLP: down's columns beyond i are zero.
- Layers beyond l: output and down are zero, so they add nothing.

What is met by zeros only is filled with small numbers, so that nothing can be skipped and no number is denormal.
"""

from collections import UserDict
from collections.abc import Mapping
from functools import lru_cache
from math import ceil, sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.llama_config import LlamaConfig


class Shape(NamedTuple):
    """The sizes of a model of the Llama family; label: the model that has them."""

    label: str
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int


# What transformers' configs call these sizes.
FIELDS = (
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
)  # fmt: skip
SHAPES = {
    "smollm2-360m": Shape("SmolLM2-360M", 960, 2560, 32, 15, 5, 64),
    "llama-2-7b": Shape("Llama-2-7B", 4096, 11008, 32, 32, 32, 128),
    "llama-3-8b": Shape("Llama-3-8B", 4096, 14336, 32, 32, 8, 128),
}

# By the last part of a tensor's name but `weight`: what its rows and its columns stand for.
AXES = {
    "embed_tokens": ("vocabulary", "hidden"), "lm_head": ("vocabulary", "hidden"),
    "q_proj": ("queries", "hidden"), "k_proj": ("keys", "hidden"), "v_proj": ("values", "hidden"),
    "o_proj": ("hidden", "outputs"), "gate_proj": ("inner", "hidden"), "up_proj": ("inner", "hidden"),
    "down_proj": ("hidden", "inner"), "input_layernorm": ("hidden",), "post_attention_layernorm": ("hidden",),
    "norm": ("hidden",),
}  # fmt: skip
# The matrices that are read where only zeros meet them.
READ = {"q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"}


def config_in(shape: Shape, config: dict) -> dict:
    """The config of a Llama in another shape, at least as large in all; it has plain rotary pairs and no biases."""
    eps = config["rms_norm_eps"] * config["hidden_size"] / shape.hidden
    return config | dict(zip(FIELDS, shape[1:], strict=True)) | {"rms_norm_eps": eps}


def parameters_in(shape: Shape, config: dict) -> int:
    """How many numbers a model of this config has in matrices when it is in this shape."""
    heads = (shape.heads + shape.kv_heads) * shape.head_dim
    layer = shape.hidden * (2 * heads + 3 * shape.inner)
    tables = 1 if config.get("tie_word_embeddings") else 2
    return shape.layers * layer + tables * config["vocab_size"] * shape.hidden


def copies(shape: Shape, old: LlamaConfig) -> int:
    """How many key heads an old one becomes, so that each has all queries that share it."""
    return ceil((old.heads // old.kv_heads) / (shape.heads // shape.kv_heads))


class InShape(UserDict[str, Tensor]):
    """A checkpoint's tensors in a larger shape, by the same names; each is made when it is asked for.

    config: the checkpoint's, for which `config_in` gave one. Tensors are made on `device`, in `dtype`.
    """

    def __init__(self, weights: Mapping[str, Tensor], config: dict, shape: Shape, *, device: str, dtype: torch.dtype):
        self.weights, self.old, self.new = weights, LlamaConfig.from_dict(config), shape
        self.device, self.dtype = device, dtype
        # A table is asked for several times in a row, and is large.
        self.made = lru_cache(maxsize=1)(self.make)
        inside = [name.split(".", 3)[3] for name in weights if name.startswith("model.layers.0.")]
        outside = [name for name in weights if not name.startswith("model.layers.")]
        layers = (f"model.layers.{layer}.{name}" for layer in range(shape.layers) for name in inside)
        self.data = dict.fromkeys([*outside, *layers], torch.empty(0))
        queries, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.sizes = {"vocabulary": config["vocab_size"], "hidden": shape.hidden, "inner": shape.inner}
        self.sizes |= {"queries": queries, "keys": keys, "values": keys, "outputs": queries}

    def __getitem__(self, name: str) -> Tensor:
        """Raises KeyError."""
        if name not in self.data:
            raise KeyError(name)
        return self.made(name)

    def make(self, name: str) -> Tensor:
        part = name.split(".")[-2]
        new = self.filled(part)
        if name not in self.weights:
            return new
        old = self.weights[name].to(self.device)
        if old.dim() == 1:
            old = old / sqrt(self.new.hidden / self.old.hidden_size)
        elif part == "q_proj":
            old = old * sqrt(self.new.head_dim / self.old.head_dim)
        elif part in ("k_proj", "v_proj"):
            heads = old.view(self.old.kv_heads, self.old.head_dim, -1)
            old = heads.repeat_interleave(copies(self.new, self.old), dim=0).flatten(0, 1)
        rows, *columns = (self.places(axis, count) for axis, count in zip(AXES[part], old.shape, strict=True))
        if part in ("q_proj", "k_proj"):
            # What a head has besides adds nothing to a score.
            new.view(-1, self.new.head_dim, new.shape[1])[rows // self.new.head_dim] = 0
        new[(rows[:, None], *columns) if columns else rows] = old.to(self.dtype)
        return new

    def filled(self, part: str) -> Tensor:
        """A tensor that changes nothing: what is read holds small numbers, what is written zeros; norms are ones."""
        size, like = [self.sizes[axis] for axis in AXES[part]], {"device": self.device, "dtype": self.dtype}
        if part in READ:
            return torch.linspace(0.01, 0.02, size[1], **like).repeat(size[0], 1)
        return torch.ones(size, **like) if len(size) == 1 else torch.zeros(size, **like)

    def places(self, axis: str, count: int) -> Tensor:
        """Where what the old tensor has along an axis stands in the new one, int64 [count]."""
        new, old = self.new, self.old
        if axis in ("vocabulary", "hidden", "inner"):
            return torch.arange(count, device=self.device)
        heads, within = torch.arange(count // old.head_dim), torch.arange(old.head_dim)
        if axis in ("queries", "outputs"):
            sharing, group = old.heads // old.kv_heads, new.heads // new.kv_heads
            heads = heads // sharing * copies(new, old) * group + heads % sharing
        if axis in ("queries", "keys"):
            half = old.head_dim // 2
            within = within % half * (new.head_dim // old.head_dim) + within // half * (new.head_dim // 2)
        return (heads[:, None] * new.head_dim + within).flatten().to(self.device)
