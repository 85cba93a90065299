"""Tiny random weights and decoders of them: nothing here imports transformers, which takes seconds in each process."""

from functools import cache

import torch
from torch import Tensor

from duoviz.models.llama import Llama
from duoviz.models.llama_config import LlamaConfig

VOCABULARY = 40
WIDTH, INNER, LAYERS, HEADS, KV_HEADS, SPREAD = 32, 48, 1, 4, 2, 0.35
KV_WIDTH = WIDTH * KV_HEADS // HEADS
SHAPES = {
    "self_attn.q_proj": (WIDTH, WIDTH), "self_attn.k_proj": (KV_WIDTH, WIDTH), "self_attn.v_proj": (KV_WIDTH, WIDTH),
    "self_attn.o_proj": (WIDTH, WIDTH), "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH),
    "mlp.down_proj": (WIDTH, INNER), "input_layernorm": (WIDTH,), "post_attention_layernorm": (WIDTH,),
}  # fmt: skip

# A config as transformers writes it, and float64 tensors by their names there.
Weights = tuple[dict, dict[str, Tensor]]


@cache
def tiny_weights(seed: int, *, context: int = 256) -> Weights:
    """A tiny Llama's, drawn after this seed; its norms are ones."""
    config = {
        "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": INNER,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": context, "rms_norm_eps": 1e-6, "tie_word_embeddings": False,
    }  # fmt: skip
    torch.manual_seed(seed)
    layers = {f"model.layers.{layer}.{name}.weight": SHAPES[name] for layer in range(LAYERS) for name in SHAPES}
    ends = {"model.embed_tokens.weight": (VOCABULARY, WIDTH), "lm_head.weight": (VOCABULARY, WIDTH)}
    shapes = {**ends, **layers, "model.norm.weight": (WIDTH,)}
    return config, {name: drawn(name, shape) for name, shape in shapes.items()}


def drawn(name: str, shape: tuple[int, ...]) -> Tensor:
    return (torch.ones(shape) if "norm" in name else torch.empty(shape).normal_(0, SPREAD)).double()


def near_copy(weights: Weights, noise: float) -> Weights:
    """A draft's that often, but not always, agrees with the target of these weights."""
    config, tensors = weights
    generator = torch.Generator().manual_seed(7)
    shaken = {
        name: tensor + noise * tensor.std() * torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype)
        for name, tensor in tensors.items()
    }
    return config, shaken


def decoder(config: dict, weights: dict[str, Tensor], **options) -> Llama:
    """The lean decoder in float64."""
    context = config["max_position_embeddings"]
    return Llama(LlamaConfig.from_dict(config), weights, precision="float64", context_limit=context, **options)


def tiny_decoder(seed: int) -> Llama:
    return decoder(*tiny_weights(seed))
