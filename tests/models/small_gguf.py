"""A small gguf file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize


def write_gguf(file: Path, matrix: Callable[[GGUFWriter, str, int], None] | None = None) -> None:
    """A tiny Llama in a gguf; its wheel, gguf, tokenizer and weights are each larger than the one before.

    matrix: adds the matrix of a name with so many rows.
    """
    add_matrix = matrix or add_ordered
    letters = [chr(0x100 + index) for index in range(40)]
    tokens = ["<a>", "<b>", *letters, *(one + two for one in letters for two in letters)]
    matrices = {"attn_q": 32, "attn_k": 16, "attn_v": 16, "attn_output": 32}
    matrices |= {"ffn_gate": 32, "ffn_up": 32, "ffn_down": 32}
    writer = GGUFWriter(file, "llama")
    written = {
        "name": "tiny", "block_count": 1, "context_length": 64, "embedding_length": 32, "feed_forward_length": 32,
        "head_count": 2, "head_count_kv": 1, "layer_norm_rms_eps": 1e-5, "rope_dimension_count": 16,
        "rope_freq_base": 10_000.0, "vocab_size": len(tokens), "tokenizer_model": "gpt2", "tokenizer_pre": "smollm",
        "token_list": tokens, "token_types": [3, 3] + [1] * (len(tokens) - 2),
        "token_merges": [f"{one} {two}" for one in letters for two in letters], "bos_token_id": 0, "eos_token_id": 1,
    }  # fmt: skip
    for name, value in written.items():
        getattr(writer, f"add_{name}")(value)
    add_matrix(writer, "token_embd", len(tokens))
    for name, rows in matrices.items():
        add_matrix(writer, f"blk.0.{name}", rows)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_ordered(writer: GGUFWriter, name: str, rows: int) -> None:
    # No two rows alike, so that their order shows.
    values = np.linspace(-1, 1, 32, dtype=np.float32) * np.linspace(1, 2, rows, dtype=np.float32)[:, None]
    kind = GGMLQuantizationType.Q4_1
    writer.add_tensor(f"{name}.weight", quantize(values, kind), raw_dtype=kind)
