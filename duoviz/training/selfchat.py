"""The target talks to itself: it is given a question's opening, writes the question, then answers it."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer

from duoviz.training.batched_target import BatchedTarget, load_target
from duoviz.training.openings import TASKS, opening

QUESTION_TOKENS, ANSWER_TOKENS, CONTEXT = 176, 160, 448
CANDIDATES = 64
QUESTION_TEMPERATURE, ANSWER_TEMPERATURE = 0.9, 1.0
# A text whose last tokens are this many repeats of one stretch is a loop.
LOOP_TOKENS, LONGEST_PERIOD = 60, 20
# Finished texts are looked for this seldom: a GPU would wait for each look.
STEPS_AT_ONCE = 8


@dataclass(frozen=True)
class Format:
    """The chat template's pieces as token ids: before a question, between question and answer, and after an answer."""

    begin: list[int]
    between: list[int]
    again: list[int]
    end: int


class Start(NamedTuple):
    """How a row begins, all of which follows from the seed and the row: its opening, and what decides its tokens.

    key: of the noise that its tokens are drawn with, int64.
    """

    row: int
    task: str
    greedy: bool
    turns: int
    opening: list[int]
    key: int


class Text(NamedTuple):
    """A complete row: its token ids, and which of them are the answer's."""

    row: int
    task: str
    greedy: bool
    ids: list[int]
    answer: list[bool]


class Slots:
    """The rows that are being written, one a slot; tensors of [slots] or [slots, CONTEXT] on the target's device.

    given: places whose token is given, not chosen. length: of the text so far, but for what is given next; begun:
    where its question or answer begins; turns: how many answers it still lacks. repeats: for each period up to
    LONGEST_PERIOD, how many of an answer's last tokens stood one period before too.
    """

    def __init__(self, target: BatchedTarget, chat: Format):
        self.target, self.chat = target, chat
        count = len(target.slots)

        def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros(count, *shape, dtype=dtype, device=target.device)

        self.ids, self.given, self.answer = zeros(CONTEXT), *(zeros(CONTEXT, dtype=torch.bool) for _ in range(2))
        self.length, self.begun, self.turns, self.key = (zeros() for _ in range(4))
        self.greedy, self.answering = (zeros(dtype=torch.bool) for _ in range(2))
        self.repeats = zeros(LONGEST_PERIOD)
        self.periods = torch.arange(1, LONGEST_PERIOD + 1, device=target.device)
        self.between, self.again = (torch.tensor(part, device=target.device) for part in (chat.between, chat.again))
        # A slot without a row is done.
        self.done = ~zeros(dtype=torch.bool)

    @torch.inference_mode()
    def start(self, slots: list[int], starts: Sequence[Start]) -> None:
        """Begin these rows in these slots, whose first tokens, those that all rows share, are in the cache."""
        texts = [[*self.chat.begin, *start.opening] for start in starts]
        numbers = [(len(self.chat.begin), len(text), start.turns, start.key, start.greedy)
                   for text, start in zip(texts, starts, strict=True)]  # fmt: skip
        device = self.target.device
        where = torch.tensor(slots, device=device)
        self.ids[where] = torch.tensor([text + [0] * (CONTEXT - len(text)) for text in texts], device=device)
        length, begun, turns, key, greedy = torch.tensor(numbers, device=device).T
        self.given[where] = torch.arange(CONTEXT, device=device) < begun[:, None]
        self.length[where], self.begun[where], self.turns[where], self.key[where] = length, begun, turns, key
        self.greedy[where] = greedy.bool()
        self.answer[where], self.answering[where], self.done[where] = False, False, False

    @torch.inference_mode()
    def step(self) -> None:
        """One more token for each row that is not done."""
        slots, place = self.target.slots, self.length
        last = place.clamp(min=1) - 1
        logits = self.target.step(self.ids[slots, last], last)
        best = logits.topk(min(CANDIDATES, logits.shape[-1]), dim=-1)
        chosen = ~self.given[slots, place] & ~self.done
        token = torch.where(chosen, self.choose(best.values.float(), best.indices), self.ids[slots, place])
        self.ids[slots, place], self.answer[slots, place] = token, chosen & self.answering
        self.length = place + ~self.done
        self.go_on(chosen, token)

    def choose(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """The target's next token: candidates int64 [slots, n], most probable first; logits float32 alike."""
        temperature = torch.where(self.answering, ANSWER_TEMPERATURE, QUESTION_TEMPERATURE)[:, None]
        drawn = (logits / temperature + gumbel(self.key, self.length, logits.shape[-1])).argmax(dim=-1)
        return candidates.gather(-1, drawn.masked_fill(self.answering & self.greedy, 0)[:, None])[:, 0]

    def go_on(self, chosen: Tensor, token: Tensor) -> None:
        """After these tokens: go on to the next part where a question or an answer has ended."""
        written = self.length - self.begun
        ended = chosen & (token == self.chat.end)
        answering, asking = chosen & self.answering, chosen & ~self.answering
        answered = answering & (ended | (written >= ANSWER_TOKENS) | self.loops(answering, token, written))
        asked = asking & (ended | (written >= QUESTION_TOKENS))
        self.turns -= answered.long()
        complete = answered & ((self.turns == 0) | ~ended)
        # An ended part has written the first token of what comes between a question and its answer.
        self.give(self.between, asked & ~ended)
        self.give(self.between[1:], asked & ended)
        self.give(self.again, answered & ~complete)
        self.answering = (self.answering & ~answered) | asked
        self.done |= complete | (self.begun.maximum(self.length) >= CONTEXT - 1)

    def give(self, tokens: Tensor, where: Tensor) -> None:
        """Let these tokens come next in these slots, bool [slots]; the part after them begins there."""
        places = self.length[:, None] + torch.arange(len(tokens), device=tokens.device)
        places = places.where(where[:, None] & (places < CONTEXT), CONTEXT - 1)
        fits = places < CONTEXT - 1
        rows = self.target.slots[:, None].expand_as(places)
        # The last place is never chosen: what is of no slot goes there.
        self.ids[rows, places] = tokens.expand_as(places)
        self.given[rows, places] = fits | self.given[rows, places]
        self.begun = torch.where(where, self.length + len(tokens), self.begun)

    def loops(self, answering: Tensor, token: Tensor, written: Tensor) -> Tensor:
        """Whether an answer's last LOOP_TOKENS tokens repeat one stretch of at most LONGEST_PERIOD tokens."""
        places = self.length[:, None] - 1 - self.periods
        same = (self.ids.gather(1, places.clamp(min=0)) == token[:, None]) & (places >= self.begun[:, None])
        self.repeats = (self.repeats + 1) * (same & answering[:, None])
        return (written >= LOOP_TOKENS + LONGEST_PERIOD) & (self.repeats >= LOOP_TOKENS).any(dim=-1)

    def taken(self, slots: list[int]) -> list[tuple[list[int], list[bool]]]:
        """The token ids of these slots, and which are an answer's."""
        where = torch.tensor(slots, dtype=torch.int64, device=self.target.device)
        ids, answer, length = (part[where].tolist() for part in (self.ids, self.answer, self.length))
        return [(row[:n], mine[:n]) for row, mine, n in zip(ids, answer, length, strict=True)]


def gumbel(key: Tensor, place: Tensor, count: int) -> Tensor:
    """Gumbel noise, float32 [slots, count], a function of each slot's key and place alone (SplitMix64's mixing)."""
    x = key + place * -0x61C8864680B583EB
    x = x[:, None] + torch.arange(1, count + 1, device=key.device) * -0x2B5A8A5A3D1B1D35
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        x = (x ^ shifted(x, shift)) * factor
    uniform = (shifted(x ^ shifted(x, 31), 11).double() + 0.5) / 2**53
    return -(-uniform.log()).log().float()


def shifted(x: Tensor, bits: int) -> Tensor:
    """int64 as if unsigned, shifted to the right."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def chat_format(tokenizer) -> Format:
    """The pieces of the chat template, found by rendering a marked conversation."""
    mark = "{text}"
    messages = [{"role": role, "content": mark} for role in ("user", "assistant", "user")]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    begin, between, again = (tokenizer.encode(piece, add_special_tokens=False) for piece in text.split(mark)[:3])
    # The target writes the end mark itself after a question or an answer; what follows the mark is given.
    return Format(begin=begin, between=between, again=again[1:], end=again[0])


def write_texts(target: BatchedTarget, tokenizer, rows: Iterator[int], *, seed: int) -> Iterator[Text]:
    """Complete rows, as they are finished; a finished text's slot soon goes to the next row."""
    chat = chat_format(tokenizer)
    # Every text begins alike: that part is computed once and stays at the front of each slot.
    for position, token in enumerate(chat.begin[:-1]):
        target.step(torch.full_like(target.slots, token), torch.full_like(target.slots, position))
    starts = (beginning(tokenizer, row, seed) for row in rows)
    slots, waiting = Slots(target, chat), deque[Start]()
    writing: dict[int, Start] = {}
    while True:
        done = torch.nonzero(slots.done)[:, 0].tolist()
        ended = [slot for slot in done if slot in writing]
        for slot, text in zip(ended, slots.taken(ended), strict=True):
            start = writing.pop(slot)
            yield Text(start.row, start.task, start.greedy, *text)
        waiting.extend(islice(starts, max(0, len(done) - len(waiting))))
        free = done[: len(waiting)]
        writing |= {slot: waiting.popleft() for slot in free}
        if not writing:
            return
        if free:
            slots.start(free, [writing[slot] for slot in free])
        for _ in range(STEPS_AT_ONCE):
            slots.step()
        # While a GPU still computes these steps.
        waiting.extend(islice(starts, len(free)))


def beginning(tokenizer, row: int, seed: int) -> Start:
    """How a row begins."""
    rng, task = np.random.default_rng([seed, row]), TASKS[row % len(TASKS)]
    given = tokenizer.encode(opening(rng, task), add_special_tokens=False)
    greedy, turns = bool(rng.random() < 0.6), 2 if task == "mt_bench" else 1
    return Start(row, task, greedy, turns, given, int(rng.integers(1 << 62)))


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
    target = BatchedTarget(load_target(target_folder, torch.bfloat16), slots=slots, context=CONTEXT)
    lines = out.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    done = read_lines(lines)
    lines.write_text("".join(json.dumps(row) + "\n" for row in done))
    wanted = sorted(set(range(rows)) - {row["row"] for row in done})
    begin, answers = time.perf_counter(), 0
    with lines.open("a") as file:
        for count, text in enumerate(write_texts(target, tokenizer, iter(wanted), seed=seed), 1):
            row = text._asdict() | {"answer": [int(mine) for mine in text.answer]}
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
