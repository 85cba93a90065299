"""Loading a pair: its files are found, it is seen whether its models fit in memory, then its target is read."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from duoviz.errors import UserError
from duoviz.models.copying import Copying
from duoviz.models.cores import Cores, assign_cores, available_cores
from duoviz.models.files import ModelFiles, end_tokens, fetch_pair, one_sentence, read_tensors
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import DTYPES, Llama
from duoviz.models.llama_config import LlamaConfig, context_of, is_lean
from duoviz.models.pair import CONTEXT_LIMIT, DraftSource, Pair
from duoviz.models.progress import Course, Progress, no_progress
from duoviz.models.registry import EMBEDDED, Models, check_draft, find_pair
from duoviz.models.shapes import InShape, config_in
from duoviz.models.tokenizers import check_tokenizers, load_tokenizer

MEMINFO = Path("/proc/meminfo")
# Where a container's limit and what it uses of it stand: of control groups version 2, and of version 1, as in
# https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/memory.html.
ONE, TWO = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
GROUPS = (
    (TWO / "memory.max", TWO / "memory.current", TWO / "memory.stat"),
    (ONE / "memory.limit_in_bytes", ONE / "memory.usage_in_bytes", ONE / "memory.stat"),
)
# Bytes of memory for each number of a model.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}
# The share of the work that a download takes, and of the rest the share until the tokenizer is loaded.
FETCHING, TOKENIZER = 0.9, 0.3


def target_device() -> str:
    """Where targets run: on the GPU where there is one. A draft runs there only where the two take turns."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def precisions(models: Models, draft: ModelFiles, device: str) -> tuple[str, str]:
    """The precision of the target, on this device, and of the draft beside it.

    A GPU without bfloat16 in hardware, such as a T4, has float16.
    """
    target = "float32" if device == "cpu" else models.gpu_precision
    if target == "bfloat16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        target = "float16"
    return target, "int8" if is_lean(draft.config) else "float32"


def memory_needs(models: Models, target: ModelFiles, draft: ModelFiles, device: str) -> dict[str, int]:
    """How many bytes a pair needs on each device; device: the target's.

    There are two of the draft: beside the target, and on the target's device for the methods that take turns.
    """
    precision, beside = precisions(models, draft, device)
    needs = Counter({"cpu": draft.parameters * BYTES[beside]})
    in_turn = beside if device == "cpu" else precision
    needs[device] += target.parameters * BYTES[precision] + draft.parameters * BYTES[in_turn]
    return dict(needs)


def check_fit(name: str, needs: Mapping[str, int], spare: Mapping[str, int] | None = None) -> None:
    """Raise UserError unless the pair of this name, with the bytes that it needs on each device, fits there.

    spare: bytes on each device that will be given back before it is loaded.
    """
    for device, needed in needs.items():
        free = free_memory(device) + (spare or {}).get(device, 0)
        if needed > free:
            where = "this machine" if device == "cpu" else "the GPU"
            raise UserError(
                f"{name} needs {needed / 1e9:.1f} GB of memory, and {where} has {free / 1e9:.1f} GB free: "
                "choose a pair of smaller models."
            )


def check_finite(model: LanguageModel) -> None:
    """Raise UserError for a model whose numbers float16 cannot hold: a text's first tokens have the largest."""
    finite = model.forward((3, 1, 4, 1, 5, 9)).isfinite().all()
    model.crop(0)
    if not finite:
        raise UserError(f"{model.label} overflows in float16, and this GPU has no bfloat16: choose another pair.")


def check_room(name: str, spare: Mapping[str, int] | None = None) -> None:
    """Raise UserError for a pair that does not fit, before its weights are fetched; spare: see `check_fit`."""
    models = find_pair(name)
    if models.target != EMBEDDED or models.shape:
        check_fit(name, memory_needs(models, *fetch_pair(name, weights=False), target_device()), spare)


def free_memory(device: str) -> int:
    """Bytes of memory that are free on a device."""
    if device != "cpu":
        return torch.cuda.mem_get_info(device)[0]
    lines = MEMINFO.read_text().splitlines()
    on_machine = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    return min(on_machine, *(free_in_group(*files) for files in GROUPS))


def free_in_group(limit: Path, used: Path, stat: Path) -> int:
    """Bytes that a container's limit leaves, endless without one; pages of files that it may drop count as free."""
    try:
        allowed, taken = int(limit.read_text()), int(used.read_text())
        rows = dict(line.split() for line in stat.read_text().splitlines())
    except (OSError, ValueError):
        return sys.maxsize  # no container, or none with a limit
    return allowed - taken + int(rows.get("inactive_file", 0))


def load_model(
    files: ModelFiles, *, precision: str, device: str = "cpu", context_limit: int = CONTEXT_LIMIT, **options: Any
) -> LanguageModel:
    """The model in these files: by the lean decoder where it can, else by transformers. Raises UserError.

    context_limit: of the pair, where it is smaller than the model's. options: vocabulary, see `Llama`.
    """
    limit = min(context_limit, context_of(files.config))
    options |= {"precision": precision, "device": device, "label": files.label, "context_limit": limit}
    with one_sentence(files.label):
        if not is_lean(files.config):
            from duoviz.models.transformers_model import load_transformers

            return load_transformers(files.folder, **options)
        config, weights = files.config, read_tensors(files.folder)
        if files.shape:
            dtype = DTYPES.get(precision, torch.float32)
            weights = InShape(weights, config, files.shape, device=device, dtype=dtype)
            config = config_in(files.shape, config)
        model = Llama(LlamaConfig.from_dict(config), weights, **options)
        return Copying(model, config["copying"]) if config.get("copying") else model


def prepare_pair(name: str, progress: Progress = no_progress) -> tuple[DraftSource, Cores, Callable[[], Pair]]:
    """Find a pair's files, fetched if need be, and see that its models fit in memory.

    Returns its draft and cores, and what loads the pair: meanwhile the draft can be loaded elsewhere. An exception
    that `progress` raises ends either. Raises UserError.
    """
    models, course = find_pair(name), Course(progress)
    target, draft = fetch_pair(name, course.until(FETCHING))
    device = target_device()
    precision, draft_precision = precisions(models, draft, device)
    memory = memory_needs(models, target, draft, device)
    check_fit(name, memory)
    limit, label = min(context_of(target.config), context_of(draft.config)), f"{draft.label} ({draft_precision})"
    load_draft = partial(load_model, replace(draft, label=label)) if models.draft else partial(check_draft, name)
    load_draft = partial(load_draft, precision=draft_precision, context_limit=limit, vocabulary=target.vocabulary)
    source = DraftSource(load_draft, label, draft_precision, draft.version, draft.folder)
    cores = assign_cores(available_cores(), target_on_gpu=device != "cpu")

    def load_rest() -> Pair:
        tell = course.until(1.0)
        tell(0.0, "Loading the tokenizer")
        tokenizer = load_tokenizer(target)
        if target.folder != draft.folder:
            check_tokenizers(tokenizer, target, draft)
        tell(TOKENIZER, "Loading the large model")
        model = load_model(target, precision=precision, device=device, context_limit=limit)
        if precision == "float16":
            check_finite(model)
        if (last := tokenizer.last_id()) >= model.vocab_size:
            raise UserError(
                f"The tokenizer of {model.label} does not match its weights: it has the id {last}, "
                f"and they have {model.vocab_size:,} tokens."
            )
        eos, written = end_tokens(target.folder, tokenizer), None if tokenizer.has_template else models.prompt_format
        return Pair(name, model, tokenizer, eos, cores, source, written, memory)

    return source, cores, load_rest


def load_pair(name: str, progress: Progress = no_progress) -> Pair:
    """Load a pair of the registry, or any two models named as "TARGET + DRAFT"; see `prepare_pair`."""
    return prepare_pair(name, progress)[-1]()
