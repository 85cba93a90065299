"""The draft while it learns: a small Llama cut out of the target's first layers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, LlamaModel

from duoviz.models.checkpoint import read_config, read_tensors
from duoviz.models.llama_config import OUR_KIND
from duoviz.models.weights import quantise_rows
from duoviz.training.corpus import Row, padded
from duoviz.training.fitting import START_WEIGHTS

# A draft's shape: fields of transformers' LlamaConfig, then the width of the embedding table, which is projected up to
# hidden_size, and how many ids of the vocabulary the head knows.
LLAMA = (
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "rms_norm_eps", "rope_theta", "max_position_embeddings",
)  # fmt: skip
OURS = ("embedding_rank", "output_tokens")
# Of a ridge regression, as a share of the mean square.
RIDGE = 1e-2
# A logit that no other makes up for.
NEVER = -1e9


class Embedding(nn.Embedding):
    """A narrow table and the projection that widens it."""

    def __init__(self, vocabulary: int, rank: int, width: int):
        super().__init__(vocabulary, rank)
        self.projection = nn.Linear(rank, width, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        return self.projection(super().forward(input))


class Student(nn.Module):
    """The draft as a trainable module; its parameters' names are those of the saved file.

    shape: values of LLAMA and OURS by name. known: the ids that the head's rows stand for, int64, ascending.
    """

    known: Tensor

    def __init__(self, shape: dict[str, Any], known: Tensor):
        super().__init__()
        self.shape: dict[str, Any] = shape
        width = shape["hidden_size"]
        self.model = LlamaModel(LlamaConfig(**{name: shape[name] for name in LLAMA}, use_cache=False))
        self.model.embed_tokens = Embedding(shape["vocab_size"], shape["embedding_rank"], width)
        self.lm_head = nn.Linear(width, len(known), bias=False)
        self.register_buffer("known", known.clone())

    @property
    def device(self) -> torch.device:
        return self.lm_head.weight.device

    def hidden(self, ids: Tensor, places: Tensor) -> Tensor:
        """The normalised last hidden states, [n, hidden], for ids int64 [batch, length] at flat places, int64 [n]."""
        return self.model(ids.to(self.device)).last_hidden_state.flatten(0, 1)[places.to(self.device)]

    def logits(self, rows: Sequence[Row]) -> Tensor:
        """Of the known ids, for each answer token of the rows, [n, ids]."""
        return self.lm_head(self.hidden(*padded(rows)))


def ridge_map(x: Tensor, y: Tensor) -> Tensor:
    """The linear map that leads best from rows x [n, a] to rows y [n, b], float32 [a, b], solved in float64."""
    x, y = x.double(), y.double()
    gram = x.T @ x
    gram += RIDGE * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    return torch.linalg.solve(gram, x.T @ y).float()


@torch.no_grad()
def cut_from_target(target: LlamaForCausalLM, *, layers: int, embedding_rank: int, known: Tensor) -> Student:
    """A student with the target's first layers and its embedding at a lower rank; the head is the target's own for
    the known ids.

    The first layers, not spread ones: what the later layers do is left to one linear map (see
    `distillation.fit_map`) and to training.
    """
    config = target.config
    shape = {name: getattr(config, name) for name in LLAMA if name != "rope_theta"}
    shape |= {"rope_theta": cast(dict, config.rope_parameters)["rope_theta"], "num_hidden_layers": layers}
    student = Student(shape | {"embedding_rank": embedding_rank, "output_tokens": len(known)}, known)
    left, scale, right = torch.linalg.svd(target.model.embed_tokens.weight.float(), full_matrices=False)
    root, narrow = scale[:embedding_rank].sqrt(), cast(Embedding, student.model.embed_tokens)
    narrow.weight.copy_(left[:, :embedding_rank] * root)
    narrow.projection.weight.copy_(right[:embedding_rank].T * root)
    student.model.layers.load_state_dict(target.model.layers[:layers].state_dict())
    student.model.norm.load_state_dict(target.model.norm.state_dict())
    student.lm_head.weight.copy_(target.lm_head.weight[known])
    return student


def read_student(folder: Path) -> Student:
    """A saved draft, to be trained further; its matrices are what int8 left of them."""
    config, tensors = read_config(folder), read_tensors(folder)
    student = Student({name: config[name] for name in (*LLAMA, *OURS)}, tensors["lm_head.known"].long())
    with torch.no_grad():
        for name, parameter in student.named_parameters():
            value, scale = tensors[name].float(), tensors.get(name.replace(".weight", ".scale"))
            parameter.copy_(value if scale is None else value * scale[:, None])
    return student


def save_draft(student: Student, folder: Path) -> None:
    """Write config.json and model.safetensors: matrices in int8 with a scale a row, norms in float32, ids in int32.

    The draft copies with the weights that its training assumed, until they are fitted.
    """
    tensors = {"lm_head.known": student.known.to("cpu", torch.int32)}
    for name, value in student.named_parameters():
        value = value.detach().float().cpu()
        if value.dim() == 2:
            tensors[name], tensors[name.replace(".weight", ".scale")] = quantise_rows(value)
        else:
            tensors[name] = value.contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {"model_type": OUR_KIND, **student.shape, "bos_token_id": 1, "eos_token_id": 2, "copying": START_WEIGHTS}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


@torch.no_grad()
def export_assistant(draft_folder: Path, target_folder: Path, out: Path) -> None:
    """Write the draft as a float32 Llama with its target's tokenizer, for transformers' generate(assistant_model=…).

    Its logits are the draft's own, without the copying. A Llama's head has no bias, so the ids that
    our head leaves out need something to make them impossible: the residual stream gets one more
    channel a head (transformers wants a multiple of the heads), of which one holds a small constant
    that only the output head reads.
    """
    draft = read_student(draft_folder)
    shape, known = {name: draft.shape[name] for name in LLAMA}, draft.known
    width, eps, theta = (shape.pop(name) for name in ("hidden_size", "rms_norm_eps", "rope_theta"))
    wide = width + shape["num_attention_heads"]
    model = LlamaForCausalLM(
        LlamaConfig(
            **shape,
            hidden_size=wide,
            # The constant takes up half of it, so that every norm still divides by what it divided by before.
            rms_norm_eps=eps * width / (2 * wide),
            tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": theta},
        )
    )
    table = draft.model.embed_tokens(torch.arange(shape["vocab_size"]))
    values = dict(draft.named_parameters()) | {"model.embed_tokens.weight": table}
    for name, parameter in model.named_parameters():
        parameter.zero_()
        value = values[name] if values[name].dim() > 1 else values[name] * (width / wide) ** 0.5
        if name == "lm_head.weight":
            parameter[known, :width] = value
        else:
            parameter[tuple(slice(size) for size in value.shape)] = value
    model.model.embed_tokens.weight[:, width] = (eps * width / 2) ** 0.5
    model.model.norm.weight[width] = 1.0
    model.lm_head.weight[:, width] = NEVER
    model.lm_head.weight[known, width] = 0.0
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(target_folder).save_pretrained(out)
