"""What a config says of a model: the shape of one of the Llama family, and how many tokens any model can read."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from duoviz.models.pair import CONTEXT_LIMIT
from duoviz.outside import in_short

# The drafts that this project trains, as in assets/draft; transformers does not know the kind.
OUR_KIND = "duoviz_draft"
KINDS = {"llama", "mistral", "qwen2", "qwen3", OUR_KIND}
# What configs of transformers' families call the length of the context.
CONTEXTS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_target_positions", "model_max_length",
    "context_length",
)  # fmt: skip
# The rotary embeddings that the lean decoder knows; up to `rotary_end` none of them changes with the length of a text.
ROTARY = {"default", "linear", "dynamic", "yarn", "longrope", "llama3"}

# Memory is taken by sizes before they are compared with those of the weights.
SIZES = ("hidden_size", "intermediate_size", "max_position_embeddings", "num_attention_heads", "num_hidden_layers")
LARGEST_SIZE = 1 << 24


def is_lean(config: dict) -> bool:
    """Whether the lean decoder can do this model; config as `files.read_config` gives it."""
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

    frequencies, rotary_scale: of the rotary embedding, [head dim / 2] in radians a token, and the factor on its
    cosines and sines. tied: the head is the embedding table. Which biases and norms there are, the tensors say.
    """

    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_norm_eps: float
    vocab_size: int
    frequencies: tuple[float, ...]
    rotary_scale: float
    tied: bool

    @staticmethod
    def from_dict(config: dict) -> "LlamaConfig":
        """Raises an exception of some type where a field is missing or cannot be."""
        for name in SIZES:
            if not isinstance(config[name], int) or not 0 < config[name] <= LARGEST_SIZE:
                raise ValueError(f"{name} is {in_short(config[name])}")
        heads = config["num_attention_heads"]
        head_dim = config.get("head_dim") or config["hidden_size"] // heads
        frequencies, scale = rotary_frequencies(config, head_dim)
        return LlamaConfig(
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            layers=config["num_hidden_layers"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=head_dim,
            rms_norm_eps=config["rms_norm_eps"],
            vocab_size=config["vocab_size"],
            frequencies=frequencies,
            rotary_scale=scale,
            tied=config.get("tie_word_embeddings", False),
        )


def context_of(config: dict) -> int:
    """How many tokens a model can read, CONTEXT_LIMIT at most.

    The lean decoder knows no sliding window: where a layer has one, the context ends with it, for up to there it
    changes nothing.
    """
    part = config.get("text_config") or config
    sizes = (part.get(name) for name in CONTEXTS)
    ends = [next((size for size in sizes if isinstance(size, int) and size > 0), None), rotary_end(part)]
    if is_lean(config) and "sliding_attention" in (config.get("layer_types") or ["sliding_attention"]):
        ends.append(config.get("sliding_window"))
    return min(filter(None, [CONTEXT_LIMIT, *ends]))


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
