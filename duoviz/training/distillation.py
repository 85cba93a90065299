"""Distillation: the draft learns from the target on the target's own text."""

import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from pathlib import Path
from timeit import timeit

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from duoviz.models.llama import load_llama
from duoviz.models.load import target_device
from duoviz.training.corpus import Row, batches, load_corpus, most_frequent, padded, sample, whole_texts
from duoviz.training.evaluation import scores
from duoviz.training.fitting import fit_copying
from duoviz.training.student import Student, cut_from_target, read_student, ridge_map, save_draft
from duoviz.training.teacher import Lesson, Teacher

HELD_OUT = 128
# Rows that the map is fitted on, and rows that the periodic score is taken on.
FITTED_ROWS, SCORED_ROWS, ROWS_AT_ONCE = 384, 48, 8
# The share of the training in which the learning rate rises.
WARM_UP = 0.02
STEPS_BETWEEN_SCORES, SECONDS_BETWEEN_CHECKPOINTS = 150, 240
SMALLEST = 1e-8


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that decides what a training run makes, besides the target and the corpus.

    tokens: how many to train on, counted again each time. start: a draft's folder to go on from; without one the
    student is cut out of the target, with `layers` and `embedding_rank`, and its head knows `output_tokens` ids, those
    that the corpus has most of.
    """

    tokens: int
    start: str | None = None
    layers: int = 2
    embedding_rank: int = 448
    output_tokens: int = 8_192
    peak: float = 8e-4
    batch_tokens: int = 3_000
    seed: int = 0


class Progress:
    """A training run that can be put down and taken up again."""

    def __init__(self, student: Student, recipe: Recipe):
        self.student, self.recipe = student, recipe
        self.optimiser = torch.optim.AdamW(
            student.parameters(), lr=recipe.peak, betas=(0.9, 0.98), weight_decay=0.0, fused=True
        )
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.log: list[dict] = []

    def save(self, file: Path) -> None:
        counts = {"step": self.step, "tokens": self.tokens, "seconds": self.seconds, "log": self.log}
        state = {"recipe": asdict(self.recipe), "counts": counts}
        state |= {"student": self.student.state_dict(), "optimiser": self.optimiser.state_dict()}
        half_made = file.with_suffix(".part")
        torch.save(state, half_made)
        os.replace(half_made, file)

    def load(self, file: Path) -> None:
        """Go on from a checkpoint of the same recipe (but for its length), where there is one."""
        state = torch.load(file, weights_only=True) if file.is_file() else {"recipe": {}}
        if state["recipe"] | {"tokens": self.recipe.tokens} == asdict(self.recipe):
            self.student.load_state_dict(state["student"])
            self.optimiser.load_state_dict(state["optimiser"])
            vars(self).update(state["counts"])

    def note(self, losses: Sequence[Tensor], agreement: float) -> None:
        """Print a line, and add it to the log, with the mean of these losses."""
        loss = round(float(torch.stack([*losses]).mean()), 4) if losses else None
        minutes = round(self.seconds / 60, 2)
        self.log.append({"minutes": minutes, "tokens": self.tokens, "loss": loss, "agreement": round(agreement, 4)})
        left = minutes * max(0.0, self.recipe.tokens / max(1, self.tokens) - 1)
        amount = f"{self.tokens:,} of {self.recipe.tokens:,} tokens"
        print(f"{amount}, agreement {agreement:.3f}, loss {loss}, {left:.1f} min left", flush=True)


def fast_dtype(device: str) -> torch.dtype:
    """bfloat16 where the device multiplies it faster than float32, else float32."""
    if device != "cpu":
        return torch.bfloat16
    times = {}
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 576, dtype=dtype), torch.ones(1536, 576, dtype=dtype)
        F.linear(a, b)
        times[dtype] = timeit(lambda: F.linear(a, b), number=5)
    return min(times, key=lambda dtype: times[dtype])


def load_target(folder: Path, dtype: torch.dtype = torch.float32) -> LlamaForCausalLM:
    """On the GPU if there is one."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=dtype).eval()
    return model.to(target_device())  # pyright: ignore[reportArgumentType]


def load_teacher(target_folder: Path) -> Teacher:
    """The target, on the GPU if there is one."""
    target = load_target(target_folder)
    return Teacher(target, fast_dtype(target.device.type))


def in_parts(rows: Sequence[Row]) -> list[Sequence[Row]]:
    return [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]


@torch.no_grad()
def fit_map(student: Student, teacher: Teacher, rows: Sequence[Row]) -> None:
    """Fit one linear map from the student's last hidden state to the target's, and fold it into the head."""
    parts = in_parts(rows)
    ours = torch.cat([student.hidden(*padded(part)) for part in parts])
    theirs = torch.cat([teacher.hidden(part) for part in parts])
    head = teacher.target.lm_head.weight[student.known]
    student.lm_head.weight.copy_(head @ ridge_map(ours, theirs).T)


def new_student(teacher: Teacher, rows: Sequence[Row], recipe: Recipe) -> Student:
    """The draft of `recipe.start`, or one cut out of the target, with the fitted map."""
    target = teacher.target
    if recipe.start:
        return read_student(Path(recipe.start)).to(target.device)
    known = most_frequent(rows, recipe.output_tokens).to(target.device)
    student = cut_from_target(target, layers=recipe.layers, embedding_rank=recipe.embedding_rank, known=known)
    fit_map(student.to(target.device), teacher, rows[:FITTED_ROWS])
    return student


def learning_rate(fraction: float, *, peak: float) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak; `fraction` is of the tokens."""
    if fraction < WARM_UP:
        return peak * (0.01 + 0.99 * fraction / WARM_UP)
    progress = min(1.0, (fraction - WARM_UP) / (1 - WARM_UP))
    return peak * (0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2)


def divergence(logits: Tensor, lesson: Lesson) -> Tensor:
    """Mean of KL(target ‖ draft) plus a constant, of the draft that also copies: (1 − w) · q + w · [copied].

    logits: float [n, ids]. The target's ids beyond its best count as one: what it gives to them together.
    """
    q = (logits.gather(-1, lesson.column).float() - logits.float().logsumexp(-1, keepdim=True)).exp()
    weight = lesson.weight[:, None]
    # How much copying adds to each of the best ids; the rest gets what none of them has.
    here = weight * (lesson.column == lesson.copied[:, None])
    drafted = with_rest((1 - weight) * q + here).clamp(min=SMALLEST)
    return -(with_rest(lesson.probability).clamp(min=0) * drafted.log()).sum(-1).mean()


def with_rest(probabilities: Tensor) -> Tensor:
    """Probabilities [n, k] and what is left of 1, [n, k + 1]."""
    return torch.cat([probabilities, 1 - probabilities.sum(-1, keepdim=True)], dim=-1)


def groups_from(progress: Progress, rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """All epochs' groups after those that were taken already, until enough tokens were trained on."""
    recipe = progress.recipe
    # Reshuffled each epoch.
    shuffled = (np.random.default_rng([recipe.seed, epoch]) for epoch in count())
    groups = (group for rng in shuffled for group in batches(rows, tokens=recipe.batch_tokens, rng=rng))
    for group in islice(groups, progress.step, None):
        if progress.tokens >= recipe.tokens:
            return
        yield group


def train_step(teacher: Teacher, progress: Progress, rows: Sequence[Row]) -> Tensor:
    """One step of the optimiser; returns the loss, float32 []."""
    student, optimiser, recipe = progress.student, progress.optimiser, progress.recipe
    lesson = teacher.lesson(rows, student.known)
    with torch.autocast(student.device.type, teacher.dtype, enabled=teacher.dtype != torch.float32):
        logits = student.logits(rows)
    loss = divergence(logits, lesson)
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(progress.tokens / recipe.tokens, peak=recipe.peak)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimiser.step()
    progress.step, progress.tokens = progress.step + 1, progress.tokens + len(logits)
    return loss.detach()


@torch.no_grad()
def agreement(student: Student, rows: Sequence[Row], lesson: Lesson, theirs: Tensor) -> float:
    """How often the draft's best token, copying included, is the target's; lesson and theirs: the rows'."""
    q = torch.cat([student.logits(part).softmax(-1) for part in in_parts(rows)])
    weight = lesson.weight[:, None]
    mixed = ((1 - weight) * q).scatter_add(-1, lesson.copied[:, None], weight)
    return float((student.known[mixed.argmax(-1)] == theirs).float().mean())


def train(teacher: Teacher, corpus: Sequence[Row], recipe: Recipe, *, checkpoint: Path | None = None) -> Progress:
    """Distil a student for `recipe.tokens` tokens, going on from `checkpoint` where there is one.

    It learns the questions' tokens too: the target wrote them as well.
    """
    learnt, tested = ([row for row in corpus if row.held_out == side] for side in (False, True))
    student = new_student(teacher, learnt, recipe)
    progress, scored = Progress(student, recipe), sample(tested, SCORED_ROWS)
    truth = teacher.lesson(scored, student.known), torch.cat([teacher.greedy(part) for part in in_parts(scored)])
    if checkpoint:
        progress.load(checkpoint)
    if not progress.step:
        progress.note([], agreement(student, scored, *truth))
    losses, begin = [], time.perf_counter()
    saved = begin
    for rows in groups_from(progress, [row for row in whole_texts(corpus) if not row.held_out]):
        losses.append(train_step(teacher, progress, rows))
        progress.seconds += time.perf_counter() - begin
        if progress.step % STEPS_BETWEEN_SCORES == 0:
            progress.note(losses, agreement(student, scored, *truth))
            losses = []
        if checkpoint and time.perf_counter() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            progress.save(checkpoint)
            saved = time.perf_counter()
        begin = time.perf_counter()
    progress.note(losses, agreement(student, scored, *truth))
    return progress


def train_draft(target_folder: Path, corpus_files: Sequence[Path], out: Path, recipe: Recipe) -> None:
    """Train a draft and write it to the folder `out`, with its log; the same call goes on after a stop.

    The log of a draft that it goes on from is kept in it.
    """
    teacher, corpus = load_teacher(target_folder), load_corpus(corpus_files, held_out=HELD_OUT)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "checkpoint.pt"
    progress = train(teacher, corpus, recipe, checkpoint=checkpoint)
    progress.save(checkpoint)
    save_draft(progress.student, out)
    tested = [row for row in corpus if row.held_out]
    # On half of the rows that no training step sees.
    weights = fit_copying(load_llama(out, precision="int8", label="draft"), tested[::2], out)
    for kind, mine in zip(("once", "twice alike", "twice differently"), weights, strict=True):
        print(f"copying weights for n = 1, 2, … seen {kind}: " + ", ".join(f"{weight:.3f}" for weight in mine))
    record = {"recipe": asdict(recipe), "dtype": str(teacher.dtype), "log": progress.log}
    record["held_out"] = scores(target_folder, progress.student, out, tested)
    if recipe.start and (before := Path(recipe.start) / "training.json").is_file():
        record["before"] = json.loads(before.read_text())
    (out / "training.json").write_text(json.dumps(record, indent=1) + "\n")
