"""A model's folder: its config, its safetensors, how its texts end; and one sentence for what is wrong with them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import OutOfMemoryError, Tensor

from duoviz.errors import UserError, first_line
from duoviz.models.llama_config import OUR_KIND, LlamaConfig, is_lean
from duoviz.outside import Reader, Refused, in_short, open_file

# The most bytes of a JSON file: the largest tokenizers have 33 million.
MOST_BYTES = 100_000_000
# Fields that end so count what transformers makes before it looks at the weights.
COUNTS, MOST_LAYERS = ("layer", "layers", "experts"), 4096
# All that the lean decoder reads from a Llama's config, which need not be in the file of every model.
LLAMA_FIELDS = {
    "attention_bias", "head_dim", "hidden_act", "hidden_size", "max_position_embeddings", "mlp_bias",
    "num_attention_heads", "num_hidden_layers", "num_key_value_heads", "rms_norm_eps", "rope_parameters",
    "tie_word_embeddings", "vocab_size",
}  # fmt: skip


# Errors of reading a model, and the user's sentence for each with the model's label; the first match counts.
SENTENCES = (
    (SafetensorError, "The weights of {label} are incomplete or damaged ({reason}): download them again."),
    (KeyError, "The weights of {label} lack the tensor {reason}."),
    (MemoryError, "{label} does not fit in this machine's memory: choose a smaller model."),
    (OutOfMemoryError, "{label} does not fit in the GPU's memory: choose a smaller model."),
    (RuntimeError, "The weights of {label} do not fit its config.json ({reason})."),
    (OSError, "{label} cannot be read ({reason})."),
    # Libraries that take a config or weights for what they are not raise anything.
    (Exception, "{label} cannot be loaded ({reason}): choose another model."),
)
# What the config of a model of several parts calls the one that writes.
WRITERS = ("decoder", "generator", "text_config")


@contextmanager
def one_sentence(label: str) -> Iterator[None]:
    """Raise UserError, with a sentence, for what goes wrong while the model called `label` is read."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        sentence = next(sentence for kind, sentence in SENTENCES if isinstance(error, kind))
        reason = error.args[0] if isinstance(error, KeyError) else getattr(error, "strerror", None) or first_line(error)
        raise UserError(sentence.format(label=label, reason=reason)) from error


def read_json(file: Path) -> dict:
    """The object in a JSON file. Raises UserError."""
    if not os.path.lexists(file):
        raise UserError(f"There is no model in {file.parent}: it has no {file.name}.")
    try:
        with open_file(file) as opened:
            content = Reader(most_bytes=MOST_BYTES).file(opened)
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}).") from error
    except Refused as error:
        raise UserError(f"{file} is damaged (it {error}).") from error
    if not isinstance(content, dict):
        raise UserError(f"{file} is damaged (it holds no object).")
    return content


def read_config(folder: Path) -> dict:
    """config.json with the defaults of its kind filled in by transformers. Raises UserError."""
    file = folder / "config.json"
    config = read_json(file)
    kind = config.get("model_type")
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]
    for name, count in (item for part in parts for item in part.items()):
        if name.endswith(COUNTS) and isinstance(count, int) and count > MOST_LAYERS:
            raise UserError(f"{file} cannot be used ({name} is {in_short(count)}, at most {MOST_LAYERS:,} can be).")
    try:
        # Importing transformers' configs takes seconds: where they would fill nothing in, they are not asked.
        if kind != OUR_KIND and not (kind == "llama" and set(config) >= LLAMA_FIELDS):
            from transformers import CONFIG_MAPPING, __version__

            if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
                raise UserError(
                    f"{folder} holds a kind of model that transformers {__version__} does not know: {in_short(kind)}."
                )
            config = CONFIG_MAPPING[kind].from_json_file(file).to_dict()
        if is_lean(config):
            LlamaConfig.from_dict(config)
    except UserError:
        raise
    except Exception as error:  # transformers' checks of a config raise errors of many types
        raise UserError(f"{file} cannot be used ({first_line(error)}).") from error
    return config


def weight_files(folder: Path) -> list[Path]:
    """The model's safetensors files, as transformers names and prefers them. Raises UserError for a damaged index."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if not os.path.lexists(index):
        return []
    names = read_json(index).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise UserError(f"{index} is damaged (its weight_map does not name files).")
    return [folder / name for name in sorted(set(names.values()))]


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """A folder's tensors by name: views of its files, which are read as they are used.

    The format: https://huggingface.co/docs/safetensors. Raises SafetensorError and OSError.
    """
    return {name: tensor for file in weight_files(folder) for name, tensor in load_file(file).items()}


def count_parameters(folder: Path) -> int:
    """How many numbers a folder's tensors hold. Opens every file, which shows those cut short; raises as above."""
    opened = [safe_open(file, framework="pt") for file in weight_files(folder)]
    return sum(prod(file.get_slice(name).get_shape()) for file in opened for name in file.offset_keys())


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
