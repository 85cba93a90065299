"""Fetching a model from the hub into its cache."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, errors, hf_hub_download, snapshot_download
from tqdm.asyncio import tqdm_asyncio

from duoviz.errors import UserError, first_line
from duoviz.models.progress import Progress, no_progress

# Config, tokenizer and safetensors under the names that transformers reads; never pickled weights, never code.
WEIGHTS = "model*.safetensors"
FILES = [
    WEIGHTS, "model.safetensors.index.json", "config.json", "generation_config.json", "tokenizer*",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template*",
]  # fmt: skip

# Seconds in which the hub must say how large a model is.
ANSWER = 10

# What each error means that huggingface_hub raises where the hub does not give a model; the first that fits.
REFUSALS: tuple[tuple[type[BaseException], str], ...] = (
    (errors.HFValidationError, "{id!r} is neither a folder nor a model on the hub: check the name."),
    (errors.GatedRepoError, "{id} is gated: accept its licence at {page}, set HF_TOKEN to your token and start again."),
    (errors.RepositoryNotFoundError, "The hub has no model {id}, or it is private: check the name, or set HF_TOKEN."),
    (errors.HfHubHTTPError, "The hub answered with an error for {id} ({reason}): check its page, or try again later."),
    (errors.OfflineModeIsEnabled, "{id} is not on this machine, and HF_HUB_OFFLINE forbids downloading it: unset it."),
    (errors.LocalEntryNotFoundError, "{id} is not on this machine, and the hub cannot be reached: check the network."),
    (errors.HTTPError, "The download of {id} was interrupted ({reason}): start again."),  # pyright: ignore
    (OSError, "{id} could not be written to {cache} ({reason}): free some space, or set HF_HOME to another folder."),
)
# A download must end when the progress raises. Over plain HTTP it does; Xet reports from threads of its own.
constants.HF_HUB_DISABLE_XET = True


@contextmanager
def refusals(model_id: str) -> Iterator[None]:
    """Raise UserError where the hub does not give a model of which there is no copy here."""
    try:
        yield
    except tuple(kind for kind, _ in REFUSALS) as error:
        # The hub itself refused, or was not to be asked.
        told = isinstance(error.__cause__, errors.HfHubHTTPError | errors.OfflineModeIsEnabled)
        cause = error.__cause__ if told and isinstance(error, errors.LocalEntryNotFoundError) else error
        sentence = next(sentence for kind, sentence in REFUSALS if isinstance(cause, kind))
        page, reason = f"{constants.ENDPOINT}/{model_id}", first_line(cause or error)
        raise UserError(sentence.format(id=model_id, page=page, reason=reason, cache=constants.HF_HUB_CACHE)) from error


def fetch(model_id: str, progress: Progress = no_progress, *, local: bool = False) -> Path:
    """The folder of the hub's model, downloaded or, where the hub cannot be had, as an earlier download left it.

    local: only what an earlier download left, which need not be complete. `progress` is called from the download's
    threads. To end the download it raises an exception in each of them, which is raised here. Raises UserError.
    """
    lock = threading.Lock()

    class ByteBar(tqdm_asyncio):
        """Shows nothing; tells of the bytes that came, one call at a time."""

        def __init__(self, *args: Any, **options: Any):
            # The bars of bytes (received, written) tell the same; the one of files is of no interest.
            self.counts_bytes = options.get("unit") == "B"
            super().__init__(*args, **(options | {"disable": True}))

        def update(self, n: float | None = 1) -> None:
            with lock:
                self.n += n or 0
                if self.counts_bytes:
                    total = self.total or self.n
                    amount = f"{self.n / 1e6:,.1f} of {total / 1e6:,.1f} MB"
                    progress(min(1.0, self.n / max(total, 1)), f"Downloading {model_id} ({amount})")

    with refusals(model_id):
        return Path(snapshot_download(model_id, allow_patterns=FILES, tqdm_class=ByteBar, local_files_only=local))


def outline(model_id: str) -> tuple[Path, int]:
    """(folder, how many numbers the weights hold) of the hub's model; the folder has its config.json alone.

    Raises UserError.
    """
    with refusals(model_id):
        info = HfApi(endpoint=constants.ENDPOINT).model_info(model_id, files_metadata=True, timeout=ANSWER)
        files = [file for file in info.siblings or () if "/" not in file.rfilename]
        sizes = [file.size or 0 for file in files if Path(file.rfilename).match(WEIGHTS)]
        if not sizes:
            raise UserError(f"{model_id} has no safetensors weights: choose a model that has.")
        # Where the hub has not counted the numbers, they are taken for 16-bit ones.
        counted = info.safetensors.total if info.safetensors else sum(sizes) // 2
        return Path(hf_hub_download(model_id, "config.json")).parent, counted
