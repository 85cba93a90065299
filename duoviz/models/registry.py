"""The registry of (target, draft) pairs, and what a pair's name means."""

import os
from dataclasses import dataclass
from typing import Any

from duoviz.errors import UserError
from duoviz.models.cores import lends_gpu
from duoviz.outside import in_short, is_text

# In place of a model's name: the model that this project brings along.
EMBEDDED = "embedded"
LARGE = "embedded-as-llama-2-7b"
VICUNA = "USER: {prompt} ASSISTANT:"


@dataclass(frozen=True)
class Models:
    """Which models make a pair: each the id of a model on the hub, a local folder, or `embedded`; draft: "" for none.

    gpu_precision: of the target on a GPU; on the CPU it is float32. prompt_format: how a user turn is
    written for a target whose tokenizer has no chat template; a base model goes on with the text.
    shape: of `shapes.SHAPES`, that the target is put into.
    """

    target: str
    draft: str
    gpu_precision: str = "bfloat16"
    prompt_format: str = "{prompt}"
    shape: str | None = None


PAIRS: dict[str, Models] = {
    "embedded": Models(EMBEDDED, EMBEDDED, gpu_precision="float32"),
    "embedded-as-360m": Models(EMBEDDED, EMBEDDED, gpu_precision="float32", shape="smollm2-360m"),
    "embedded-as-llama-2-7b": Models(EMBEDDED, EMBEDDED, shape="llama-2-7b"),
    "embedded-as-llama-3-8b": Models(EMBEDDED, EMBEDDED, shape="llama-3-8b"),
    "smollm2-360m": Models("HuggingFaceTB/SmolLM2-360M-Instruct", EMBEDDED),
    "smollm2-1.7b": Models("HuggingFaceTB/SmolLM2-1.7B-Instruct", EMBEDDED),
    "smollm2-1.7b-135m": Models("HuggingFaceTB/SmolLM2-1.7B-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    "qwen2.5-7b": Models("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    "qwen2.5-1.5b": Models("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    "llama-2-7b": Models("meta-llama/Llama-2-7b-hf", "double7/vicuna-68m"),
    "vicuna-7b": Models("lmsys/vicuna-7b-v1.5", "double7/vicuna-68m", prompt_format=VICUNA),
}


def first_pair() -> str:
    """The pair that the page begins with and its places share: `DUOVIZ_PAIR`, or the embedded one.

    The GPU that ZeroGPU lends is too fast for a target as small as that one: there a draft pays for a larger target.
    """
    return os.environ.get("DUOVIZ_PAIR") or (LARGE if lends_gpu() else EMBEDDED)


def find_pair(name: object) -> Models:
    """The pair of this name: one of PAIRS, two models as "TARGET + DRAFT", or a target alone. Raises UserError."""
    if isinstance(name, str) and is_text(name) and "\0" not in name:
        if name in PAIRS:
            return PAIRS[name]
        models = [part.strip() for part in name.split(" + ")]
        if len(models) == 2 and all(models):
            return Models(*models)
        if len(models) == 1 and ("/" in name or os.path.isdir(os.path.expanduser(name))):
            return Models(name, "")
    raise UserError(
        f"There is no pair named {in_short(name)}: choose one of {', '.join(PAIRS)}, or write "
        '"TARGET + DRAFT", each a folder or the id of a model on the hub.'
    )


def check_draft(name: object, **options: Any) -> Any:
    """Raise UserError where a pair has no draft; with a loader's options it stands in for the draft's loader."""
    if not find_pair(name).draft:
        raise UserError(f'{in_short(name)} is a target without a draft, which this needs: write "TARGET + DRAFT".')


def larger(name: str) -> str:
    """The pair whose target is this one's in the next larger shape. Raises UserError where there is none."""
    shapes = [other for other, models in PAIRS.items() if models.target == models.draft == EMBEDDED]
    if name not in shapes[:-1]:
        raise UserError(f"{in_short(name)} has no larger shape: choose one of {', '.join(shapes[:-1])} under Models.")
    return shapes[shapes.index(name) + 1]


def is_on_hub(model: str) -> bool:
    """Whether a name can only be that of a model on the hub."""
    looks_like_a_folder = model.startswith((".", "/", "~")) or model.count("/") > 1
    return model != EMBEDDED and not looks_like_a_folder and not os.path.isdir(os.path.expanduser(model))


def needs_the_hub(name: str) -> bool:
    """Whether a pair's models come from the hub. Raises UserError."""
    models = find_pair(name)
    return any(is_on_hub(model) for model in (models.target, models.draft) if model)
