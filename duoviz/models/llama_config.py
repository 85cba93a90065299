"""The shape of a model of the Llama family, from its config."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.outside import in_short

# The drafts that this project trains, as in assets/draft; transformers does not know the kind.
OUR_KIND = "duoviz_draft"
KINDS = {"llama", "mistral", "qwen2", "qwen3", OUR_KIND}
# What configs of transformers' families call the length of the context.
CONTEXTS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_target_positions", "model_max_length",
    "context_length",
)  # fmt: skip
# The rotary embeddings that it knows; up to `rotary_end` none of them changes with the length of the text.
ROTARY = {"default", "linear", "dynamic", "yarn", "longrope", "llama3"}

# Memory is taken by sizes before they are compared with those of the weights.
SIZES = ("hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads", "num_hidden_layers")
LARGEST_SIZE = 1 << 24


def is_lean(config: dict) -> bool:
    """Whether the lean decoder can do this model; config as `read_config` gives it."""
    if config["model_type"] not in KINDS or config.get("hidden_act", "silu") != "silu":
        return False
    rope = rotary(config)
    return rope["rope_type"] in ROTARY and rope.get("partial_rotary_factor", 1.0) == 1.0


def rotary(config: dict) -> dict:
    """The config's rotary embedding, with at least `rope_type`."""
    plain = {"rope_type": "default", "rope_theta": config.get("rope_theta", 10_000.0)}
    return plain | (config.get("rope_parameters") or {})


@dataclass(frozen=True)
class LlamaConfig:
    """A model's shape, read from a config of transformers or of our draft.

    context_limit: at most the sliding window where the model has one; no token looks further back
    there, so up to that length the window changes nothing. At most `rotary_end`, too. frequencies,
    rotary_scale: of the rotary embedding, [head dim / 2] in radians a token, and the factor on its
    cosines and sines. The flags say which biases and norms the layers have. tied: the head is the
    embedding table.
    """

    hidden_size: int
    intermediate_size: int
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
        """Raises an exception of some type where a field is missing or cannot be."""
        for name in SIZES:
            if not isinstance(config[name], int) or not 0 < config[name] <= LARGEST_SIZE:
                raise ValueError(f"{name} is {in_short(config[name])}")
        kind, bias = config["model_type"], config.get("attention_bias", False)
        head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        frequencies, scale = rotary_frequencies(config, head_dim)
        return LlamaConfig(
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            kv_heads=config.get("num_key_value_heads") or config["num_attention_heads"],
            head_dim=head_dim,
            rms_norm_eps=config["rms_norm_eps"],
            context_limit=min(filter(None, (config["max_position_embeddings"], window(config), rotary_end(config)))),
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


def context_end(config: dict) -> int | None:
    """How many tokens a model of transformers can read, None where its config names no end."""
    config = config.get("text_config") or config
    sizes = (config.get(name) for name in CONTEXTS)
    known = next((size for size in sizes if isinstance(size, int) and size > 0), None)
    return min(filter(None, (known, rotary_end(config))), default=None)


def rotary_end(config: dict) -> int | None:
    """How many tokens LongRoPE reads with its short factors, None without it.

    A token more, and every key that was read before would have to be read anew with the long ones. That is where
    the context ends here: a tree may have a branch on either side.
    """
    rope = config.get("rope_parameters") or {}
    kinds = [rope, *(part for part in rope.values() if isinstance(part, dict))]  # one for each type of layer
    long = [kind for kind in kinds if kind.get("rope_type") == "longrope"]
    # transformers fills the one in, and goes by the other where a config has both.
    ends = [place.get("original_max_position_embeddings") for place in [*long, config] if long]
    return min(filter(None, ends), default=None)


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


def rotary_angles(config: LlamaConfig, positions: int) -> Tensor:
    """Of each position and pair of a head's numbers, float32 [positions, head size / 2] in radians."""
    return torch.outer(torch.arange(positions).float(), torch.tensor(config.frequencies))


class Limits(NamedTuple):
    """positions: of the longest text; slots: of the cache; written, read: so many first ids are proposed, and can be in
    the text (those the model does not know are zeros)."""

    positions: int
    slots: int
    written: int
    read: int
