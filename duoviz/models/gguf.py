"""A gguf of the Llama family, rewritten as config, tokenizer and float32 safetensors.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


# Of a tensor's name after `blk.N.`: transformers' name after `model.layers.N.`.
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OTHER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


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
    weights = read_weights(gguf, heads=config["num_attention_heads"], kv_heads=config["num_key_value_heads"])
    progress(0.7, "Writing the weights")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def config_of(metadata: dict, *, tied: bool) -> dict:
    """A config of transformers for the model that the gguf's metadata describes; tied: its head is the embedding."""
    shape = {name.removeprefix("llama."): value for name, value in metadata.items() if name.startswith("llama.")}
    special = {name: metadata.get(f"tokenizer.ggml.{name}") for name in ("bos_token_id", "eos_token_id")}
    return special | {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "pad_token_id": metadata.get("tokenizer.ggml.padding_token_id"),
        "vocab_size": shape["vocab_size"],
        "hidden_size": shape["embedding_length"],
        "intermediate_size": shape["feed_forward_length"],
        "num_hidden_layers": shape["block_count"],
        "num_attention_heads": shape["attention.head_count"],
        "num_key_value_heads": shape["attention.head_count_kv"],
        "head_dim": shape["rope.dimension_count"],
        "max_position_embeddings": shape["context_length"],
        "rms_norm_eps": shape["attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": shape["rope.freq_base"]},
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
    }


def read_weights(gguf: Path, *, heads: int, kv_heads: int) -> dict[str, Tensor]:
    """The gguf's tensors in float32, under transformers' names."""
    from transformers.integrations.gguf.dequant import GGML_BLOCK, dequantize
    from transformers.integrations.gguf.reader import GgufHeader, load_gguf_state_dict

    header = GgufHeader.from_file(str(gguf))
    stored, weights = load_gguf_state_dict(header), {}
    for info in header.tensors:
        values = stored[info.name][:]
        if info.ggml_type in GGML_BLOCK:
            values = dequantize(values, info.ggml_type)
        values = values.float().reshape(info.shape)
        if info.name.endswith(("attn_q.weight", "attn_k.weight")):
            values = rotary_halves(values, heads if "attn_q" in info.name else kv_heads)
        weights[transformers_name(info.name)] = values
    return weights


def transformers_name(name: str) -> str:
    """transformers' name for a tensor of the gguf; KeyError for one that the family does not have."""
    if not name.startswith("blk."):
        stem, _, kind = name.rpartition(".")
        return f"{OTHER_NAMES[stem]}.{kind}"
    _, layer, stem, kind = name.split(".")
    return f"model.layers.{layer}.{LAYER_NAMES[stem]}.{kind}"


def rotary_halves(weight: Tensor, heads: int) -> Tensor:
    """Undo the order of a gguf's query and key rows, [heads · head size, columns]: it keeps the two that rotate
    together side by side, transformers half a head apart."""
    rows, columns = weight.shape
    return weight.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns).contiguous()
