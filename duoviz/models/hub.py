"""Fetching a model from the hub into its cache."""

import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    DryRunError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage]
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from tqdm.asyncio import tqdm_asyncio

from duoviz.errors import UserError, first_line
from duoviz.models.checkpoint import read_config, weight_files
from duoviz.models.progress import Progress, no_progress

# Config, tokenizer and safetensors under the names that transformers reads; never pickled weights, never code.
WEIGHTS = "model*.safetensors"
FILES = [
    WEIGHTS,
    "model.safetensors.index.json",
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template*",
]

# Seconds in which the hub must say how large a model is.
ANSWER = 10
# What huggingface_hub raises where the hub does not give a model.
ERRORS = (HTTPError, OSError, HFValidationError)

# What each of them means, the first that fits.
REFUSALS = (
    (HFValidationError, "{id!r} is neither a folder nor a model on the hub: check the name."),
    (GatedRepoError, "{id} is gated: accept its licence at {page}, set HF_TOKEN to your token and start again."),
    (RepositoryNotFoundError, "The hub has no model {id}, or it is private: check the name, or set HF_TOKEN."),
    (HfHubHTTPError, "The hub answered with an error for {id} ({reason}): check its page, or try again later."),
    (OfflineModeIsEnabled, "{id} is not on this machine, and HF_HUB_OFFLINE forbids downloading it: unset it."),
    (BaseException, "{id} is not on this machine, and the hub cannot be reached: check the network."),
)

# A download must end when the progress raises. Over plain HTTP it does; Xet reports from threads of its own.
constants.HF_HUB_DISABLE_XET = True


def fetch(model_id: str, progress: Progress = no_progress) -> Path:
    """The folder of the hub's model, downloaded or, where the hub cannot be had, as an earlier download left it.

    `progress` is called with a fraction of 1 and a sentence, from the download's threads. An
    exception that it raises ends the download and is raised here. Raises UserError.
    """
    try:
        total = planned_bytes(model_id)
    except ERRORS as error:
        if folder := from_cache(model_id):
            return folder
        raise UserError(refusal(error, model_id)) from error
    return download(model_id, total, progress)


def outline(model_id: str) -> tuple[dict, int]:
    """(config, how many numbers the weights hold) of the hub's model; nothing but its config is downloaded.

    Raises UserError.
    """
    try:
        info = HfApi(endpoint=constants.ENDPOINT).model_info(model_id, files_metadata=True, timeout=ANSWER)
        sizes = weight_sizes(model_id, [(file.rfilename, file.size) for file in info.siblings or ()])
        # Where the hub has not counted the numbers, they are taken for 16-bit ones.
        counted = info.safetensors.total if info.safetensors else sum(sizes) // 2
        return read_config(Path(hf_hub_download(model_id, "config.json")).parent), counted
    except ERRORS as error:
        raise UserError(refusal(error, model_id)) from error


def weight_sizes(model_id: str, files: Iterable[tuple[str, int | None]]) -> list[int]:
    """Of a repository's files, (name, bytes), the sizes of those that hold the model. Raises UserError without any."""
    sizes = [size or 0 for name, size in files if "/" not in name and Path(name).match(WEIGHTS)]
    if not sizes:
        raise UserError(f"{model_id} has no safetensors weights: choose a model that has.")
    return sizes


def planned_bytes(model_id: str) -> int:
    """How many bytes there are to download. Raises UserError and ERRORS."""
    planned = snapshot_download(model_id, allow_patterns=FILES, dry_run=True, tqdm_class=byte_bar(lambda done: None))
    weight_sizes(model_id, [(file.filename, file.file_size) for file in planned])
    return sum(file.file_size or 0 for file in planned if file.will_download)


def download(model_id: str, total: int, progress: Progress) -> Path:
    """Download what is missing, `total` bytes; see `fetch`."""
    cache = Path(constants.HF_HUB_CACHE)
    place = next(folder for folder in (cache, *cache.parents) if folder.is_dir())
    if total > (free := shutil.disk_usage(place).free):
        raise UserError(
            f"{model_id} needs {total / 1e9:.1f} GB of disk, and {place} has {free / 1e9:.1f} GB free: "
            "free some space, or set HF_HOME to another folder."
        )
    raised: list[BaseException] = []

    def report(done: int) -> None:
        # Every thread of the download is to end, so each of them gets the exception.
        if raised:
            raise raised[0]
        try:
            amount = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
            progress(min(1.0, done / max(total, 1)), f"Downloading {model_id} ({amount})")
        except BaseException as error:
            raised.append(error)
            raise

    try:
        return Path(snapshot_download(model_id, allow_patterns=FILES, tqdm_class=byte_bar(report)))
    except (HTTPError, OSError) as error:
        if raised:
            raise
        raise UserError(interruption(error, model_id)) from error


def from_cache(model_id: str) -> Path | None:
    """The folder of an earlier, complete download, or None."""
    try:
        folder = Path(snapshot_download(model_id, allow_patterns=FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    weights = weight_files(folder)
    return folder if weights and all(file.is_file() for file in weights) else None


def byte_bar(report: Callable[[int], None]) -> type[tqdm_asyncio]:
    """A progress bar for huggingface_hub that shows nothing; it reports the bytes that came, one call at a time."""
    lock = threading.Lock()

    class ByteBar(tqdm_asyncio):
        def __init__(self, *args, unit: str = "it", **options):
            # The bars of bytes (received, written) tell the same; the one of files is of no interest.
            self.counts_bytes = unit == "B"
            super().__init__(*args, **(options | {"disable": True}))

        def update(self, n: float | None = 1) -> None:
            with lock:
                self.n += n or 0
                if self.counts_bytes:
                    report(int(self.n))

    return ByteBar


def refusal(error: BaseException, model_id: str) -> str:
    """Why the hub does not give a model of which there is no copy here."""
    if isinstance(error, (DryRunError, LocalEntryNotFoundError)):
        error = error.__cause__ or error
    sentence = next(sentence for kind, sentence in REFUSALS if isinstance(error, kind))
    return sentence.format(id=model_id, page=f"{constants.ENDPOINT}/{model_id}", reason=first_line(error))


def interruption(error: HTTPError | OSError, model_id: str) -> str:
    """Why a download that had begun did not end well."""
    if isinstance(error, OSError) and error.strerror:
        return (
            f"{model_id} could not be written to {constants.HF_HUB_CACHE} ({error.strerror}): "
            "free some space, or set HF_HOME to another folder."
        )
    return f"The download of {model_id} was interrupted ({first_line(error)}): start again."
