"""Distillation: the draft learns the target's distribution on the target's own text."""

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from duoviz.training.corpus import Corpus, batches, load_corpus, split
from duoviz.training.student import Student, cut_from_target, save_draft

Report = Callable[[str], None]


class Teacher:
    """The target's last hidden states on corpus rows, computed once a row and kept in float16."""

    def __init__(self, target: nn.Module, corpus: Corpus, dtype: torch.dtype):
        self.target, self.corpus, self.dtype = target, corpus, dtype
        self.kept: dict[int, Tensor] = {}

    @torch.no_grad()
    def hidden(self, rows: list[int]) -> list[Tensor]:
        """For each row, [answer tokens, hidden]: the normalised state that predicts each answer token."""
        missing = [row for row in rows if row not in self.kept]
        if missing:
            with torch.autocast(self.target.device.type, self.dtype):
                states = self.target.model(padded(self.corpus, missing)).last_hidden_state
            for row, state in zip(missing, states, strict=True):
                self.kept[row] = answer_part(self.corpus, row, state).half().clone()
        return [self.kept[row].float() for row in rows]


def padded(corpus: Corpus, rows: list[int]) -> Tensor:
    """int64 [rows, longest]; the padding stands at the right, where causal attention never looks."""
    longest = max(corpus.length(row) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.int64)
    for slot, row in enumerate(rows):
        ids[slot, : corpus.length(row)] = torch.from_numpy(corpus.row(row))
    return ids


def answer_part(corpus: Corpus, row: int, states: Tensor) -> Tensor:
    """The states that predict the row's answer tokens: one position earlier than the tokens."""
    return states[corpus.prompt[row] - 1 : corpus.length(row) - 1]


def student_hidden(student: Student, corpus: Corpus, rows: list[int]) -> Tensor:
    """[answer tokens of all rows, hidden]."""
    states = student.hidden(padded(corpus, rows))
    return torch.cat([answer_part(corpus, row, state) for row, state in zip(rows, states, strict=True)])


@torch.no_grad()
def fit_map(student: Student, teacher: Teacher, rows: list[int], *, ridge: float = 1e-2) -> None:
    """Fit one linear map from the student's last hidden state to the target's, and fold it into the head.

    Ridge regression in closed form, float64.
    """
    size = student.shape.hidden_size
    gram = torch.zeros(size, size, dtype=torch.float64)
    cross = torch.zeros(size, size, dtype=torch.float64)
    for start in range(0, len(rows), 16):
        part = rows[start : start + 16]
        x = student_hidden(student, teacher.corpus, part).double()
        y = torch.cat(teacher.hidden(part)).double()
        gram += x.T @ x
        cross += x.T @ y
    gram += ridge * gram.diagonal().mean() * torch.eye(size, dtype=torch.float64)
    linear = torch.linalg.solve(gram, cross).float()
    student.lm_head.weight.copy_(student.lm_head.weight @ linear.T)


def distillation_loss(student_logits: Tensor, teacher_logits: Tensor) -> Tensor:
    """Mean over tokens of the cross-entropy of the draft's distribution to the target's whole one.

    That is KL(target ‖ draft) plus a constant, both over the ids that the draft's head knows.
    """
    logits = student_logits.float()
    probabilities = teacher_logits.float().softmax(dim=-1)
    return (logits.logsumexp(dim=-1) - (probabilities * logits).sum(dim=-1)).mean()


@torch.no_grad()
def agreement(student: Student, teacher: Teacher, rows: list[int]) -> float:
    """How often the draft's top-1 is the target's, over the answers of held-out rows."""
    same = total = 0
    for start in range(0, len(rows), 16):
        part = rows[start : start + 16]
        theirs = teacher.target.lm_head(torch.cat(teacher.hidden(part))).argmax(-1)
        ours = student.lm_head(student_hidden(student, teacher.corpus, part)).argmax(-1)
        same += int((theirs == ours).sum())
        total += len(theirs)
    return same / total


def learning_rate(fraction: float, *, peak: float, warm_up: float = 0.02) -> float:
    """Linear warm-up, then a cosine down to a fiftieth of the peak; `fraction` is of the time allowed."""
    if fraction < warm_up:
        return peak * fraction / warm_up
    progress = min(1.0, (fraction - warm_up) / (1 - warm_up))
    return peak * (0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2)


def endless_batches(corpus: Corpus, rows: list[int], *, tokens: int, seed: int) -> Iterator[tuple[int, list[int]]]:
    """(epoch, rows of one batch), reshuffled each epoch."""
    epoch = 0
    while True:
        for batch in batches(corpus, rows, tokens=tokens, rng=np.random.default_rng([seed, epoch])):
            yield epoch, batch
        epoch += 1


def fast_dtype() -> torch.dtype:
    """bfloat16 where the processor multiplies it faster than float32, else float32."""
    times = {}
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 576, dtype=dtype), torch.ones(1536, 576, dtype=dtype)
        F.linear(a, b)
        start = time.perf_counter()
        for _ in range(5):
            F.linear(a, b)
        times[dtype] = time.perf_counter() - start
    return min(times, key=times.get)


def train_draft(
    target_folder: Path,
    corpus_file: Path,
    out: Path,
    *,
    minutes: float,
    layers: int = 3,
    embedding_rank: int = 320,
    output_tokens: int = 16_384,
    peak: float = 6e-4,
    batch_tokens: int = 3_000,
    held_out: int = 128,
    seed: int = 0,
    report: Report = print,
) -> None:
    """Cut a draft from the target, fit its head, distil it for `minutes`, and write it to `out`.

    The corpus is read in shuffled epochs; the target's states are computed in the first epoch and
    kept. A log of loss and agreement is written beside the weights.
    """
    from transformers import AutoModelForCausalLM

    torch.manual_seed(seed)
    begin = time.perf_counter()
    dtype = fast_dtype()
    target = AutoModelForCausalLM.from_pretrained(target_folder, dtype=torch.float32).eval()
    corpus = load_corpus(corpus_file)
    train_rows, test_rows = split(corpus, held_out=held_out)
    teacher = Teacher(target, corpus, dtype)
    student = cut_from_target(target, layers=layers, embedding_rank=embedding_rank, output_tokens=output_tokens)
    fit_map(student, teacher, train_rows[:384])
    log = [{"minutes": minutes_since(begin), "tokens": 0, "agreement": agreement(student, teacher, test_rows)}]
    report(f"after the fitted map: agreement {log[0]['agreement']:.3f}")

    optimiser = torch.optim.AdamW(student.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    tokens, losses = 0, []
    for step, (epoch, rows) in enumerate(endless_batches(corpus, train_rows, tokens=batch_tokens, seed=seed)):
        fraction = minutes_since(begin) / minutes
        if fraction >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(fraction, peak=peak)
        states = torch.cat(teacher.hidden(rows))
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            with torch.no_grad():
                teacher_logits = F.linear(states, target.lm_head.weight[:output_tokens])
            loss = distillation_loss(student.lm_head(student_hidden(student, corpus, rows)), teacher_logits)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        tokens += len(states)
        losses.append(loss.item())
        if step % 100 == 99:
            score = agreement(student, teacher, test_rows) if step % 300 == 299 else None
            log.append(entry(begin, epoch, tokens, losses[-100:], score))
            report(describe(log[-1], minutes))
    log.append(entry(begin, epoch, tokens, losses[-100:], agreement(student, teacher, test_rows)))
    report(describe(log[-1], minutes))
    save_draft(student, out)
    (out / "training.json").write_text(json.dumps({"seed": seed, "dtype": str(dtype), "log": log}, indent=1) + "\n")


def minutes_since(begin: float) -> float:
    return (time.perf_counter() - begin) / 60


def entry(begin: float, epoch: int, tokens: int, losses: list[float], score: float | None) -> dict:
    return {
        "minutes": minutes_since(begin),
        "epoch": epoch,
        "tokens": tokens,
        "loss": sum(losses) / max(1, len(losses)),
        "agreement": score,
    }


def describe(row: dict, minutes: float) -> str:
    score = "" if row["agreement"] is None else f", agreement {row['agreement']:.3f}"
    left = max(0.0, minutes - row["minutes"])
    return f"epoch {row['epoch']}, {row['tokens']:,} tokens, loss {row['loss']:.3f}{score}, {left:.1f} min left"
