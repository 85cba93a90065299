"""Loading a pair: its files are found, it is seen whether its models fit in memory, then its target is read."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from duoviz.errors import UserError
from duoviz.models.checkpoint import end_tokens, read_config
from duoviz.models.copying import Copying
from duoviz.models.cores import Cores, assign_cores, available_cores
from duoviz.models.files import ModelFiles, PairFiles, context_of, fetch_pair, outline, version_of, vocabulary_of
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import load_llama
from duoviz.models.llama_config import is_lean
from duoviz.models.pair import DraftSource, Pair
from duoviz.models.progress import Course, Progress, no_progress, part_of
from duoviz.models.registry import EMBEDDED, Models, check_draft, find_pair
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


def memory_needs(
    models: Models, target: ModelFiles, draft: ModelFiles, device: str
) -> dict[str, list[tuple[str, int]]]:
    """For each device the models that it is to hold, with the bytes that each needs; device: the target's.

    There are two of the draft: beside the target, and on the target's device for the methods that take turns.
    """
    precision, draft_precision = precisions(models, draft, device)
    need, beside = target.parameters * BYTES[precision], draft.parameters * BYTES[draft_precision]
    if device == "cpu":
        return {"cpu": [(target.label, need), (draft.label, 2 * beside)]}
    in_turn = draft.parameters * BYTES[precision]
    return {device: [(target.label, need), (draft.label, in_turn)], "cpu": [(draft.label, beside)]}


def check_fit(needs: Mapping[str, Sequence[tuple[str, int]]], spare: Mapping[str, int] | None = None) -> None:
    """Raise UserError unless the models on each device, with the bytes that each needs, fit there together.

    spare: bytes on each device that will be given back before they are loaded.
    """
    for device, models in needs.items():
        labels, needed = [label for label, size in models if size], sum(size for _, size in models)
        free = free_memory(device) + (spare or {}).get(device, 0)
        if needed > free:
            verb, where = "needs" if len(labels) == 1 else "need", "this machine" if device == "cpu" else "the GPU"
            raise UserError(
                f"{' and '.join(labels)} {verb} {needed / 1e9:.1f} GB of memory, and {where} has "
                f"{free / 1e9:.1f} GB free: choose a pair of smaller models."
            )


def check_finite(model: LanguageModel) -> None:
    """Raise UserError for a model whose numbers float16 cannot hold: a text's first tokens have the largest."""
    finite = model.forward((3, 1, 4, 1, 5, 9)).isfinite().all()
    model.crop(0)
    if not finite:
        raise UserError(f"{model.label} overflows in float16, and this GPU has no bfloat16: choose another pair.")


def check_room(name: str, spare: Mapping[str, int] | None = None) -> None:
    """Raise UserError for a pair that does not fit, before its weights are fetched.

    spare: the bytes on each device that will be given back before it is loaded. Raises UserError.
    """
    models = find_pair(name)
    if models.shape:
        check_fit(memory_needs(models, *fetch_pair(name), target_device()), spare)
    elif models.target != EMBEDDED:
        draft, target = outline(models.draft), outline(models.target)
        check_fit(memory_needs(models, target, draft, target_device()), spare)


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


def load_model(folder: Path, *, shape: str | None = None, **options: Any) -> LanguageModel:
    """The model in a folder: by the lean decoder where it can, else by transformers. Raises UserError.

    shape: see `ModelFiles`. options: of `load_llama` and of `load_transformers`.
    """
    config = read_config(folder)
    if is_lean(config):
        model = load_llama(folder, shape=shape, **options)
        return Copying(model, config["copying"]) if config.get("copying") else model
    from duoviz.models.transformers_model import load_transformers

    return load_transformers(folder, **options)


@dataclass(frozen=True)
class PreparedPair:
    """A pair whose files are here and which fits in memory: its draft can be loaded while `load` reads its target.

    prompt_format: see Models. memory: see Pair. fetched: the fraction of the work that fetching took.
    """

    name: str
    files: PairFiles
    load_target: Callable[[], LanguageModel]
    draft: DraftSource
    cores: Cores
    prompt_format: str
    memory: dict[str, int]
    fetched: float

    def load(self, progress: Progress = no_progress) -> Pair:
        """Read the tokenizer and the target. An exception that `progress` raises ends it. Raises UserError."""
        progress = part_of(progress, self.fetched, 1.0)
        progress(0.0, "Loading the tokenizer")
        tokenizer = load_tokenizer(self.files[0])
        if self.files[0].folder != self.files[1].folder:
            check_tokenizers(tokenizer, *self.files)
        progress(TOKENIZER, "Loading the target model")
        target = self.load_target()
        if target.precision == "float16":
            check_finite(target)
        if (last := tokenizer.last_id()) >= target.vocab_size:
            raise UserError(
                f"The tokenizer of {target.label} does not match its weights: it has the id {last}, "
                f"and they have {target.vocab_size:,} tokens."
            )
        return Pair(
            name=self.name,
            target=target,
            tokenizer=tokenizer,
            eos=end_tokens(self.files[0].folder, tokenizer),
            cores=self.cores,
            draft=self.draft,
            prompt_format=None if tokenizer.has_template else self.prompt_format,
            memory=self.memory,
        )


def prepare_pair(name: str, progress: Progress = no_progress, sources: PairFiles | None = None) -> PreparedPair:
    """Find a pair's files, fetched if need be, and see that its models fit in memory.

    An exception that `progress` raises ends it. sources: what `fetch_pair` gave, where it was called before.
    Raises UserError.
    """
    models = find_pair(name)
    course = Course(progress)
    target, draft = sources or fetch_pair(name, course.until(FETCHING))
    device = target_device()
    precision, draft_precision = precisions(models, draft, device)
    needs = memory_needs(models, target, draft, device)
    check_fit(needs)
    limit = min(context_of(target), context_of(draft))
    label = f"{draft.label} ({draft_precision})"
    load = partial(load_model, context_limit=limit)
    load_draft = partial(load, draft.folder) if models.draft else partial(check_draft, name)
    load_draft = partial(load_draft, precision=draft_precision, label=label, vocabulary=vocabulary_of(target))
    return PreparedPair(
        name=name,
        files=(target, draft),
        load_target=partial(
            load, target.folder, precision=precision, label=target.label, device=device, shape=target.shape
        ),
        draft=DraftSource(load_draft, label, draft_precision, version_of(draft), draft.folder),
        cores=assign_cores(available_cores(), target_on_gpu=device != "cpu"),
        prompt_format=models.prompt_format,
        memory={place: sum(size for _, size in sizes) for place, sizes in needs.items()},
        fetched=course.done,
    )


def load_pair(name: str, progress: Progress = no_progress) -> Pair:
    """Load a pair of the registry, or any two models named as "TARGET + DRAFT"; see `prepare_pair`."""
    return prepare_pair(name, progress).load(progress)
