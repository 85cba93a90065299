"""The registry of (target, draft) pairs, and loading one."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from duoviz.models.cores import Cores, available_cores, core_label, on_cores, share_cores
from duoviz.models.embedded import DRAFT_FOLDER, TARGET_LABEL, ModelUnavailable, Progress, embedded_target, no_progress
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import Llama, load_llama


class PromptError(ValueError):
    """The prompt cannot be used; the message is a sentence for the user."""


class UnknownPair(ValueError):
    """There is no pair of this name; the message lists those that are."""


@dataclass
class Pair:
    """A loaded target, its tokenizer, and how to load its draft.

    load_draft: picklable, because the draft is loaded where it runs. draft_version: changes with
    the draft's weights. resources: what the decoding methods keep with the pair (the running draft,
    measured costs). stopped: asked during long forwards whether the run is to end.
    """

    name: str
    target: Llama
    tokenizer: Any
    eos: frozenset[int]
    load_draft: Callable[[], LanguageModel]
    draft_label: str
    draft_precision: str
    cores: Cores
    draft_version: str = ""
    resources: dict[str, Any] = field(default_factory=dict)
    stopped: Callable[[], bool] = bool

    def encode(self, prompt: str, *, raw: bool = False) -> list[int]:
        """Token ids of a user turn in the chat template, or of the text as it is. Raises PromptError."""
        if not prompt.strip():
            raise PromptError("The prompt is empty: type something for the model to answer.")
        if raw:
            ids = self.tokenizer(prompt, add_special_tokens=False)["input_ids"]
        else:
            message = [{"role": "user", "content": prompt}]
            ids = self.tokenizer.apply_chat_template(message, add_generation_prompt=True, return_dict=True)["input_ids"]
        limit = self.target.context_limit
        if len(ids) >= limit:
            raise PromptError(f"The prompt is too long: {len(ids):,} tokens, and the model's context holds {limit:,}.")
        return ids

    def target_device_label(self, cores: tuple[int, ...]) -> str:
        """What the target runs on, as the page calls it."""
        return core_label(cores) if self.target.device == "cpu" else torch.cuda.get_device_name(self.target.device)

    def draft_device_label(self) -> str:
        return core_label(self.cores.draft)


def target_device() -> str:
    """Where targets run: on the GPU where there is one. Drafts are always on the CPU."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def load_embedded(progress: Progress) -> Pair:
    """The default pair: everything it needs comes from the package index and `assets/draft`."""
    from transformers import AutoTokenizer

    folder = embedded_target(progress)
    progress(0.97, "Loading the tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    progress(0.98, "Loading the target model")
    device = target_device()
    cores = share_cores(available_cores(), target_on_gpu=device != "cpu")
    target = load_llama(folder, precision="float32", device=device, label=TARGET_LABEL)
    weights = DRAFT_FOLDER / "model.safetensors"
    if not weights.is_file():
        raise ModelUnavailable(f"The draft model is missing: there is no {weights}.")
    label = "duoviz draft (int8)"
    return Pair(
        name="embedded",
        target=target,
        tokenizer=tokenizer,
        eos=frozenset({tokenizer.eos_token_id}),
        load_draft=partial(load_llama, DRAFT_FOLDER, precision="int8", label=label),
        draft_label=label,
        draft_precision="int8",
        cores=cores,
        draft_version=hashlib.sha256(weights.read_bytes()).hexdigest()[:16],
    )


PAIRS: dict[str, Callable[[Progress], Pair]] = {"embedded": load_embedded}


def load_pair(name: str = "embedded", progress: Progress = no_progress) -> Pair:
    """Load a pair of the registry. Raises UnknownPair or ModelUnavailable."""
    if name not in PAIRS:
        raise UnknownPair(f"There is no pair named {name!r}; there is: {', '.join(PAIRS)}.")
    pair = PAIRS[name](progress)
    progress(0.99, "Choosing the fastest matrix kernels")
    for cores in (pair.cores.target, pair.cores.all):
        with on_cores(cores):
            pair.target.tune()
    return pair
