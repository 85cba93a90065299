"""A model's folder: its config, its safetensors, and one sentence for what is wrong with them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import OutOfMemoryError, Tensor

from duoviz.errors import first_line
from duoviz.models.progress import ModelUnavailable

# The drafts that this project trains, as in assets/draft; transformers does not know the kind.
OUR_KIND = "duoviz_draft"
# All that the lean decoder reads from a Llama's config, which need not be in the file of every model.
LLAMA_FIELDS = {
    "attention_bias", "head_dim", "hidden_act", "hidden_size", "max_position_embeddings", "mlp_bias",
    "num_attention_heads", "num_hidden_layers", "num_key_value_heads", "rms_norm_eps", "rope_parameters",
    "tie_word_embeddings", "vocab_size",
}  # fmt: skip


@contextmanager
def one_sentence(label: str) -> Iterator[None]:
    """Raise ModelUnavailable, with a sentence, for what goes wrong while the model called `label` is read."""
    try:
        yield
    except ModelUnavailable:
        raise
    except SafetensorError as error:
        raise ModelUnavailable(
            f"The weights of {label} are incomplete or damaged ({first_line(error)}): download them again."
        ) from error
    except KeyError as error:
        raise ModelUnavailable(f"The weights of {label} lack the tensor {error.args[0]}.") from error
    except MemoryError as error:
        raise ModelUnavailable(f"{label} does not fit in this machine's memory: choose a smaller model.") from error
    except OutOfMemoryError as error:
        raise ModelUnavailable(f"{label} does not fit in the GPU's memory: choose a smaller model.") from error
    except RuntimeError as error:
        raise ModelUnavailable(f"The weights of {label} do not fit its config.json ({first_line(error)}).") from error
    except OSError as error:
        raise ModelUnavailable(f"{label} cannot be read ({error.strerror or first_line(error)}).") from error


def read_json(file: Path) -> dict:
    """The object in a JSON file. Raises ModelUnavailable."""
    try:
        content = json.loads(file.read_text())
    except OSError as error:
        raise ModelUnavailable(f"There is no model in {file.parent}: it has no {file.name}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{file} is damaged ({first_line(error)}).") from error
    if not isinstance(content, dict):
        raise ModelUnavailable(f"{file} is damaged (it holds no object).")
    return content


def read_config(folder: Path) -> dict:
    """config.json with the defaults of its kind filled in by transformers. Raises ModelUnavailable."""
    config = read_json(folder / "config.json")
    kind = config.get("model_type")
    # Importing transformers' configs takes seconds: where they would fill nothing in, they are not asked.
    if kind == OUR_KIND or (kind == "llama" and set(config) >= LLAMA_FIELDS):
        return config
    from transformers import CONFIG_MAPPING, __version__

    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        raise ModelUnavailable(f"{folder} holds a kind of model that transformers {__version__} does not know: {kind}.")
    try:
        return CONFIG_MAPPING[kind].from_dict(config).to_dict()
    except Exception as error:  # transformers' checks of a config raise errors of many types
        raise ModelUnavailable(f"{folder / 'config.json'} cannot be used ({first_line(error)}).") from error


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the model, as transformers names them; none where it has no such.

    Raises ModelUnavailable for a damaged index.
    """
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return [folder / name for name in sorted(set(read_json(index).get("weight_map", {}).values()))]
    single = folder / "model.safetensors"
    return [single] if single.is_file() else []


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
