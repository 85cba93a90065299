"""The draft while it learns: a Llama cut out of the target's first layers, with a narrow embedding and a short head."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from duoviz.models.files import read_config, read_tensors
from duoviz.models.llama_config import OUR_KIND
from duoviz.models.weights import quantise_rows

# The width of the embedding table, which is projected up to the hidden size.
EMBEDDING_RANK = 448


class Embedding(nn.Embedding):
    """A narrow table and the projection that widens it."""

    def __init__(self, vocabulary: int, rank: int, width: int):
        super().__init__(vocabulary, rank)
        self.projection = nn.Linear(rank, width, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        return self.projection(super().forward(input))


def student_of(config: dict, known: Tensor) -> LlamaForCausalLM:
    """A draft with random weights, whose tensors' names are those of the saved file.

    config: a Llama's, with `embedding_rank`. known: the ids that the head's rows stand for, int64, ascending.
    """
    shape = LlamaConfig.from_dict(config | {"model_type": "llama", "tie_word_embeddings": False})
    student = LlamaForCausalLM(shape)
    student.model.embed_tokens = Embedding(shape.vocab_size, config["embedding_rank"], shape.hidden_size)
    student.lm_head = nn.Linear(shape.hidden_size, len(known), bias=False)
    student.lm_head.register_buffer("known", known)
    return student


@torch.no_grad()
def cut_from_target(target: LlamaForCausalLM, *, layers: int, known: Tensor) -> LlamaForCausalLM:
    """A student with the target's first layers and its embedding at a lower rank; the head is the target's own for
    the known ids.

    The first layers, not spread ones: what the later layers do is left to one linear map (see
    `distillation.new_student`) and to training.
    """
    sizes = {"num_hidden_layers": layers, "embedding_rank": EMBEDDING_RANK, "output_tokens": len(known)}
    student = student_of(target.config.to_dict() | sizes, known)
    left, scale, right = torch.linalg.svd(target.model.embed_tokens.weight.float(), full_matrices=False)
    root = scale[:EMBEDDING_RANK].sqrt()
    ours = {
        "model.embed_tokens.weight": left[:, :EMBEDDING_RANK] * root,
        "model.embed_tokens.projection.weight": right[:EMBEDDING_RANK].T * root,
        "lm_head.weight": target.lm_head.weight[known],
        "lm_head.known": known,
    }
    # The target's later layers are left over.
    student.load_state_dict({**target.state_dict(), **ours}, strict=False)
    return student.to(target.device)  # pyright: ignore[reportArgumentType]


def read_student(folder: Path) -> LlamaForCausalLM:
    """A saved draft, to be trained further; its matrices are what int8 left of them."""
    tensors = read_tensors(folder)
    student = student_of(read_config(folder), tensors["lm_head.known"].long())
    scales = {name.replace(".scale", ".weight"): tensors.pop(name) for name in [*tensors] if name.endswith(".scale")}
    student.load_state_dict(tensors | {name: tensors[name] * scale[:, None] for name, scale in scales.items()})
    return student


def save_draft(student: LlamaForCausalLM, folder: Path) -> None:
    """Write config.json and model.safetensors: matrices in int8 with a scale a row, norms in float32, ids in int32."""
    tensors = {"lm_head.known": student.get_buffer("lm_head.known").to("cpu", torch.int32)}
    for name, value in student.named_parameters():
        tensors[name] = value.detach().float().cpu().contiguous()
        if value.dim() == 2:
            tensors[name], tensors[name.replace(".weight", ".scale")] = quantise_rows(tensors[name])
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    write_config(folder, student.config.to_dict() | {"model_type": OUR_KIND})


def write_config(folder: Path, config: dict[str, Any]) -> None:
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
