"""The target with many texts in its cache at once: one token of each a step."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from duoviz.models.fit import target_device


class BatchedTarget:
    """A Llama-family model that decodes `slots` texts together, each at its own length.

    model: transformers' module on any device, in any precision; this object is its cache.
    A slot is emptied by starting it again at position 0: what stands beyond a slot's position is never read.
    """

    def __init__(self, model: LlamaForCausalLM, *, slots: int, context: int):
        self.model: Any = model
        self.device, config = model.device, self.model.config
        shape = (config.num_hidden_layers, 2, slots, config.num_key_value_heads, context, config.head_dim)
        self.cache = torch.zeros(shape, dtype=model.dtype, device=self.device)
        self.slots = torch.arange(slots, device=self.device)
        self.positions = torch.zeros_like(self.slots)
        self.places = torch.arange(context, device=self.device)

    @torch.inference_mode()
    def step(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Logits [slots, vocabulary] after one more token a slot; ids and positions int64 [slots]."""
        self.positions = positions
        # The whole cache is read each step: a slice of it would be copied before every product, which costs more.
        seen = (self.places <= positions[:, None])[:, None, None]
        out = self.model(ids[:, None], position_ids=positions[:, None], attention_mask=seen, past_key_values=self)
        return out.logits[:, 0]

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Called by each layer with its new keys and values, [slots, kv heads, 1, head size] each.

        Returns all of its keys and values, [slots, kv heads, context, head size] each.
        """
        for every, new in zip(self.cache[layer], (keys, values), strict=True):
            every[self.slots, :, self.positions] = new[:, :, 0]
        return self.cache[layer, 0], self.cache[layer, 1]


def load_target(folder: Path, dtype: torch.dtype = torch.float32) -> LlamaForCausalLM:
    """On the GPU if there is one."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    return model.to(target_device())  # pyright: ignore[reportArgumentType]
