"""Our draft as a model that transformers can use as an assistant: a Llama with a head over the whole vocabulary."""

from dataclasses import asdict
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from duoviz.training.student import read_student

NEVER = -1e9


def export_assistant(draft_folder: Path, target_folder: Path, out: Path) -> None:
    """Write the draft as a float32 transformers model with its target's tokenizer.

    Its logits are the draft's own, without the copying. A Llama's head has no bias, so the ids that
    our head leaves out need something to make them impossible: the residual stream gets one more
    channel a head (transformers wants a multiple of the heads), of which one holds a small constant
    that only the output head reads.
    """
    draft = read_student(draft_folder)
    known, shape = draft.known, asdict(draft.shape)
    for ours in ("embedding_rank", "output_tokens"):
        del shape[ours]
    width, eps, theta = (shape.pop(name) for name in ("hidden_size", "rms_norm_eps", "rope_theta"))
    wide = width + shape["num_attention_heads"]
    # The constant takes up half of epsilon, so that every norm still divides by what it divided by before.
    constant = (eps * width / 2) ** 0.5
    model = LlamaForCausalLM(
        LlamaConfig(
            **shape,
            hidden_size=wide,
            rms_norm_eps=eps * width / (2 * wide),
            tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": theta},
        )
    )
    with torch.no_grad():
        table = draft.model.embed_tokens(torch.arange(shape["vocab_size"]))
        values = dict(draft.named_parameters()) | {"model.embed_tokens.weight": table}
        for name, parameter in model.named_parameters():
            parameter.zero_()
            value = values[name]
            if value.dim() == 1:
                value = value * (width / wide) ** 0.5
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
