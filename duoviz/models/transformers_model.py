"""Families that the lean decoder does not do, through transformers, behind the same interface."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer
from transformers.utils.logging import disable_progress_bar

from duoviz.errors import UserError, first_line
from duoviz.models.language_model import Slots
from duoviz.models.llama import DTYPES, TREE_SLOTS

# How far two ways to compute the same logits may be apart, as a share of the logits' size.
TOLERANCES = {"float64": 1e-6, "float32": 1e-3, "bfloat16": 0.05, "float16": 0.01}
PROBE = (3, 1, 4, 1, 5, 9)


class TransformersModel:
    """A causal language model of transformers that meets `LanguageModel`; for one thread at a time."""

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        precision: str,
        device: str = "cpu",
        label: str,
        context_limit: int,
        vocabulary: int | None = None,
    ):
        """model: in `precision`; it is moved to `device`. For the other options see `Llama`.

        A few forwards show what the model can do. Raises UserError where its cache cannot be cropped.
        """
        self.precision, self.device, self.label = precision, device, label
        self.context_limit = context_limit
        self.rows = len(model.get_input_embeddings().get_parameter("weight"))
        self.vocab_size = min(self.rows, vocabulary or self.rows)
        self.known: Tensor | None = None
        self.model = model.to(device).eval()  # pyright: ignore[reportArgumentType]
        self.supports_tree, self.joinable = True, False
        self.crop(0)
        self.check_crop()
        config = model.config.get_text_config()
        windowed = sees_a_window(config, context_limit)
        if windowed:
            self.check_window(config)
        self.supports_tree = not windowed and self.trees_work()

    @property
    def length(self) -> int:
        return self.slots.length

    def skip(self, ids: Sequence[int]) -> int:
        return 0

    @torch.inference_mode()
    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        """See `LanguageModel`; float32, or float64 where the model is. Raises ValueError for a tree that cannot be."""
        start = self.length
        self.slots.add(len(ids), parents)
        if not self.slots.is_chain and not self.supports_tree:
            self.slots.crop(start)
            raise ValueError(f"{self.label} can only continue a chain of tokens")
        options: dict[str, Any] = {} if self.slots.is_chain else self.tree_options(start)
        # A draft reads a token of the target that it does not know as its last one.
        inputs = torch.tensor([[min(id, self.rows - 1) for id in ids]], device=self.device)
        logits = self.model(input_ids=inputs, past_key_values=self.cache, use_cache=True, **options).logits[0]
        if rows is not None:
            logits = logits[list(rows)]
        return logits[:, : self.vocab_size].to(torch.float64 if self.precision == "float64" else torch.float32)

    def tree_options(self, start: int) -> dict[str, Tensor]:
        """Positions [1, n] and an additive mask [1, 1, n, end] for the tokens from `start` on."""
        visible = torch.from_numpy(self.slots.mask(start))
        mask = torch.zeros(visible.shape, dtype=DTYPES[self.precision])
        mask.masked_fill_(~visible, torch.finfo(mask.dtype).min)
        depths = torch.tensor([self.slots.depths[start:]])
        return {"attention_mask": mask[None, None].to(self.device), "position_ids": depths.to(self.device)}

    @torch.inference_mode()
    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        before, first = self.length, self.slots.keep(slots, below)
        # A layer that borrows another one's keys and values has none.
        layers = [layer for layer in self.cache.layers if isinstance(layer, DynamicLayer) and layer.is_initialized]
        for states in (states for layer in layers for states in (layer.keys, layer.values) if states is not None):
            states[:, :, first : self.length] = states[:, :, [*slots, *below]]
        self.cache.crop(self.length - before)

    def crop(self, length: int) -> None:
        if length == 0:
            self.cache = DynamicCache()
            self.slots = Slots(context_limit=self.context_limit, capacity=self.context_limit + TREE_SLOTS)
            return
        before = self.length
        self.slots.crop(length)
        self.cache.crop(length - before)

    def check_crop(self) -> None:
        """Raise UserError unless a cropped cache goes on as if what was cropped had never been there."""
        try:
            self.forward(PROBE)
            layers = self.cache.layers
            croppable = bool(layers) and all(
                type(layer) is DynamicLayer and layer.get_seq_length() == len(PROBE) for layer in layers
            )
            if croppable:
                self.crop(3)
                croppable = self.agrees(self.forward((2, 6)), (*PROBE[:3], 2, 6))
        except Exception as error:  # a model without such a cache fails in its own way
            raise UserError(
                f"{self.label} needs a cache of more than keys and values ({first_line(error)}): choose another model."
            ) from error
        if not croppable:
            raise UserError(f"{self.label} cannot drop rejected tokens from its cache: choose another model.")
        self.crop(0)

    def check_window(self, config: Any) -> None:
        """Raise UserError if the model's window is no matter of its mask, but of a cache that drops tokens."""
        window = getattr(config, "sliding_window", None)
        if not window:
            return
        logits, config.sliding_window = self.run_fresh(PROBE), 2
        narrow, config.sliding_window = self.run_fresh(PROBE), window
        if torch.equal(logits, narrow):
            raise UserError(f"{self.label} needs a cache that drops what lies before its window: choose another model.")

    def trees_work(self) -> bool:
        """Whether tokens with a common parent can be forwarded at once without seeing each other."""
        last = len(PROBE) - 1
        try:
            self.forward(PROBE)
            twins = self.forward((2, 6), parents=(last, last))
            child = self.forward((7,), parents=(last + 1,))
            return self.agrees(twins[1:], (*PROBE, 6)) and self.agrees(child, (*PROBE, 2, 7))
        except Exception:  # a model that knows no mask of four dimensions fails in its own way
            return False
        finally:
            self.crop(0)

    def agrees(self, logits: Tensor, ids: Sequence[int]) -> bool:
        """Whether logits [n, vocab] are those of the last n of these ids in a forward without a cache, within the
        precision; a run meets those that are not finite."""
        fresh = self.run_fresh(ids)[-len(logits) :]
        finite = fresh.isfinite()
        apart = (logits - fresh)[finite].norm() / fresh[finite].norm()
        return not apart > TOLERANCES[self.precision]

    @torch.inference_mode()
    def run_fresh(self, ids: Sequence[int]) -> Tensor:
        """The logits [n, vocab] of a forward without a cache."""
        inputs = torch.tensor([list(ids)], device=self.device)
        return self.model(input_ids=inputs, use_cache=False).logits[0, :, : self.vocab_size]


def sees_a_window(config: Any, context_limit: int) -> bool:
    """Whether some layer sees less than the whole text, which a mask of our own would not tell it."""
    kinds = getattr(config, "layer_types", None) or ["window"]
    windows = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size", "window_size")]
    return any(kind != "full_attention" for kind in kinds) and any(
        isinstance(window, int) and window < context_limit for window in windows
    )


def load_transformers(folder: Path, *, precision: str, label: str, **options: Any) -> TransformersModel:
    """Read a model folder (config.json and safetensors); the options are those of TransformersModel.

    Raises errors of many types, KeyError for a tensor that is missing.
    """
    disable_progress_bar()
    model, report = AutoModelForCausalLM.from_pretrained(  # pyright: ignore[reportGeneralTypeIssues]
        folder,
        dtype=DTYPES[precision],
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        output_loading_info=True,
    )
    # transformers fills what a file lacks with random numbers.
    if missing := sorted(report["missing_keys"]):
        raise KeyError(missing[0])
    return TransformersModel(model, precision=precision, label=label, **options)
