"""Distillation: the draft learns from the target on the target's own text, by transformers' Trainer."""

import argparse
import json
import shutil
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

from duoviz.command_line import tell
from duoviz.errors import UserError, check_write
from duoviz.models.copying import Copying
from duoviz.models.embedded import embedded_target
from duoviz.models.files import look_into, read_config
from duoviz.models.llama_config import OUR_KIND
from duoviz.models.load import load_model, target_device
from duoviz.models.weights import quantise_rows
from duoviz.training.corpus import HELD_OUT, Row, load_corpus, most_frequent, padded
from duoviz.training.fitting import agreement, fit_copying

# A new draft's layers; the width of its embedding table, which is projected up to the hidden size; and how many ids of
# the vocabulary its head knows: those that the corpus has most of.
LAYERS, EMBEDDING_RANK, KNOWN = 2, 448, 8_192
# Rows that the linear map is fitted on, and how many pass through the models at once meanwhile.
FITTED_ROWS, ROWS_AT_ONCE = 128, 8
# Of a ridge regression, as a share of the mean square.
RIDGE = 1e-2
# Shares of all steps: those in which the learning rate rises, those after which progress is kept, and its last value.
WARM_UP, BETWEEN_CHECKPOINTS, LAST_RATE = 0.02, 0.05, 0.02


def make_draft(options: argparse.Namespace) -> None:
    """Distil a draft from the embedded target into the folder `options.out`; the same call goes on after a stop."""
    if not find_spec("accelerate"):
        raise UserError("Training needs the package accelerate: install requirements-dev.txt.")
    corpus = load_corpus(options.corpus)
    learnt, tested = ([row for row in corpus if row.held_out == side] for side in (False, True))
    if not learnt:
        raise UserError(f"The last {HELD_OUT} rows of each corpus are for testing: it needs more to train on.")
    with check_write(options.out):
        options.out.mkdir(parents=True, exist_ok=True)
    folder = embedded_target(tell)
    target = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().to(target_device())  # pyright: ignore
    student = new_student(target, learnt)
    recipe = {name: str(value) for name, value in vars(options).items() if name not in ("out", "run", "stopped")}
    log = train(student, target, learnt, options, options.out / f"part-{sha256(repr(recipe).encode()).hexdigest()[:8]}")
    save_draft(student, options.out)
    finish(options.out, folder, tested, {"recipe": recipe, "log": log})


class Embedding(nn.Embedding):
    """A narrow table and the projection that widens it."""

    def __init__(self, vocabulary: int, rank: int, width: int):
        super().__init__(vocabulary, rank)
        self.projection = nn.Linear(rank, width, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        return self.projection(super().forward(input))


@torch.no_grad()
def cut_from_target(target: LlamaForCausalLM, known: Tensor) -> LlamaForCausalLM:
    """A student with the target's first layers and its embedding at a lower rank; the head is the target's own for
    the known ids, int64, ascending. Its tensors' names are those of the saved file.

    The first layers, not spread ones: what the later layers do is left to one linear map (see
    `new_student`) and to training.
    """
    sizes = {"num_hidden_layers": LAYERS, "embedding_rank": EMBEDDING_RANK, "output_tokens": len(known)}
    shape = LlamaConfig.from_dict(target.config.to_dict() | sizes | {"tie_word_embeddings": False})
    student = LlamaForCausalLM(shape)
    student.model.embed_tokens = Embedding(shape.vocab_size, EMBEDDING_RANK, shape.hidden_size)
    student.lm_head = nn.Linear(shape.hidden_size, len(known), bias=False)
    student.lm_head.register_buffer("known", known)
    left, scale, right = torch.linalg.svd(target.model.embed_tokens.weight.float(), full_matrices=False)
    root = scale[:EMBEDDING_RANK].sqrt()
    ours = {
        "model.embed_tokens.weight": left[:, :EMBEDDING_RANK] * root,
        "model.embed_tokens.projection.weight": right[:EMBEDDING_RANK].T * root,
        "lm_head.weight": target.lm_head.weight[known],
    }
    # The target's later layers are left over.
    student.load_state_dict({**target.state_dict(), **ours}, strict=False)
    return student.to(target.device)  # pyright: ignore[reportArgumentType]


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


@torch.no_grad()
def new_student(target: LlamaForCausalLM, rows: Sequence[Row]) -> LlamaForCausalLM:
    """A draft cut out of the target; one linear map from its last hidden state to the target's is folded into the
    head."""
    student = cut_from_target(target, most_frequent(rows, KNOWN).to(target.device))
    texts = [row.ids for row in rows[:FITTED_ROWS]]
    parts = [texts[start : start + ROWS_AT_ONCE] for start in range(0, len(texts), ROWS_AT_ONCE)]
    with torch.autocast(target.device.type, torch.bfloat16, enabled=has_bfloat16(target.device)):
        x, y = (torch.cat([hidden(model, **padded(part)) for part in parts]).double() for model in (student, target))
    gram = x.T @ x
    gram += RIDGE * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    student.lm_head.weight.copy_(student.lm_head.weight @ torch.linalg.solve(gram, x.T @ y).T.float())
    return student


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 itself, which is faster."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return "bf16" in Path("/proc/cpuinfo").read_text()


def hidden(model: LlamaForCausalLM, ids: Tensor, states: Tensor) -> Tensor:
    """The normalised last hidden states at flat places, [n, hidden], for ids int64 [rows, length]; see `padded`."""
    every = model.model(ids.to(model.device), use_cache=False).last_hidden_state
    return every.flatten(0, 1)[states.to(model.device)]


def train(
    student: LlamaForCausalLM, target: LlamaForCausalLM, rows: Sequence[Row], options: argparse.Namespace, scratch: Path
) -> list[dict]:
    """Train the student on all of the rows' texts; returns the Trainer's log. Progress is kept in `scratch` until then.

    It learns the questions' tokens too: the target wrote them as well.
    """
    arguments = TrainingArguments(
        output_dir=str(scratch),
        num_train_epochs=options.tokens / sum(len(row.ids) for row in rows),
        per_device_train_batch_size=options.rows,
        train_sampling_strategy="group_by_length",
        learning_rate=options.peak,
        adam_beta2=0.98,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": LAST_RATE},
        warmup_steps=WARM_UP,
        use_cpu=student.device.type == "cpu",
        bf16=has_bfloat16(student.device),
        logging_steps=BETWEEN_CHECKPOINTS,
        save_steps=BETWEEN_CHECKPOINTS,
        save_total_limit=1,
        remove_unused_columns=False,
        report_to="none",
    )
    texts: Any = [{"input_ids": row.ids} for row in rows]
    trainer = Distiller(student, arguments, lambda batch: padded([text["input_ids"] for text in batch]), texts)
    trainer.target = target
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(scratch)) if scratch.is_dir() else None)
    shutil.rmtree(scratch, ignore_errors=True)
    return trainer.state.log_history


class Distiller(Trainer):
    """Trains a student towards a target, which is set after it is made, by KL(target ‖ student)."""

    target: LlamaForCausalLM

    def compute_loss(self, model: Any, inputs: dict[str, Tensor], *args: Any, **options: Any) -> Tensor:
        student: Any = self.model
        # The Trainer itself leaves the choice of numbers to a call of the whole model.
        with self.accelerator.autocast():
            with torch.no_grad():
                states = hidden(self.target, **inputs)
                p = F.linear(states, self.target.lm_head.weight[student.lm_head.known]).float().softmax(-1)
            logits = student.lm_head(hidden(student, **inputs))
        return F.kl_div(logits.float().log_softmax(-1), p, reduction="batchmean")


def finish(out: Path, target_folder: Path, tested: Sequence[Row], record: dict) -> None:
    """Fit the copying of a saved draft on half of the rows that it was not trained on, and write how often it is right
    on all of them, beside the record of its training."""
    draft = load_model(look_into(out, "draft"), precision="int8")
    weights = fit_copying(draft, tested[::2])
    write_config(out, read_config(out) | {"copying": weights})
    target = load_model(look_into(target_folder, "target"), precision="float32", device=target_device())
    record |= {"held_out": agreement(target, Copying(draft, weights), tested)}
    (out / "training.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"{out} holds the draft; on held-out rows: {record['held_out']}")
