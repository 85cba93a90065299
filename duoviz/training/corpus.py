"""The self-chat corpus: rows of token ids that the target wrote to itself."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

# What a corpus file holds; see `selfchat.pack`.
ARRAYS = ("flat", "length", "answer", "greedy", "task")


@dataclass(frozen=True)
class Corpus:
    """Rows of token ids, one after another.

    flat: int64 [total tokens]; starts: int64 [rows + 1], where each row begins; answer: bool [total
    tokens], true where the assistant speaks; greedy: bool [rows], whether its tokens are the
    target's most probable ones; task: str [rows]; file: int64 [rows], the how manieth file it is of; held_out: bool
    [rows], never trained on.
    """

    flat: np.ndarray
    starts: np.ndarray
    answer: np.ndarray
    greedy: np.ndarray
    task: np.ndarray
    file: np.ndarray
    held_out: np.ndarray

    def __len__(self) -> int:
        return len(self.greedy)

    def row(self, index: int) -> np.ndarray:
        """The token ids of a row, int64 [length]."""
        return self.flat[self.starts[index] : self.starts[index + 1]]

    def length(self, index: int) -> int:
        return int(self.starts[index + 1] - self.starts[index])

    def answered(self, index: int) -> np.ndarray:
        """Where in the row the answer's tokens stand, int64 [answer tokens]."""
        return np.flatnonzero(self.answer[self.starts[index] : self.starts[index + 1]])

    def digest(self, rows: Sequence[int] | np.ndarray) -> str:
        """What tells rows that stand one after another from any others."""
        tokens = slice(self.starts[rows[0]], self.starts[rows[-1] + 1])
        return hashlib.sha256(self.flat[tokens].tobytes() + self.answer[tokens].tobytes()).hexdigest()[:16]

    def all_answered(self) -> "Corpus":
        """The same rows with every token counted as an answer's, but for the beginning that all rows share."""
        length = np.diff(self.starts)
        heads = self.flat[self.starts[:-1, None] + np.arange(length.min())]
        differ = np.flatnonzero((heads != heads[0]).any(axis=0))
        shared = max(1, differ[0] if len(differ) else len(heads[0]))
        place = np.arange(len(self.flat)) - np.repeat(self.starts[:-1], length)
        return replace(self, answer=place >= shared)

    def most_frequent(self, count: int) -> np.ndarray:
        """The `count` ids that the training rows have most of, ascending, int64; among equals the lowest."""
        trained = np.repeat(~self.held_out, np.diff(self.starts))
        often = np.bincount(self.flat[trained], minlength=count)
        return np.sort(np.argsort(-often, kind="stable")[:count])

    def rows(self, *, held_out: bool) -> list[int]:
        return np.flatnonzero(self.held_out == held_out).tolist()


def load_corpus(files: Sequence[Path], *, held_out: int) -> Corpus:
    """Read corpus files (npz, see `selfchat.pack`) into one; the last `held_out` rows of each are for testing.

    So is every other row with the same answers.
    """
    parts = [np.load(file) for file in files]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in ("flat", "length", "answer", "greedy")}
    last = [np.arange(len(part["length"])) >= len(part["length"]) - held_out for part in parts]
    flat, answer = joined["flat"].astype(np.int64), joined["answer"].astype(bool)
    starts = np.concatenate([[0], np.cumsum(joined["length"], dtype=np.int64)])
    texts = [flat[a:b][answer[a:b]].tobytes() for a, b in pairwise(starts)]
    tested = {answers for answers, mine in zip(texts, np.concatenate(last), strict=True) if mine}
    return Corpus(
        flat=flat,
        starts=starts,
        answer=answer,
        greedy=joined["greedy"].astype(bool),
        task=np.concatenate([part["task"] for part in parts]),
        file=np.repeat(np.arange(len(parts)), [len(part["length"]) for part in parts]),
        held_out=np.array([answers in tested for answers in texts]),
    )


def sample(rows: list[int], count: int) -> list[int]:
    """At most `count` of the rows, always the same ones; at random, since tasks take turns in a corpus."""
    chosen = np.random.default_rng(0).permutation(len(rows))[:count]
    return [rows[index] for index in sorted(chosen)]


def batches(corpus: Corpus, rows: list[int], *, tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Group rows of like length into batches of about `tokens` padded tokens, in random order."""
    order = sorted(rng.permutation(rows).tolist(), key=lambda row: corpus.length(row) // 8)
    groups, longest = [], 0
    for row in order:
        longest = max(longest, corpus.length(row))
        if not groups or longest * (len(groups[-1]) + 1) > tokens:
            groups.append([])
            longest = corpus.length(row)
        groups[-1].append(row)
    return [groups[index] for index in rng.permutation(len(groups))]
