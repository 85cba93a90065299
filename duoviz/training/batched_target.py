"""The target with many texts in its cache at once: one token of each a step."""

from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, rotate_half

from duoviz.models.fit import target_device


class BatchedTarget:
    """A Llama-family model that decodes `slots` texts together, each at its own length.

    model: transformers' module, any device; its matrices are used in `dtype`.
    A slot is emptied by starting it again at position 0: what stands beyond a slot's position is never read.
    """

    def __init__(self, model: LlamaForCausalLM, *, slots: int, context: int, dtype: torch.dtype):
        config = model.config
        self.device, self.dtype = model.device, dtype
        self.heads, self.head_dim = config.num_attention_heads, head_dim_of(config)
        self.kv_heads = config.num_key_value_heads or self.heads
        self.eps = config.rms_norm_eps
        self.embedding = model.model.embed_tokens.weight.detach().to(dtype)
        self.head = model.lm_head.weight.detach().to(dtype)
        self.norm = model.model.norm.weight.detach().to(dtype)
        self.layers = fused_layers(model, dtype)
        shape = (len(self.layers), 2, slots, self.kv_heads, context, self.head_dim)
        self.cache = torch.zeros(shape, dtype=dtype, device=self.device)
        self.cos, self.sin = (table.to(dtype) for table in rotary_table(context, config, self.device))
        self.slots = torch.arange(slots, device=self.device)
        self.places = torch.arange(context, device=self.device)

    @torch.inference_mode()
    def step(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Logits [slots, vocabulary] after one more token a slot; ids and positions int64 [slots]."""
        # The whole cache is read each step: a slice of it is copied before every product, which costs more.
        hidden = (self.places[None] > positions[:, None])[:, None, None]
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        x = self.embedding[ids]
        for number, layer in enumerate(self.layers):
            qkv = F.linear(F.rms_norm(x, x.shape[-1:], layer["before"], self.eps), layer["qkv"])
            heads = qkv.view(len(x), -1, self.head_dim)
            qk, v = heads[:, : -self.kv_heads], heads[:, -self.kv_heads :]
            qk = rotated(qk, cos, sin)
            keys, values = self.cache[number]
            keys[self.slots, :, positions], values[self.slots, :, positions] = qk[:, self.heads :], v
            # The query heads of one key-value head stand as rows beside each other: nothing is repeated.
            queries = qk[:, : self.heads].reshape(len(x), self.kv_heads, -1, self.head_dim)
            scores = (queries @ keys.transpose(2, 3)).float() * self.head_dim**-0.5
            shares = scores.masked_fill_(hidden, float("-inf")).softmax(dim=-1).to(self.dtype)
            x = x + F.linear((shares @ values).reshape(len(x), -1), layer["out"])
            gate, up = F.linear(F.rms_norm(x, x.shape[-1:], layer["after"], self.eps), layer["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        return F.linear(F.rms_norm(x, x.shape[-1:], self.norm, self.eps), self.head)


def load_target(folder: Path) -> LlamaForCausalLM:
    """In float32, on the GPU if there is one."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return model.to(target_device())  # pyright: ignore[reportArgumentType]


def fused_layers(model: LlamaForCausalLM, dtype: torch.dtype) -> list[dict[str, Tensor]]:
    """Each decoder layer's matrices, those of one input joined."""
    fused = []
    for layer in model.model.layers:
        layer = cast(LlamaDecoderLayer, layer)
        attention, mlp = layer.self_attn, layer.mlp
        matrices = {
            "before": layer.input_layernorm.weight,
            "qkv": torch.cat([attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight]),
            "out": attention.o_proj.weight,
            "after": layer.post_attention_layernorm.weight,
            "gate_up": torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]),
            "down": mlp.down_proj.weight,
        }
        fused.append({name: value.detach().to(dtype) for name, value in matrices.items()})
    return fused


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding, half-split layout."""
    return x * cos + rotate_half(x) * sin


def head_dim_of(config: LlamaConfig) -> int:
    """The width of one attention head; transformers' own default where the file says none."""
    return config.head_dim or config.hidden_size // config.num_attention_heads


def rope_theta_of(config: LlamaConfig) -> float:
    parameters: Any = config.rope_parameters
    return parameters["rope_theta"]


def rotary_table(context: int, config: LlamaConfig, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines, float32 [context, head_dim] each."""
    head_dim = head_dim_of(config)
    half = torch.arange(0, head_dim, 2, dtype=torch.float32)
    inverse = rope_theta_of(config) ** (-half / head_dim)
    angles = torch.outer(torch.arange(context, dtype=torch.float32), inverse).repeat(1, 2).to(device)
    return angles.cos(), angles.sin()
