"""The target talks to itself: it is given a question's opening, writes the question, then answers it."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from duoviz.training.batched_target import BatchedTarget, load_target
from duoviz.training.openings import TASKS, opening

QUESTION_TOKENS, ANSWER_TOKENS, CONTEXT = 176, 160, 448
CANDIDATES = 64
QUESTION_TEMPERATURE, ANSWER_TEMPERATURE = 0.9, 1.0
# A text whose last tokens are this many repeats of one stretch is a loop.
LOOP_TOKENS, LONGEST_PERIOD = 60, 20


@dataclass(frozen=True)
class Format:
    """The chat template's pieces as token ids: before a question, between question and answer, and after an answer."""

    begin: list[int]
    between: list[int]
    again: list[int]
    end: int


@dataclass
class Text:
    """One row while it is written. `forced` holds tokens that are given, not chosen."""

    row: int
    task: str
    rng: np.random.Generator
    greedy: bool
    turns: int
    forced: list[int]
    ids: list[int] = field(default_factory=list)
    answer: list[bool] = field(default_factory=list)
    answering: bool = False
    begun: int = 0

    def next_forced(self) -> bool:
        """Take the next given token; False where the target chooses."""
        if not self.forced:
            return False
        self.ids.append(self.forced.pop(0))
        self.answer.append(False)
        self.begun = len(self.ids)
        return True

    def choose(self, logits: np.ndarray, candidates: np.ndarray) -> None:
        """Append the target's next token: candidates int64 [n], most probable first; logits float32 [n]."""
        if self.answering and self.greedy:
            token = candidates[0]
        else:
            temperature = ANSWER_TEMPERATURE if self.answering else QUESTION_TEMPERATURE
            token = candidates[np.argmax(logits / temperature + self.rng.gumbel(size=len(logits)))]
        self.ids.append(int(token))
        self.answer.append(self.answering)

    def finished(self, chat: Format) -> bool:
        """Go on to the next part where one has ended; True when the row is complete."""
        length = len(self.ids) - self.begun
        ended = length > 0 and self.ids[-1] == chat.end
        if len(self.ids) >= CONTEXT - 1:
            return True
        if self.answering:
            if not (ended or length >= ANSWER_TOKENS or loops(self.ids[self.begun :])):
                return False
            self.turns -= 1
            if not self.turns or not ended:
                return True
            self.answering, self.forced = False, list(chat.again)
        elif ended or length >= QUESTION_TOKENS:
            self.answering, self.forced = True, list(chat.between[ended:])
        return len(self.ids) + len(self.forced) >= CONTEXT - 1


def loops(ids: list[int]) -> bool:
    """Whether the last LOOP_TOKENS tokens repeat one stretch of at most LONGEST_PERIOD tokens."""
    if len(ids) < LOOP_TOKENS + LONGEST_PERIOD:
        return False
    tail = np.array(ids[-LOOP_TOKENS - LONGEST_PERIOD :])
    return any((tail[-LOOP_TOKENS:] == tail[-LOOP_TOKENS - p : -p]).all() for p in range(1, LONGEST_PERIOD + 1))


def chat_format(tokenizer) -> Format:
    """The pieces of the chat template, found by rendering a marked conversation."""
    mark = "{text}"
    messages = [{"role": role, "content": mark} for role in ("user", "assistant", "user")]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    begin, between, again = (tokenizer.encode(piece, add_special_tokens=False) for piece in text.split(mark)[:3])
    # The target writes the end mark itself after a question or an answer; what follows the mark is given.
    return Format(begin=begin, between=between, again=again[1:], end=again[0])


def write_texts(target: BatchedTarget, tokenizer, rows: Iterator[int], *, seed: int) -> Iterator[Text]:
    """Complete rows, as they are finished; a finished text's slot goes to the next row at once."""
    chat = chat_format(tokenizer)
    # Every text begins alike: that part is computed once and stays at the front of each slot.
    for position, token in enumerate(chat.begin[:-1]):
        target.step(torch.full_like(target.slots, token), torch.full_like(target.slots, position))
    texts = [started(tokenizer, chat, rows, seed) for _ in target.slots]
    while any(texts):
        ids = torch.tensor([text.ids[-1] if text else 0 for text in texts], device=target.device)
        positions = torch.tensor([len(text.ids) - 1 if text else 0 for text in texts], device=target.device)
        best = target.step(ids, positions).topk(CANDIDATES, dim=-1)
        logits, candidates = best.values.float().cpu().numpy(), best.indices.cpu().numpy()
        for slot, text in enumerate(texts):
            # Each step forwards a text's last token, so exactly one token a step is added to it.
            if text is None or text.next_forced():
                continue
            text.choose(logits[slot], candidates[slot])
            if text.finished(chat):
                yield text
                texts[slot] = started(tokenizer, chat, rows, seed)


def started(tokenizer, chat: Format, rows: Iterator[int], seed: int) -> Text | None:
    """The next row's text, up to its first token that is not in the slot yet; None after the last row.

    Its opening and all its randomness follow from (seed, row).
    """
    if (row := next(rows, None)) is None:
        return None
    rng, task, cached = np.random.default_rng([seed, row]), TASKS[row % len(TASKS)], chat.begin[:-1]
    given = tokenizer.encode(opening(rng, task), add_special_tokens=False)
    greedy, turns = bool(rng.random() < 0.6), 2 if task == "mt_bench" else 1
    forced, answer = [chat.begin[-1], *given], [False] * len(cached)
    text = Text(row, task, rng, greedy, turns, forced, ids=list(cached), answer=answer)
    text.next_forced()
    return text


def read_lines(file: Path) -> list[dict]:
    """The complete lines of a file of rows; a line cut short by a kill is left out."""
    lines = file.read_text().split("\n") if file.is_file() else []
    return [json.loads(line) for line in lines[:-1]]


def pack(rows: list[dict]) -> dict[str, np.ndarray]:
    """The arrays of a corpus file (see `corpus.load_corpus`), in the rows' order, without duplicates.

    A row is left out if an earlier one has the same answers.
    """
    by_answers: dict[tuple[int, ...], dict] = {}
    for row in sorted(rows, key=lambda row: row["row"]):
        if answers := tuple(token for token, mine in zip(row["ids"], row["answer"], strict=True) if mine):
            by_answers.setdefault(answers, row)
    kept = by_answers.values()
    return {
        "flat": np.array([token for row in kept for token in row["ids"]], dtype=np.uint16),
        "length": np.array([len(row["ids"]) for row in kept], dtype=np.int32),
        "answer": np.array([mine for row in kept for mine in row["answer"]], dtype=bool),
        "greedy": np.array([row["greedy"] for row in kept], dtype=bool),
        "task": np.array([row["task"] for row in kept]),
    }


def make_corpus(
    target_folder: Path,
    out: Path,
    *,
    rows: int,
    minutes: float,
    slots: int = 128,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> None:
    """Write a corpus of up to `rows` rows to `out` (npz), stopping after `minutes`.

    Finished rows are appended to `out`.jsonl at once; the same call goes on from there.
    """
    tokenizer = AutoTokenizer.from_pretrained(target_folder)
    target = BatchedTarget(load_target(target_folder), slots=slots, context=CONTEXT, dtype=torch.bfloat16)
    lines = out.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    done = read_lines(lines)
    lines.write_text("".join(json.dumps(row) + "\n" for row in done))
    wanted = sorted(set(range(rows)) - {row["row"] for row in done})
    begin, answers = time.perf_counter(), 0
    with lines.open("a") as file:
        for count, text in enumerate(write_texts(target, tokenizer, iter(wanted), seed=seed), 1):
            row = {"row": text.row, "task": text.task, "greedy": text.greedy, "ids": text.ids,
                   "answer": [int(mine) for mine in text.answer]}  # fmt: skip
            done.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            answers += sum(text.answer)
            spent = (time.perf_counter() - begin) / 60
            if count % 100 == 0:
                left = min(minutes - spent, spent * (len(wanted) - count) / count)
                report(f"{len(done):,} rows, {answers / spent / 60:.0f} answer tokens/s, {left:.1f} min left")
            if spent >= minutes:
                break
    arrays = pack(done)
    np.savez_compressed(out, **arrays)  # pyright: ignore[reportArgumentType]
    report(f"{len(arrays['length']):,} rows, {int(arrays['answer'].sum()):,} answer tokens in {out}")
