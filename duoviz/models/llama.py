"""Lean decoder of the Llama family: static KV cache, tree attention, O(1) rollback."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models.checkpoint import OUR_KIND, Checkpoint, one_sentence, read_config
from duoviz.models.language_model import Slots
from duoviz.models.linear import FloatLinear, Int8Linear, Padding, fastest_padding, quantise_rows

Weights = Mapping[str, Tensor]

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "int8": torch.bfloat16,
}

# Slots beyond the context for the branches of a tree, which share positions.
TREE_SLOTS = 1024

KINDS = {"llama", "mistral", "qwen2", "qwen3", OUR_KIND}
# The rotary embeddings whose frequencies do not change with the length of the text.
FIXED_ROTARY = {"default", "linear", "llama3", "yarn"}


def is_lean(config: dict) -> bool:
    """Whether the lean decoder can do this model; config as `read_config` gives it."""
    rope = rotary(config)
    return (
        config["model_type"] in KINDS
        and config.get("hidden_act", "silu") == "silu"
        and rope["rope_type"] in FIXED_ROTARY
        and rope.get("partial_rotary_factor", 1.0) == 1.0
    )


def rotary(config: dict) -> dict:
    """The config's rotary embedding, with at least `rope_type`."""
    plain = {"rope_type": "default", "rope_theta": config.get("rope_theta", 10_000.0)}
    return plain | (config.get("rope_parameters") or {})


@dataclass(frozen=True)
class LlamaConfig:
    """A model's shape, read from a config of transformers or of our draft.

    context_limit: at most the sliding window where the model has one; no token looks further back
    there, so up to that length the window changes nothing. frequencies, rotary_scale: of the rotary
    embedding, [head dim / 2] in radians a token, and the factor on its cosines and sines. The
    flags say which biases and norms the layers have. tied: the head is the embedding table.
    """

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_norm_eps: float
    context_limit: int
    vocab_size: int
    frequencies: tuple[float, ...]
    rotary_scale: float
    qkv_bias: bool
    out_bias: bool
    mlp_bias: bool
    head_norms: bool
    tied: bool

    @staticmethod
    def from_dict(config: dict) -> "LlamaConfig":
        kind, bias = config["model_type"], config.get("attention_bias", False)
        head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        frequencies, scale = rotary_frequencies(config, head_dim)
        return LlamaConfig(
            hidden_size=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            kv_heads=config.get("num_key_value_heads") or config["num_attention_heads"],
            head_dim=head_dim,
            rms_norm_eps=config["rms_norm_eps"],
            context_limit=min(config["max_position_embeddings"], window(config) or config["max_position_embeddings"]),
            vocab_size=config.get("output_tokens") or config["vocab_size"],
            frequencies=frequencies,
            rotary_scale=scale,
            qkv_bias=bias or kind == "qwen2",
            out_bias=bias,
            mlp_bias=config.get("mlp_bias", False),
            head_norms=kind == "qwen3",
            tied=config.get("tie_word_embeddings", False),
        )


def window(config: dict) -> int | None:
    """The sliding window of any layer, None where every layer sees the whole text."""
    slides = "sliding_attention" in (config.get("layer_types") or ["sliding_attention"])
    return config.get("sliding_window") if slides else None


def rotary_frequencies(config: dict, head_dim: int) -> tuple[tuple[float, ...], float]:
    """See LlamaConfig; in float32, as in transformers, whose own functions give all kinds but the plain one."""
    rope = rotary(config)
    if rope["rope_type"] == "default":
        inverse = 1.0 / rope["rope_theta"] ** (torch.arange(0, head_dim, 2).float() / head_dim)
        return tuple(inverse.tolist()), 1.0
    from transformers import CONFIG_MAPPING
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    full = CONFIG_MAPPING[config["model_type"]].from_dict(dict(config))
    inverse, scale = ROPE_INIT_FUNCTIONS[rope["rope_type"]](full, torch.device("cpu"))
    return tuple(inverse.tolist()), scale


@dataclass(frozen=True)
class WeightReader:
    """A model's tensors on their way into one precision, on one device.

    What a model keeps is copied: a tensor of a file is a view of all of the file, which stays in memory with it.

    weights: transformers' names; int8 matrices come with a `.scale` beside their `.weight`.
    """

    weights: Weights
    precision: str
    device: str

    def vector(self, name: str) -> Tensor:
        return self.weights[name].to(self.device, DTYPES[self.precision], copy=True)

    def matrix(self, name: str) -> Tensor:
        """The named matrix as floats, whether it is stored in int8 or not."""
        weight = self.weights[f"{name}.weight"]
        if weight.dtype == torch.int8:
            weight = weight.float() * self.weights[f"{name}.scale"][:, None]
        return weight.to(self.device, DTYPES[self.precision])

    def quantised(self, name: str) -> tuple[Tensor, Tensor]:
        """The named matrix in int8, and a scale a row."""
        if f"{name}.scale" in self.weights:
            return self.weights[f"{name}.weight"].to(self.device), self.weights[f"{name}.scale"].to(self.device)
        return quantise_rows(self.weights[f"{name}.weight"].to(self.device).float())

    def linear(self, names: Sequence[str], *, bias: bool = False, rows: int | None = None) -> FloatLinear | Int8Linear:
        """One kernel for the named matrices, stacked; of each the first `rows` rows, None for all."""
        biases = torch.cat([self.vector(f"{name}.bias") for name in names]) if bias else None
        if self.precision != "int8":
            return FloatLinear(stacked([self.matrix(name)[:rows] for name in names]), biases)
        weights, scales = zip(*(self.quantised(name) for name in names), strict=True)
        return Int8Linear(
            stacked([weight[:rows] for weight in weights]), stacked([scale[:rows] for scale in scales]), biases
        )

    def embedding(self, rows: int) -> tuple[Tensor, FloatLinear | Int8Linear | None]:
        """The embedding table, with zeros up to `rows` rows, and what widens a low-rank one (our draft's) or None."""
        table = self.matrix("model.embed_tokens")
        table = F.pad(table, (0, 0, 0, max(0, rows - table.shape[0])))
        if "model.embed_tokens.projection.weight" in self.weights:
            return table, self.linear(["model.embed_tokens.projection"])
        return table, None


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one below the other; a single one is not copied."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors))


class Layer:
    """One decoder layer's weights: query, key and value fused, gate and up fused."""

    def __init__(self, source: WeightReader, prefix: str, config: LlamaConfig):
        attention, mlp = prefix + "self_attn.", prefix + "mlp."
        self.qkv = source.linear([attention + name for name in ("q_proj", "k_proj", "v_proj")], bias=config.qkv_bias)
        self.out = source.linear([attention + "o_proj"], bias=config.out_bias)
        self.gate_up = source.linear([mlp + "gate_proj", mlp + "up_proj"], bias=config.mlp_bias)
        self.down = source.linear([mlp + "down_proj"], bias=config.mlp_bias)
        self.attention_norm = source.vector(prefix + "input_layernorm.weight")
        self.mlp_norm = source.vector(prefix + "post_attention_layernorm.weight")
        # [heads + kv heads, head dim]: one row for each query and key head.
        self.head_norms: Tensor | None = None
        if config.head_norms:
            q, k = (source.vector(f"{attention}{name}_norm.weight") for name in "qk")
            self.head_norms = torch.cat([q.expand(config.heads, -1), k.expand(config.kv_heads, -1)])


class Llama:
    """A decoder of the Llama family that meets `LanguageModel`; not safe for use by two threads at once.

    It does Llama, Mistral, Qwen2 and Qwen3 (see `is_lean`), and our own draft.
    """

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
        vocabulary: int | None = None,
    ):
        """weights: see WeightReader. Raises KeyError where one is missing.

        The context is `context_limit` where that is given and smaller than the model's own.
        vocabulary: another model's number of tokens: no higher id is proposed, and every lower one can be read.
        """
        self.config, self.precision, self.device, self.label = config, precision, device, label
        self.dtype = DTYPES[precision]
        self.known = weights["lm_head.known"].long().cpu() if "lm_head.known" in weights else None
        if self.known is not None and vocabulary:
            self.known = self.known[self.known < vocabulary]
        known = config.vocab_size if self.known is None else len(self.known)
        self.vocab_size = min(known, vocabulary or known)
        self.context_limit = min(context_limit or config.context_limit, config.context_limit)
        source = WeightReader(weights, precision, device)
        self.table, self.widen = source.embedding(vocabulary or 0)
        self.layers = [Layer(source, f"model.layers.{index}.", config) for index in range(config.layers)]
        self.norm = source.vector("model.norm.weight")
        tied = config.tied and "lm_head.weight" not in weights
        self.head = source.linear(["model.embed_tokens" if tied else "lm_head"], rows=self.vocab_size)
        self.slots = Slots(context_limit=self.context_limit, capacity=self.context_limit + TREE_SLOTS)
        self.cache = torch.empty(
            config.layers, 2, config.kv_heads, self.slots.capacity, config.head_dim, dtype=self.dtype, device=device
        )
        self.cos, self.sin = rotary_tables(config, self.context_limit, self.dtype, device)
        self.paddings: dict[int, Padding] = {}

    @property
    def length(self) -> int:
        return self.slots.length

    def tune(self) -> None:
        """Multiply in the way that is fastest with the threads in force; timed the first time (see `linear`)."""
        linears = [getattr(layer, name) for layer in self.layers for name in ("qkv", "out", "gate_up", "down")]
        floats = [each for each in [*linears, self.head] if isinstance(each, FloatLinear)]
        threads = torch.get_num_threads()
        if threads not in self.paddings:
            self.paddings[threads] = fastest_padding(floats)
        for each in floats:
            each.padding = self.paddings[threads]

    @torch.inference_mode()
    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        start = self.length
        self.slots.add(len(ids), parents)
        x = F.embedding(torch.tensor(ids, device=self.device), self.table)
        if self.widen is not None:
            x = self.widen(x)
        depths = torch.tensor(self.slots.depths[start:], device=self.device)
        cos, sin = self.cos[depths][:, None], self.sin[depths][:, None]
        mask = self.attention_mask(start)
        for index, layer in enumerate(self.layers):
            x = self.attend(x, layer, self.cache[index], start, cos, sin, mask)
            gate, up = layer.gate_up(self.normalise(x, layer.mlp_norm)).chunk(2, dim=-1)
            x = x + layer.down(F.silu(gate).mul_(up))
        if rows is not None:
            x = x[list(rows)]
        return self.head(self.normalise(x, self.norm))

    def normalise(self, x: Tensor, weight: Tensor | None) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.config.rms_norm_eps)

    def attend(
        self, x: Tensor, layer: Layer, cache: Tensor, start: int, cos: Tensor, sin: Tensor, mask: Tensor | None
    ) -> Tensor:
        """x plus its attention; x [n, hidden], cache [2, kv heads, slots, head dim]."""
        heads, kv_heads, size = self.config.heads, self.config.kv_heads, self.config.head_dim
        n, end = x.shape[0], start + x.shape[0]
        qkv = layer.qkv(self.normalise(x, layer.attention_norm)).view(n, heads + 2 * kv_heads, size)
        qk = qkv[:, : heads + kv_heads]
        if layer.head_norms is not None:
            qk = self.normalise(qk, None) * layer.head_norms
        rotated = rotate(qk, cos, sin)
        cache[0, :, start:end] = rotated[:, heads:].transpose(0, 1)
        cache[1, :, start:end] = qkv[:, heads + kv_heads :].transpose(0, 1)
        # The queries that share a key head are rows of one problem: no key is ever repeated.
        group = heads // kv_heads
        q = rotated[:, :heads].view(n, kv_heads, group, size).permute(1, 2, 0, 3).reshape(1, kv_heads, group * n, size)
        out = F.scaled_dot_product_attention(q, cache[None, 0, :, :end], cache[None, 1, :, :end], attn_mask=mask)
        out = out.view(kv_heads, group, n, size).permute(2, 0, 1, 3).reshape(n, heads * size)
        return x + layer.out(out)

    def attention_mask(self, start: int) -> Tensor | None:
        """[group * n, end]: 0 where a new token sees a slot, else -inf; None where a single token sees every slot."""
        if self.slots.is_chain and self.length - start == 1:
            return None
        seen = self.slots.seen(start)
        mask = torch.zeros(seen.shape, dtype=self.dtype).masked_fill_(~seen, -torch.inf)
        return mask.repeat(self.config.heads // self.config.kv_heads, 1).to(self.device)

    @torch.inference_mode()
    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        first = self.slots.keep(slots, below)
        slots = [*slots, *below]
        if slots == sorted(slots):
            # Each moves down, to where nothing is that still has to move.
            for place, slot in enumerate(slots, first):
                if place != slot:
                    self.cache[:, :, :, place] = self.cache[:, :, :, slot]
        else:
            self.cache[:, :, :, first : self.length] = self.cache[:, :, :, slots]

    def crop(self, length: int) -> None:
        self.slots.crop(length)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of x [n, heads, head dim]; the first half of `sin` carries the minus sign."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)


def rotary_tables(config: LlamaConfig, limit: int, dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor]:
    """cos and signed sin, [limit, head dim]; the angles are float32, as in transformers."""
    angles = torch.outer(torch.arange(limit).float(), torch.tensor(config.frequencies))
    cos = torch.cat([angles.cos(), angles.cos()], dim=-1) * config.rotary_scale
    sin = torch.cat([-angles.sin(), angles.sin()], dim=-1) * config.rotary_scale
    return cos.to(device, dtype), sin.to(device, dtype)


def load_llama(folder: Path, *, label: str, **options: Any) -> Llama:
    """Read a model folder (config.json and safetensors); the options are those of Llama. Raises ModelUnavailable."""
    config = LlamaConfig.from_dict(read_config(folder))
    with one_sentence(label):
        model = Llama(config, Checkpoint(folder), label=label, **options)
        # Tensors of another shape than the config's show in a forward.
        model.forward([0])
        model.crop(0)
        return model
