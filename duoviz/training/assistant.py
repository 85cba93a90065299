"""Our draft as a model that transformers can use as an assistant: a Llama with a head over the whole vocabulary."""

from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from duoviz.models.checkpoint import Checkpoint, read_config
from duoviz.training.student import matrix

NEVER = -1e9


def export_assistant(draft_folder: Path, target_folder: Path, out: Path) -> None:
    """Write the draft as a float32 transformers model with its target's tokenizer.

    Its logits are the draft's own, without the copying. A Llama's head has no bias, so the ids that
    our head leaves out need something to make them impossible: the residual stream gets one more
    channel a head (transformers wants a multiple of the heads), of which one holds a small constant
    that only the output head reads.
    """
    config = read_config(draft_folder)
    tensors = Checkpoint(draft_folder)
    known = tensors["lm_head.known"].long()
    width = config["hidden_size"]
    wide = width + config["num_attention_heads"]
    # The constant takes up half of epsilon, so that every norm still divides by what it divided by before.
    eps = config["rms_norm_eps"]
    constant = (eps * width / 2) ** 0.5
    shape = {name: config[name] for name in config if name in KEPT}
    model = LlamaForCausalLM(
        LlamaConfig(
            **shape,
            hidden_size=wide,
            rms_norm_eps=eps * width / (2 * wide),
            tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": config["rope_theta"]},
        )
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.zero_()
            if name == "model.embed_tokens.weight":
                value = matrix(tensors, "model.embed_tokens") @ matrix(tensors, "model.embed_tokens.projection").T
            elif parameter.dim() == 1:
                value = tensors[name] * (width / wide) ** 0.5
            else:
                value = matrix(tensors, name.removesuffix(".weight"))
            if name == "lm_head.weight":
                parameter[known, :width] = value
            else:
                parameter[tuple(slice(size) for size in value.shape)] = value
        model.model.embed_tokens.weight[:, width] = constant
        model.model.norm.weight[width] = 1.0
        model.lm_head.weight[:, width] = NEVER
        model.lm_head.weight[known, width] = 0.0
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(target_folder).save_pretrained(out)


KEPT = {
    "vocab_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "max_position_embeddings", "bos_token_id", "eos_token_id",
}  # fmt: skip
