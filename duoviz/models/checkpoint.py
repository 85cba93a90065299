"""A model's folder: its config, its safetensors, how its texts end; and one sentence for what is wrong with them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import OutOfMemoryError, Tensor

from duoviz.errors import UserError, first_line
from duoviz.models.llama_config import OUR_KIND, check_config
from duoviz.outside import Reader, Refused, in_short, is_text, open_file

# What duoviz and transformers read of a folder besides weights, and the most bytes of it: the largest tokenizers have
# 33 million.
READ = {".jinja", ".json", ".model", ".txt"}
MOST_BYTES = 100_000_000
# Files that hold a short object, where a folder has them.
OBJECTS = ("added_tokens.json", "generation_config.json", "special_tokens_map.json", "tokenizer_config.json")
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
# The settings of transformers' `generate` that change a greedy text, with the value at which each does nothing.
NEUTRAL: dict[str, Any] = {
    "bad_words_ids": [],
    "begin_suppress_tokens": [],
    "dola_layers": "",
    "exponential_decay_length_penalty": [],
    "forced_eos_token_id": [],
    "guidance_scale": 1,
    "min_length": 0,
    "min_new_tokens": 0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "penalty_alpha": 0,
    "repetition_penalty": 1,
    "sequence_bias": [],
    "stop_strings": [],
    "suppress_tokens": [],
    "token_healing": False,
    "watermarking_config": {},
}


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


def check_file(file: Path) -> None:
    """Raise UserError for what is no file (a pipe never ends), or is too large for one without weights."""
    if not os.path.isfile(file):
        raise UserError(f"{file} is not a file: remove it, or download the model again.")
    if file.suffix in READ and file.stat().st_size > MOST_BYTES:
        raise UserError(f"{file} is damaged (it has more than {MOST_BYTES:,} bytes).")


def check_files(folder: Path) -> None:
    """Raise UserError for a file that a library would wait for, fill the memory with, or not understand."""
    for file in sorted([*folder.iterdir(), *folder.glob("additional_chat_templates/*")]):
        if file.suffix in READ or file.suffix == ".safetensors":
            check_file(file)
        if file.name in OBJECTS:
            read_json(file)
        if file.suffix == ".jinja" and not is_text(file.read_bytes().decode(errors="surrogateescape")):
            raise UserError(f"{file} is damaged (it is not text).")


def read_json(file: Path) -> dict:
    """The object in a JSON file. Raises UserError."""
    if not os.path.lexists(file):
        raise UserError(f"There is no model in {file.parent}: it has no {file.name}.")
    check_file(file)
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
        check_config(config)
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


class Checkpoint(Mapping[str, Tensor]):
    """A folder's tensors by name; each is read from disk when it is asked for, so that none is held twice.

    The format: https://huggingface.co/docs/safetensors.
    """

    def __init__(self, folder: Path):
        """Opens every file, which shows those cut short. Raises SafetensorError and OSError."""
        self.files = {}
        for file in weight_files(folder):
            opened = safe_open(file, framework="pt")
            self.files |= dict.fromkeys(opened.keys(), opened)

    def __getitem__(self, name: str) -> Tensor:
        return self.files[name].get_tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def parameters(self) -> int:
        """How many numbers the tensors hold."""
        return sum(prod(file.get_slice(name).get_shape()) for name, file in self.files.items())


def generation_config(folder: Path) -> dict:
    """What transformers' `generate` goes by: config.json only where there is no generation_config.json."""
    if (file := folder / "generation_config.json").is_file():
        return read_json(file)
    config = read_json(folder / "config.json")
    part = next((config[name] for name in WRITERS if isinstance(config.get(name), dict)), {})
    stated = {name: value for name, value in config.items() if value is not None}
    return {"eos_token_id": part.get("eos_token_id")} | stated


def end_tokens(folder: Path, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that transformers finds."""
    stated = generation_config(folder).get("eos_token_id")
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(id for id in (*ids, tokenizer.eos_token_id) if isinstance(id, int))


def unapplied(folder: Path, label: str) -> str:
    """A sentence about the settings that duoviz does not apply; "" where the model has none."""
    stated = generation_config(folder)
    found = {name: stated[name] for name, neutral in NEUTRAL.items() if stated.get(name) not in (None, neutral)}
    listed = ", ".join(f"{name} {in_short(value)}" for name, value in found.items())
    return listed and f"{label} sets {listed} for transformers' generate(): duoviz does not apply this."
