"""Distillation: the draft learns from the target on the target's own text."""

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from timeit import timeit

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from duoviz.models.cache import cache_folder
from duoviz.models.llama import load_llama
from duoviz.training.batched_target import load_target
from duoviz.training.copying import fit_copying
from duoviz.training.corpus import Corpus, batches, load_corpus, sample
from duoviz.training.evaluation import evaluate, scores
from duoviz.training.lessons import Lesson, Lessons, prepared
from duoviz.training.losses import CopyingKL
from duoviz.training.student import RIDGE, Student, cut_from_target, read_student, save_draft, student_hidden, with_head
from duoviz.training.teacher import Teacher

Report = Callable[[str], None]

HELD_OUT = 128
# Rows that the map is fitted on, and rows that the periodic score is taken on.
FITTED_ROWS, SCORED_ROWS, SCORED_AT_ONCE = 384, 48, 8
# The share of the training in which the learning rate rises.
WARM_UP = 0.02
STEPS_BETWEEN_SCORES, SECONDS_BETWEEN_CHECKPOINTS = 150, 240


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


class Progress:
    """A training run that can be put down and taken up again."""

    def __init__(self, student: Student, optimiser: torch.optim.Optimizer, corpus: Corpus):
        self.student, self.optimiser, self.corpus = student, optimiser, corpus.digest(range(len(corpus)))
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.log: list[dict] = []

    def save(self, file: Path, recipe: Recipe) -> None:
        half_made = file.with_suffix(".part")
        counts = {"step": self.step, "tokens": self.tokens, "seconds": self.seconds, "log": self.log}
        state = {"recipe": asdict(recipe), "corpus": self.corpus, "student": self.student.state_dict()}
        torch.save(state | {"counts": counts, "optimiser": self.optimiser.state_dict()}, half_made)
        os.replace(half_made, file)

    def load(self, file: Path, recipe: Recipe) -> bool:
        """Go on from a checkpoint of the same corpus and recipe (but for its length); False if there is none."""
        if not file.is_file():
            return False
        state = torch.load(file, weights_only=True)
        if state["recipe"] | {"tokens": recipe.tokens} != asdict(recipe) or state.get("corpus") != self.corpus:
            return False
        self.student.load_state_dict(state["student"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.__dict__.update(state["counts"])
        return True

    def note(self, wanted: int, losses: list[Tensor], agreement: float) -> str:
        """Add a line to the log, with the mean of these losses; returns it in words. wanted: tokens to train on."""
        loss = round(float(torch.stack(losses).mean()), 4) if losses else None
        minutes = round(self.seconds / 60, 2)
        self.log.append({"minutes": minutes, "tokens": self.tokens, "loss": loss, "agreement": round(agreement, 4)})
        text = f"{self.tokens:,} of {wanted:,} tokens, agreement {agreement:.3f}"
        if not losses:
            return text
        speed = self.tokens / self.seconds
        left = max(0, wanted - self.tokens) / speed / 60
        return f"{text}, loss {loss}, {speed:.0f} tokens a second, {left:.1f} min left"


@torch.no_grad()
def fit_map(student: Student, teacher: Teacher, rows: list[int]) -> None:
    """Fit one linear map from the student's last hidden state to the target's, and fold it into the head.

    Ridge regression in closed form, float64.
    """
    width, size = student.shape.hidden_size, teacher.target.config.hidden_size
    gram = torch.zeros(width, width, dtype=torch.float64)
    cross = torch.zeros(width, size, dtype=torch.float64)
    for start in range(0, len(rows), 16):
        part = rows[start : start + 16]
        x = student_hidden(student, teacher.corpus, part).double().cpu()
        y = teacher.hidden(part).double().cpu()
        gram += x.T @ x
        cross += x.T @ y
    gram += RIDGE * gram.diagonal().mean() * torch.eye(width, dtype=torch.float64)
    linear = torch.linalg.solve(gram, cross).float().to(student.device)
    student.lm_head.weight.copy_(teacher.target.lm_head.weight[student.known] @ linear.T)


def learning_rate(fraction: float, *, peak: float) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak; `fraction` is of the tokens."""
    if fraction < WARM_UP:
        return peak * (0.01 + 0.99 * fraction / WARM_UP)
    progress = min(1.0, (fraction - WARM_UP) / (1 - WARM_UP))
    return peak * (0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2)


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


def load_teacher(target_folder: Path, corpus_files: list[Path], *, held_out: int = HELD_OUT) -> Teacher:
    """The target beside its corpus, on the GPU if there is one; on a processor its states are kept in the cache."""
    target = load_target(target_folder)
    folder = cache_folder() / "teacher" if target.device.type == "cpu" else None
    corpus = load_corpus(corpus_files, held_out=held_out)
    return Teacher(target, corpus, fast_dtype(target.device.type), folder=folder)


def new_student(teacher: Teacher, recipe: Recipe) -> Student:
    """The draft of `recipe.start`, or one cut out of the target, with the fitted map."""
    device, target = teacher.target.device, teacher.target
    tokens = torch.from_numpy(teacher.corpus.most_frequent(recipe.output_tokens)).to(device)
    if recipe.start:
        return with_head(read_student(Path(recipe.start)).to(device), tokens, target.lm_head.weight.detach())
    student = cut_from_target(target, layers=recipe.layers, embedding_rank=recipe.embedding_rank, tokens=tokens)
    fit_map(student.to(device), teacher, teacher.corpus.rows(held_out=False)[:FITTED_ROWS])
    return student


def train(teacher: Teacher, recipe: Recipe, *, checkpoint: Path | None = None, report: Report = print) -> Progress:
    """Distil a student for `recipe.tokens` tokens, going on from `checkpoint` where there is one.

    It learns the questions' tokens too: the target wrote them as well.
    """
    student = new_student(teacher, recipe)
    all_answered = teacher.of(teacher.corpus.all_answered())
    optimiser = torch.optim.AdamW(student.parameters(), lr=recipe.peak, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    progress = Progress(student, optimiser, all_answered.corpus)
    scored = sample(teacher.corpus.rows(held_out=True), SCORED_ROWS)
    groups = [scored[start : start + SCORED_AT_ONCE] for start in range(0, len(scored), SCORED_AT_ONCE)]
    tests = Lessons(teacher.corpus, student.known, groups)

    def note(losses: list[Tensor]) -> None:
        """Report the agreement of the draft as it will be used, and the mean loss since it was reported last."""
        report(progress.note(recipe.tokens, losses, evaluate(student, teacher, tests).top1))

    if not (checkpoint and progress.load(checkpoint, recipe)):
        note([])
    losses, saved = [], time.perf_counter()
    begin = saved
    for lesson in lessons_from(progress, all_answered, recipe):
        losses.append(train_step(all_answered, recipe, progress, lesson))
        progress.seconds += time.perf_counter() - begin
        if progress.step % STEPS_BETWEEN_SCORES == 0:
            note(losses)
            losses = []
        if checkpoint and time.perf_counter() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            progress.save(checkpoint, recipe)
            saved = time.perf_counter()
        begin = time.perf_counter()
    note(losses)
    return progress


def lessons_from(progress: Progress, teacher: Teacher, recipe: Recipe) -> Iterator[Lesson]:
    """The lessons of all epochs after those that were taken already, until enough tokens were trained on."""
    corpus, passed = teacher.corpus, progress.step
    rows = corpus.rows(held_out=False)
    for epoch in count():
        # Reshuffled each epoch.
        rng = np.random.default_rng([recipe.seed, epoch])
        groups = batches(corpus, rows, tokens=recipe.batch_tokens, rng=rng)
        for lesson in prepared(Lessons(corpus, progress.student.known, groups[passed:]), progress.student.device):
            if progress.tokens >= recipe.tokens:
                return
            yield lesson
        passed = max(0, passed - len(groups))


def train_step(teacher: Teacher, recipe: Recipe, progress: Progress, lesson: Lesson) -> Tensor:
    """One step of the optimiser; returns the loss, float32 []."""
    student, optimiser = progress.student, progress.optimiser
    best = teacher.best(lesson.rows, student.known)
    with torch.autocast(student.device.type, teacher.dtype, enabled=teacher.dtype != torch.float32):
        hidden = student.hidden(lesson.ids, lesson.places).to(teacher.dtype)
    loss = CopyingKL.apply(hidden, student.lm_head.weight, best, lesson.copied)
    for group in optimiser.param_groups:
        group["lr"] = learning_rate(progress.tokens / recipe.tokens, peak=recipe.peak)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimiser.step()
    progress.step, progress.tokens = progress.step + 1, progress.tokens + len(hidden)
    return loss.detach()


def train_draft(
    target_folder: Path, corpus_files: list[Path], out: Path, recipe: Recipe, *, report: Report = print
) -> None:
    """Train a draft and write it to the folder `out`, with its log; the same call goes on after a stop.

    The log of a draft that it goes on from is kept in it.
    """
    teacher = load_teacher(target_folder, corpus_files)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / "checkpoint.pt"
    progress = train(teacher, recipe, checkpoint=checkpoint, report=report)
    progress.save(checkpoint, recipe)
    save_draft(progress.student, out)
    # Half of the rows that no training step sees.
    fitted = teacher.corpus.rows(held_out=True)[::2]
    weights = fit_copying(load_llama(out, precision="int8", label="draft"), teacher.corpus, fitted, out)
    for kind, mine in zip(("once", "twice alike", "twice differently"), weights, strict=True):
        report(f"copying weights for n = 1, 2, … seen {kind}: " + ", ".join(f"{weight:.3f}" for weight in mine))
    record = {"recipe": asdict(recipe), "dtype": str(teacher.dtype), "log": progress.log}
    record["held_out"] = scores(teacher, progress.student, out)
    if recipe.start and (before := Path(recipe.start) / "training.json").is_file():
        record["before"] = json.loads(before.read_text())
    (out / "training.json").write_text(json.dumps(record, indent=1) + "\n")
