"""Models of the Llama family: Llama, Mistral, Qwen2, Qwen3 and our own draft."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from duoviz.models.compiled_decoder import CompiledDecoder
from duoviz.models.language_model import Slots
from duoviz.models.llama_config import Limits, LlamaConfig
from duoviz.models.torch_decoder import TorchDecoder
from duoviz.models.weights import WeightReader

# The precisions of torch's operators; float32 and int8 on a processor are compiled.
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

# Slots beyond the context for the branches of a tree, which share positions.
TREE_SLOTS = 1024


class Llama:
    """A decoder of the Llama family (see `llama_config.is_lean`) that meets `LanguageModel`; for one thread at a time.

    Its logits are float32 in the precisions float32 and int8.
    """

    supports_tree = True

    def __init__(
        self,
        config: LlamaConfig,
        weights: Mapping[str, Tensor],
        *,
        precision: str,
        context_limit: int,
        device: str = "cpu",
        label: str = "llama",
        vocabulary: int | None = None,
    ):
        """weights: see WeightReader. vocabulary: the target's number of tokens: no higher id is proposed, and every
        lower one can be read.

        Raises KeyError for a missing tensor, RuntimeError for one of another size.
        """
        if config.heads % config.kv_heads or config.head_dim % 2:
            raise RuntimeError(f"{config.heads} heads of {config.head_dim} cannot share {config.kv_heads} of keys")
        self.precision, self.device, self.label, self.context_limit = precision, device, label, context_limit
        self.known = weights["lm_head.known"].long().cpu() if "lm_head.known" in weights else None
        if self.known is not None and vocabulary:
            self.known = self.known[self.known < vocabulary]
        known = config.vocab_size if self.known is None else len(self.known)
        self.vocab_size = min(known, vocabulary or known)
        self.slots = Slots(context_limit=context_limit, capacity=context_limit + TREE_SLOTS)
        source = WeightReader(weights, quantised=precision == "int8")
        limits = Limits(context_limit, self.slots.capacity, self.vocab_size, vocabulary or 0)
        self.joinable = device == "cpu" and precision in ("float32", "int8")
        self.decoder: CompiledDecoder | TorchDecoder
        if self.joinable:
            self.decoder = CompiledDecoder(config, source, limits)
        else:
            self.decoder = TorchDecoder(config, source, limits, DTYPES[precision], device)

    @property
    def length(self) -> int:
        return self.slots.length

    def skip(self, ids: Sequence[int]) -> int:
        return 0

    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        start = self.length
        self.slots.add(len(ids), parents)
        logit_rows = range(len(ids)) if rows is None else rows
        return self.decoder.forward(ids, self.slots.depths[start:], self.slots.mask(start), logit_rows)

    def draft(self, ids: Sequence[int], parents: Sequence[int] | None, rows: Sequence[int], *asked) -> None:
        """Draft steps from a forward on (see `CompiledDecoder.draft`); the tokens of a path take the next slots."""
        assert isinstance(self.decoder, CompiledDecoder)
        start, steps = self.length, asked[-1]
        self.slots.add(len(ids), parents)
        depths, mask = self.slots.depths[start:], self.slots.mask(start)
        self.slots.add(len(steps.ended) - 1, None)
        self.decoder.draft(ids, depths, mask, rows, *asked)
        self.slots.crop(start + len(ids) + int(steps.made[0]) - 1)

    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        first = self.slots.keep(slots, below)
        moves = [(slot, place) for place, slot in enumerate([*slots, *below], first) if slot != place]
        if moves:
            self.decoder.move(*zip(*moves, strict=True))

    def crop(self, length: int) -> None:
        self.slots.crop(length)
