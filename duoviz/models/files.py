"""A model's files: where they are, and what they tell before the weights are read."""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.checkpoint import count_parameters, one_sentence, read_config, weight_files
from duoviz.models.embedded import TARGET_LABEL, embedded_target
from duoviz.models.llama_config import LlamaConfig, context_end, is_lean
from duoviz.models.pair import CONTEXT_LIMIT
from duoviz.models.progress import Course, Progress, no_progress
from duoviz.models.registry import EMBEDDED, find_pair, is_on_hub
from duoviz.models.shapes import SHAPES, config_in, parameters_in

OUR_DRAFT = "duoviz draft"


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder: what the model is called, its config, how many numbers its weights hold.

    shape: of `shapes.SHAPES`, which it is put into, and which config and parameters are of; None for its own.
    """

    label: str
    folder: Path
    config: dict
    parameters: int
    shape: str | None = None


# A pair's target and draft.
PairFiles = tuple[ModelFiles, ModelFiles]


def look_into(folder: Path, label: str) -> ModelFiles:
    """See ModelFiles. Raises UserError for what shows before the weights are read."""
    with one_sentence(label):
        config = read_config(folder)
        if config.get("quantization_config"):
            raise UserError(f"The weights of {label} are quantised: choose the unquantised model.")
        if not weight_files(folder):
            raise UserError(f"{label} has no safetensors weights: choose a model that has.")
        return ModelFiles(label, folder, config, count_parameters(folder))


def find_files(
    model: str, progress: Progress = no_progress, *, draft: bool = False, weights: bool = True
) -> ModelFiles:
    """The files of a model on the hub, fetched if need be, in a folder, or the embedded target's. Raises UserError.

    draft: the embedded draft instead. weights: False to fetch only the config of a model on the hub.
    """
    if model == EMBEDDED:
        return look_into(DRAFT_FOLDER, OUR_DRAFT) if draft else look_into(embedded_target(progress), TARGET_LABEL)
    if is_on_hub(model):
        from duoviz.models import hub

        folder = hub.fetch(model, progress) if weights else hub.from_cache(model)
        return look_into(folder, model) if folder else ModelFiles(model, Path(), *hub.outline(model))
    if not os.path.isdir(place := os.path.expanduser(model)):
        raise UserError(f"There is no folder {model}: check the name.")
    return look_into(Path(place), model)


def in_shape(files: ModelFiles, name: str) -> ModelFiles:
    """A model that is put into another shape as it is loaded. Raises UserError where it does not fit."""
    shape = SHAPES[name]
    config = config_in(shape, files.config, label=files.label)
    label = f"{files.label.split(' (')[0]}'s text at {shape.label}'s cost"
    return replace(files, label=label, config=config, parameters=parameters_in(shape, config), shape=name)


def fetch_pair(name: str, progress: Progress = no_progress, *, weights: bool = True) -> PairFiles:
    """The files of a pair's target and draft, fetched if need be; weights: see `find_files`. Raises UserError."""
    models, course = find_pair(name), Course(progress)
    target = find_files(models.target, course.until(0.8), weights=weights)
    if models.shape:
        target = in_shape(target, models.shape)
    if not models.draft:
        # In its place the target itself, which takes nothing.
        return target, replace(target, parameters=0)
    return target, find_files(models.draft, course.until(1.0), draft=True, weights=weights)


def context_of(files: ModelFiles) -> int:
    """How many tokens a model can read, CONTEXT_LIMIT at most."""
    if is_lean(files.config):
        return min(CONTEXT_LIMIT, LlamaConfig.from_dict(files.config).context_limit)
    return min(CONTEXT_LIMIT, context_end(files.config) or CONTEXT_LIMIT)


def vocabulary_of(files: ModelFiles) -> int:
    """How many tokens a model knows. Raises UserError for what is no language model."""
    config = files.config.get("text_config") or files.config
    if config.get("vocab_size") is None:
        raise UserError(f"{files.label} is not a language model: its config has no vocab_size.")
    return config["vocab_size"]


def version_of(draft: ModelFiles) -> str:
    """What changes with a draft's weights: a hash of their files' names, sizes and dates."""
    files = [(file.name, file.stat()) for file in weight_files(draft.folder)]
    stats = repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in files])
    return hashlib.sha256(stats.encode()).hexdigest()[:16]
