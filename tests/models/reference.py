"""What transformers computes, to compare with."""

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tests.tiny import VOCABULARY

TOLERANCE = 1e-9

SHAPE = dict(
    vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.35,
)  # fmt: skip

YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 64}

LLAMA3 = {"rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0, "original_max_position_embeddings": 32}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}

LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 2.0}

FAMILIES = {
    "llama": (LlamaForCausalLM, LlamaConfig(**SHAPE)),
    "llama with biases": (LlamaForCausalLM, LlamaConfig(**SHAPE, attention_bias=True, mlp_bias=True)),
    "llama, tied": (LlamaForCausalLM, LlamaConfig(**SHAPE, tie_word_embeddings=True)),
    "llama, llama3 rotary": (LlamaForCausalLM, LlamaConfig(**SHAPE, rope_parameters=LLAMA3)),
    "llama, linear rotary": (LlamaForCausalLM, LlamaConfig(**SHAPE, rope_parameters=LINEAR)),
    "mistral": (MistralForCausalLM, MistralConfig(**SHAPE, head_dim=16, sliding_window=None)),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SHAPE)),
    "qwen2, yarn": (Qwen2ForCausalLM, Qwen2Config(**SHAPE, rope_parameters=YARN)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**SHAPE, head_dim=16)),
}


def exact_model(family, seed=3):
    """A tiny model of transformers in float64, its norms too, which transformers would round to float32."""
    kind, config = FAMILIES[family]
    torch.manual_seed(seed)
    model = kind(config).double().eval()
    for name, module in list(model.named_modules()):
        if name.endswith("norm"):
            model.set_submodule(name, torch.nn.RMSNorm(len(module.weight), eps=config.rms_norm_eps).double())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                parameter += 0.3 * torch.randn_like(parameter)
    return model


def saved(model, folder):
    """The model's folder, as a download leaves it."""
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def expected(reference, ids):
    with torch.no_grad():
        return reference(torch.tensor([ids])).logits[0]


def random_ids(count, seed=0):
    return torch.randint(2, VOCABULARY, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def close(a, b):
    return torch.allclose(a, b, rtol=0, atol=TOLERANCE)
