"""Distillation: the draft learns from the target on the target's own text."""

import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from timeit import timeit
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from transformers import LlamaForCausalLM

from duoviz.models.cache import cache_folder
from duoviz.models.cores import available_cores
from duoviz.models.llama import load_llama
from duoviz.models.load import target_device
from duoviz.training.corpus import Row, batches, digest, load_corpus, most_frequent, padded, sample, whole_texts
from duoviz.training.evaluation import scores
from duoviz.training.fitting import Copied, assumed, fit_copying
from duoviz.training.student import Student, cut_from_target, read_student, ridge_map, save_draft
from duoviz.training.teacher import Best, Teacher

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

    tokens: how many to train on, counted again each time. start: a draft's folder to go on from; without one
    the student is cut out of the target, with `layers` and `embedding_rank`. output_tokens: how many ids its head
    knows, those that the corpus has most of.
    """

    tokens: int
    start: str | None = None
    layers: int = 2
    embedding_rank: int = 448
    output_tokens: int = 8_192
    peak: float = 8e-4
    batch_tokens: int = 3_000
    seed: int = 0


class Lesson(NamedTuple):
    """Some rows: ids int64 [rows, longest], the flat places of the states that predict the answers, int64 [n], and what
    copying proposes for each answer token."""

    ids: Tensor
    places: Tensor
    copied: Copied


class Lessons(Dataset):
    """The lessons of these groups of rows; known: the ids of the draft's head, int64."""

    def __init__(self, groups: Sequence[Sequence[Row]], known: Tensor):
        self.groups, self.columns = groups, {token: column for column, token in enumerate(known.tolist())}

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index: int) -> Lesson:
        return Lesson(*padded(self.groups[index]), assumed(self.groups[index], self.columns))


class Progress:
    """A training run that can be put down and taken up again."""

    def __init__(self, student: Student, recipe: Recipe, corpus: str):
        """corpus: its digest."""
        self.student, self.recipe, self.corpus = student, recipe, corpus
        self.optimiser = torch.optim.AdamW(
            student.parameters(), lr=recipe.peak, betas=(0.9, 0.98), weight_decay=0.0, fused=True
        )
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.log: list[dict] = []

    def save(self, file: Path) -> None:
        half_made = file.with_suffix(".part")
        counts = {"step": self.step, "tokens": self.tokens, "seconds": self.seconds, "log": self.log}
        state = {"recipe": asdict(self.recipe), "corpus": self.corpus, "counts": counts}
        state |= {"student": self.student.state_dict(), "optimiser": self.optimiser.state_dict()}
        torch.save(state, half_made)
        os.replace(half_made, file)

    def load(self, file: Path) -> bool:
        """Go on from a checkpoint of the same corpus and recipe (but for its length); False if there is none."""
        if not file.is_file():
            return False
        state, recipe = torch.load(file, weights_only=True), asdict(self.recipe)
        if state["recipe"] | {"tokens": self.recipe.tokens} != recipe or state["corpus"] != self.corpus:
            return False
        self.student.load_state_dict(state["student"])
        self.optimiser.load_state_dict(state["optimiser"])
        vars(self).update(state["counts"])
        return True

    def note(self, losses: Sequence[Tensor], agreement: float) -> None:
        """Print a line, and add it to the log, with the mean of these losses."""
        loss = round(float(torch.stack([*losses]).mean()), 4) if losses else None
        minutes = round(self.seconds / 60, 2)
        self.log.append({"minutes": minutes, "tokens": self.tokens, "loss": loss, "agreement": round(agreement, 4)})
        text = f"{self.tokens:,} of {self.recipe.tokens:,} tokens, agreement {agreement:.3f}"
        if losses:
            speed = self.tokens / self.seconds
            left = max(0, self.recipe.tokens - self.tokens) / speed / 60
            text += f", loss {loss}, {speed:.0f} tokens a second, {left:.1f} min left"
        print(text, flush=True)


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
    """The target, on the GPU if there is one; on a processor its states are kept in the cache."""
    target = load_target(target_folder)
    folder = cache_folder() / "teacher" if target.device.type == "cpu" else None
    return Teacher(target, fast_dtype(target.device.type), folder=folder)


@torch.no_grad()
def fit_map(student: Student, teacher: Teacher, rows: Sequence[Row]) -> None:
    """Fit one linear map from the student's last hidden state to the target's, and fold it into the head."""
    parts = [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]
    ours = torch.cat([student.hidden(*padded(part)) for part in parts])
    theirs = torch.cat([teacher.hidden(part) for part in parts])
    head = teacher.target.lm_head.weight[student.known]
    student.lm_head.weight.copy_(head @ ridge_map(ours, theirs).T)


def new_student(teacher: Teacher, rows: Sequence[Row], recipe: Recipe) -> Student:
    """The draft of `recipe.start`, or one cut out of the target, with the fitted map."""
    target = teacher.target
    known = most_frequent(rows, recipe.output_tokens).to(target.device)
    if recipe.start:
        student = read_student(Path(recipe.start)).to(target.device)
        student.change_head(known, target.lm_head.weight)
        return student
    student = cut_from_target(target, layers=recipe.layers, embedding_rank=recipe.embedding_rank, known=known)
    fit_map(student.to(target.device), teacher, rows[:FITTED_ROWS])
    return student


def learning_rate(fraction: float, *, peak: float) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak; `fraction` is of the tokens."""
    if fraction < WARM_UP:
        return peak * (0.01 + 0.99 * fraction / WARM_UP)
    progress = min(1.0, (fraction - WARM_UP) / (1 - WARM_UP))
    return peak * (0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2)


def divergence(logits: Tensor, best: Best, copied: Copied) -> Tensor:
    """Mean of KL(target ‖ draft) plus a constant, of the draft that also copies: (1 − w) · q + w · [copied].

    logits: float [n, ids]. The target's ids beyond its best count as one: what it gives to them together.
    """
    q = (logits.gather(-1, best.column).float() - logits.float().logsumexp(-1, keepdim=True)).exp()
    weight = copied.weight[:, None]
    # How much copying adds to each of the best ids; the rest gets what none of them has.
    here = weight * (best.column == copied.column[:, None])
    drafted = with_rest((1 - weight) * q + here).clamp(min=SMALLEST)
    return -(with_rest(best.probability).clamp(min=0) * drafted.log()).sum(-1).mean()


def with_rest(probabilities: Tensor) -> Tensor:
    """Probabilities [n, k] and what is left of 1, [n, k + 1]."""
    return torch.cat([probabilities, 1 - probabilities.sum(-1, keepdim=True)], dim=-1)


def prepared(groups: Sequence[Sequence[Row]], student: Student) -> Iterator[tuple[Sequence[Row], Lesson]]:
    """The groups with their lessons, on the student's device; beside a GPU other processes prepare them meanwhile."""
    device = student.device
    workers = 0 if device.type == "cpu" else max(1, len(available_cores()) - 1)
    loader = DataLoader(
        Lessons(groups, student.known), batch_size=None, num_workers=workers, pin_memory=device.type == "cuda"
    )
    for rows, (ids, places, copied) in zip(groups, loader, strict=True):
        column, weight = (part.to(device, non_blocking=True) for part in copied)
        yield rows, Lesson(ids.to(device, non_blocking=True), places, Copied(column, weight))


def groups_from(progress: Progress, rows: Sequence[Row]) -> Iterator[tuple[Sequence[Row], Lesson]]:
    """All epochs' groups after those that were taken already, until enough tokens were trained on."""
    passed, recipe = progress.step, progress.recipe
    for epoch in count():
        # Reshuffled each epoch.
        rng = np.random.default_rng([recipe.seed, epoch])
        groups = batches(rows, tokens=recipe.batch_tokens, rng=rng)
        for group in prepared(groups[passed:], progress.student):
            if progress.tokens >= recipe.tokens:
                return
            yield group
        passed = max(0, passed - len(groups))


def train_step(teacher: Teacher, progress: Progress, rows: Sequence[Row], lesson: Lesson) -> Tensor:
    """One step of the optimiser; returns the loss, float32 []."""
    student, optimiser, recipe = progress.student, progress.optimiser, progress.recipe
    best = teacher.best(rows, student.known)
    with torch.autocast(student.device.type, teacher.dtype, enabled=teacher.dtype != torch.float32):
        logits = student.lm_head(student.hidden(lesson.ids, lesson.places))
    loss = divergence(logits, best, lesson.copied)
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(progress.tokens / recipe.tokens, peak=recipe.peak)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimiser.step()
    progress.step, progress.tokens = progress.step + 1, progress.tokens + len(logits)
    return loss.detach()


@torch.no_grad()
def agreement(student: Student, groups: Sequence[tuple[Lesson, Tensor]]) -> float:
    """How often the draft's best token, copying included, is the target's; groups: lessons, and the target's ids."""
    same = []
    for lesson, theirs in groups:
        q = student.lm_head(student.hidden(lesson.ids, lesson.places)).softmax(-1)
        column, weight = (part.to(q.device)[:, None] for part in lesson.copied)
        mixed = ((1 - weight) * q).scatter_add(-1, column, weight)
        same.append(student.known[mixed.argmax(-1)] == theirs)
    return float(torch.cat(same).float().mean())


def train(teacher: Teacher, corpus: Sequence[Row], recipe: Recipe, *, checkpoint: Path | None = None) -> Progress:
    """Distil a student for `recipe.tokens` tokens, going on from `checkpoint` where there is one.

    It learns the questions' tokens too: the target wrote them as well.
    """
    learnt, tested = ([row for row in corpus if row.held_out == side] for side in (False, True))
    student = new_student(teacher, learnt, recipe)
    whole = whole_texts(corpus)
    teacher.keep(whole)
    progress = Progress(student, recipe, digest(whole))
    scored = sample(tested, SCORED_ROWS)
    groups = [scored[start : start + ROWS_AT_ONCE] for start in range(0, len(scored), ROWS_AT_ONCE)]
    tests = [(lesson, teacher.greedy(rows)) for rows, lesson in prepared(groups, student)]
    if not (checkpoint and progress.load(checkpoint)):
        progress.note([], agreement(student, tests))
    losses, begin = [], time.perf_counter()
    saved = begin
    for rows, lesson in groups_from(progress, [row for row in whole if not row.held_out]):
        losses.append(train_step(teacher, progress, rows, lesson))
        progress.seconds += time.perf_counter() - begin
        if progress.step % STEPS_BETWEEN_SCORES == 0:
            progress.note(losses, agreement(student, tests))
            losses = []
        if checkpoint and time.perf_counter() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            progress.save(checkpoint)
            saved = time.perf_counter()
        begin = time.perf_counter()
    progress.note(losses, agreement(student, tests))
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
