"""Loading a pair in two steps: its files are found and fit in memory, then its target is read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from duoviz.errors import UserError
from duoviz.models.checkpoint import read_config
from duoviz.models.copying import Copying
from duoviz.models.cores import Cores, assign_cores, available_cores
from duoviz.models.files import PairFiles, context_of, fetch_pair, version_of, vocabulary_of
from duoviz.models.fit import check_finite, check_fit, memory_needs, precisions, target_device
from duoviz.models.generation import end_tokens, unapplied
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import load_llama
from duoviz.models.llama_config import is_lean
from duoviz.models.pair import DraftSource, Pair
from duoviz.models.progress import Course, Progress, no_progress, part_of
from duoviz.models.registry import check_draft, find_pair
from duoviz.models.tokenizers import check_tokenizers, load_tokenizer

# The share of the work that a download takes, and of the rest the share until the tokenizer is loaded.
FETCHING, TOKENIZER = 0.9, 0.3


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
            unapplied=unapplied(self.files[0].folder, target.label),
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
