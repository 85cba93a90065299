"""Decoders of given weights, for the draft's process: nothing here imports transformers, which takes seconds."""

import os

from torch import Tensor

from duoviz.models.llama import Llama
from duoviz.models.llama_config import LlamaConfig


def decoder(config: dict, weights: dict[str, Tensor], **options) -> Llama:
    """The lean decoder in float64."""
    return Llama(LlamaConfig.from_dict(config), weights, precision="float64", **options)


def ends_at_once(config: dict, weights: dict[str, Tensor]) -> None:
    """What a draft's process does that dies while it starts."""
    os._exit(3)
