"""The draft while it learns: a small Llama cut out of the target's first layers."""

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import cast

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, LlamaModel
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from duoviz.models.checkpoint import Checkpoint, read_config
from duoviz.models.llama_config import OUR_KIND
from duoviz.models.weights import quantise_rows
from duoviz.training.copying import START_WEIGHTS
from duoviz.training.corpus import Corpus
from duoviz.training.teacher import padded, predicting

# Of a ridge regression, as a share of the mean square.
RIDGE = 1e-2


@dataclass(frozen=True)
class DraftShape:
    """The shape of a draft; the names are those of transformers' LlamaConfig, plus our last two.

    embedding_rank: width of the embedding table, projected up to hidden_size.
    output_tokens: how many ids of the vocabulary the head knows.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int
    embedding_rank: int
    output_tokens: int


class RMSNorm(LlamaRMSNorm):
    """In the input's own precision: under autocast a float32 weight would keep torch from its fused kernel."""

    def forward(self, hidden_states: Tensor) -> Tensor:
        weight = self.weight.to(hidden_states.dtype)
        return F.rms_norm(hidden_states, weight.shape, weight, self.variance_epsilon)


class Embedding(nn.Embedding):
    """A narrow table and the projection that widens it."""

    def __init__(self, shape: DraftShape):
        super().__init__(shape.vocab_size, shape.embedding_rank)
        self.projection = nn.Linear(shape.embedding_rank, shape.hidden_size, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        return self.projection(super().forward(input))


class Head(nn.Linear):
    """The output head; known: the ids that its columns stand for, int64, ascending."""

    known: Tensor


class Student(nn.Module):
    """The draft as a trainable module; its parameters' names are those of the saved file."""

    def __init__(self, shape: DraftShape):
        super().__init__()
        self.shape = shape
        self.model = LlamaModel(LlamaConfig(**asdict(shape), use_cache=False))  # pyright: ignore[reportCallIssue]
        self.model.embed_tokens = Embedding(shape)
        for layer in self.model.layers:
            layer.input_layernorm, layer.post_attention_layernorm = self.norm(), self.norm()
        self.model.norm = self.norm()
        self.lm_head = Head(shape.hidden_size, shape.output_tokens, bias=False)
        self.lm_head.register_buffer("known", torch.arange(shape.output_tokens))

    def norm(self) -> RMSNorm:
        return RMSNorm(self.shape.hidden_size, eps=self.shape.rms_norm_eps)

    @property
    def known(self) -> Tensor:
        """The ids that the head knows, int64, ascending."""
        return self.lm_head.known

    @property
    def device(self) -> torch.device:
        return self.lm_head.weight.device

    def hidden(self, ids: Tensor, places: Tensor) -> Tensor:
        """The normalised last hidden states, [n, hidden], for ids int64 [batch, length] at flat places, int64 [n]."""
        return self.model(ids).last_hidden_state.flatten(0, 1)[places]


def student_hidden(student: Student, corpus: Corpus, rows: list[int]) -> Tensor:
    """[answer tokens of all rows, width]."""
    return student.hidden(padded(corpus, rows).to(student.device), predicting(corpus, rows).to(student.device))


def cut_from_target(target: LlamaForCausalLM, *, layers: int, embedding_rank: int, tokens: Tensor) -> Student:
    """A student with the target's first layers and its embedding at a lower rank; the head is the target's own for
    `tokens` (int64, ascending).

    The first layers, not spread ones: what the later layers do is left to one linear map (see
    `distillation.fit_map`) and to training.
    """
    config, rope = target.config, cast(dict, target.config.rope_parameters)
    own = {"num_hidden_layers": layers, "embedding_rank": embedding_rank, "output_tokens": len(tokens)}
    names = {field.name for field in fields(DraftShape)} - {"rope_theta", *own}
    student = Student(
        DraftShape(**own, rope_theta=rope["rope_theta"], **{name: getattr(config, name) for name in names})
    )
    table = target.model.embed_tokens.weight.detach().float()
    left, scale, right = torch.linalg.svd(table, full_matrices=False)
    root, narrow = scale[:embedding_rank].sqrt(), cast(Embedding, student.model.embed_tokens)
    with torch.no_grad():
        narrow.weight.copy_(left[:, :embedding_rank] * root)
        narrow.projection.weight.copy_(right[:embedding_rank].T * root)
        student.model.layers.load_state_dict(target.model.layers[:layers].state_dict())
        student.model.norm.load_state_dict(target.model.norm.state_dict())
        student.lm_head.weight.copy_(target.lm_head.weight[tokens])
        student.known.copy_(tokens)
    return student


@torch.no_grad()
def with_head(student: Student, tokens: Tensor, table: Tensor, *, ridge: float = RIDGE) -> Student:
    """The student with a head for `tokens` (int64, ascending): rows that it has not are guessed from the target's.

    table: the target's head, float32 [vocabulary, width]. The guess is the linear map that leads best from the
    target's rows to the student's own, by ridge regression.
    """
    theirs, ours = table[student.known].double(), student.lm_head.weight.double()
    gram = theirs.T @ theirs
    gram += ridge * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    weight = (table[tokens].double() @ torch.linalg.solve(gram, theirs.T @ ours)).float()
    old = torch.isin(tokens, student.known)
    weight[old] = student.lm_head.weight[torch.searchsorted(student.known, tokens[old])]
    student.shape = replace(student.shape, output_tokens=len(tokens))
    student.lm_head = Head(weight.shape[1], len(tokens), bias=False, device=weight.device)
    student.lm_head.register_buffer("known", tokens.clone())
    student.lm_head.weight.copy_(weight)
    return student


def read_student(folder: Path) -> Student:
    """A saved draft, to be trained further; its matrices are what int8 left of them."""
    config, tensors = read_config(folder), Checkpoint(folder)
    student = Student(DraftShape(**{field.name: config[field.name] for field in fields(DraftShape)}))
    named = {name: matrix(tensors, name.removesuffix(".weight")) for name, _ in student.named_parameters()}
    if "lm_head.known" in tensors:
        named["lm_head.known"] = tensors["lm_head.known"].long()
    student.load_state_dict(named, strict=False)
    return student


def matrix(tensors: Checkpoint, name: str) -> Tensor:
    """float32; int8 matrices have a scale a row."""
    weight = tensors[f"{name}.weight"].float()
    return weight * tensors[f"{name}.scale"][:, None] if f"{name}.scale" in tensors else weight


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
    config = {"model_type": OUR_KIND, **asdict(student.shape), "bos_token_id": 1, "eos_token_id": 2}
    (folder / "config.json").write_text(json.dumps(config | {"copying": START_WEIGHTS}, indent=2) + "\n")
