"""A model's files: where they are, what is wrong with them, and what they tell before the weights are read."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import OutOfMemoryError, Tensor

from duoviz.errors import UserError, first_line
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.embedded import TARGET_LABEL, embedded_target
from duoviz.models.llama_config import OUR_KIND, SIZES, LlamaConfig, is_lean
from duoviz.models.progress import Course, Progress, no_progress
from duoviz.models.registry import EMBEDDED, find_pair, is_on_hub
from duoviz.models.shapes import SHAPES, Shape, parameters_in
from duoviz.models.sizes import OUR_DRAFT
from duoviz.outside import Reader, Refused, in_short, open_file

# The most bytes of a JSON file: the largest tokenizers have 33 million.
MOST_BYTES = 100_000_000
# Fields that end so count what transformers makes before it looks at the weights.
COUNTS, MOST_LAYERS = ("layer", "layers", "experts"), 4096
# What a Llama's config must have for transformers to have nothing to fill in: the rest is read with its defaults.
LLAMA_FIELDS = {*SIZES, "rms_norm_eps", "rope_parameters", "vocab_size"}
# What the config of a model of several parts calls the one that writes.
WRITERS = ("decoder", "generator", "text_config")
# Errors of reading a model, and the user's sentence for each with the model's label; the first match counts.
SENTENCES = (
    (SafetensorError, "The weights of {label} are incomplete or damaged ({reason}): download them again."),
    ((MemoryError, OutOfMemoryError), "{label} does not fit in memory: choose a smaller model."),
    # Libraries that take a config or weights for what they are not raise anything.
    (Exception, "{label} cannot be loaded ({reason}): choose another model."),
)


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder: what the model is called, its config, how many numbers its weights hold.

    shape: that it is put into as it is loaded, and that `parameters` is of; None for its own.
    """

    label: str
    folder: Path
    config: dict
    parameters: int
    shape: Shape | None = None

    @property
    def vocabulary(self) -> int:
        """How many tokens the model knows. Raises UserError for what is no language model."""
        size = (self.config.get("text_config") or self.config).get("vocab_size")
        if size is None:
            raise UserError(f"{self.label} is not a language model: its config has no vocab_size.")
        return size

    @property
    def version(self) -> str:
        """What changes with the weights: a hash of their files' names, sizes and dates."""
        stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in weight_files(self.folder)]
        return hashlib.sha256(repr(stats).encode()).hexdigest()[:16]


# A pair's target and draft.
PairFiles = tuple[ModelFiles, ModelFiles]


@contextmanager
def one_sentence(label: str) -> Iterator[None]:
    """Raise UserError, with a sentence, for what goes wrong while the model called `label` is read."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        sentence = next(sentence for kind, sentence in SENTENCES if isinstance(error, kind))
        reason = f"it lacks {error.args[0]}" if isinstance(error, KeyError) else first_line(error)
        raise UserError(sentence.format(label=label, reason=reason)) from error


def read_json(file: Path) -> dict:
    """The object in a JSON file. Raises UserError."""
    if not os.path.lexists(file):
        raise UserError(f"There is no model in {file.parent}: it has no {file.name}.")
    try:
        with open_file(file) as opened:
            content = Reader(most_bytes=MOST_BYTES).file(opened)
        if not isinstance(content, dict):
            raise Refused("holds no object")
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}).") from error
    except Refused as error:
        raise UserError(f"{file} is damaged (it {error}).") from error
    return content


def read_config(folder: Path) -> dict:
    """config.json with the defaults of its kind filled in by transformers, whose checks raise errors of many types."""
    file = folder / "config.json"
    config = read_json(file)
    kind = config.get("model_type")
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]
    for name, count in (item for part in parts for item in part.items()):
        if name.endswith(COUNTS) and isinstance(count, int) and count > MOST_LAYERS:
            raise ValueError(f"{name} is {in_short(count)}, at most {MOST_LAYERS:,} can be")
    # Importing transformers' configs takes seconds: where they would fill nothing in, they are not asked.
    if kind != OUR_KIND and not (kind == "llama" and set(config) >= LLAMA_FIELDS):
        from transformers import CONFIG_MAPPING, __version__

        if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
            raise ValueError(f"transformers {__version__} does not know its kind, {in_short(kind)}")
        config = CONFIG_MAPPING[kind].from_json_file(file).to_dict()
    if is_lean(config):
        LlamaConfig.from_dict(config)
    return config


def weight_files(folder: Path) -> list[Path]:
    """The model's safetensors files, as transformers names and prefers them; raises an error for a damaged index."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file() or not os.path.lexists(index):
        return [single] if single.is_file() else []
    return [folder / name for name in sorted(set(read_json(index)["weight_map"].values()))]


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """A folder's tensors by name: views of its files, which are read as they are used.

    The format: https://huggingface.co/docs/safetensors. Raises SafetensorError and OSError.
    """
    return {name: tensor for file in weight_files(folder) for name, tensor in load_file(file).items()}


def look_into(folder: Path, label: str) -> ModelFiles:
    """See ModelFiles. Raises UserError for what shows before the weights are read, such as a file that is cut short."""
    with one_sentence(label):
        config, files = read_config(folder), weight_files(folder)
        if config.get("quantization_config"):
            raise UserError(f"The weights of {label} are quantised: choose the unquantised model.")
        if not files:
            raise UserError(f"{label} has no safetensors weights: choose a model that has.")
        opened = [safe_open(file, framework="pt") for file in files]
        numbers = sum(prod(file.get_slice(name).get_shape()) for file in opened for name in file.offset_keys())
        return ModelFiles(label, folder, config, numbers)


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

        if weights:
            return look_into(hub.fetch(model, progress), model)
        with suppress(UserError):
            return look_into(hub.fetch(model, local=True), model)
        folder, numbers = hub.outline(model)
        with one_sentence(model):
            return ModelFiles(model, folder, read_config(folder), numbers)
    if not os.path.isdir(place := os.path.expanduser(model)):
        raise UserError(f"There is no folder {model}: check the name.")
    return look_into(Path(place), model)


def fetch_pair(name: str, progress: Progress = no_progress, *, weights: bool = True) -> PairFiles:
    """The files of a pair's target and draft, fetched if need be; weights: see `find_files`. Raises UserError."""
    models, course = find_pair(name), Course(progress)
    target = find_files(models.target, course.until(0.8), weights=weights)
    if models.shape:
        shape = SHAPES[models.shape]
        label = f"{target.label.split(' (')[0]}'s text at {shape.label}'s cost"
        target = replace(target, label=label, parameters=parameters_in(shape, target.config), shape=shape)
    if not models.draft:
        # In its place the target itself, which takes nothing.
        return target, replace(target, parameters=0)
    return target, find_files(models.draft, course.until(1.0), draft=True, weights=weights)


def end_tokens(folder: Path, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that transformers finds.

    It goes by config.json only where there is no generation_config.json.
    """
    file = folder / "generation_config.json"
    config = read_json(file if file.is_file() else folder / "config.json")
    stated = config.get("eos_token_id")
    if stated is None and not file.is_file():
        part = next((config[name] for name in WRITERS if isinstance(config.get(name), dict)), {})
        stated = part.get("eos_token_id")
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(id for id in (*ids, tokenizer.eos_token_id) if isinstance(id, int))
