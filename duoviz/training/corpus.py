"""The self-chat corpus: rows of token ids that the target wrote to itself."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Corpus:
    """Rows of token ids, one after another.

    flat: int64 [total tokens]; starts: int64 [rows + 1], where each row begins;
    prompt: int64 [rows], how many of a row's tokens are its prompt (the rest is the answer).
    """

    flat: np.ndarray
    starts: np.ndarray
    prompt: np.ndarray

    def __len__(self) -> int:
        return len(self.prompt)

    def row(self, index: int) -> np.ndarray:
        return self.flat[self.starts[index] : self.starts[index + 1]]

    def length(self, index: int) -> int:
        return int(self.starts[index + 1] - self.starts[index])


def load_corpus(path: Path) -> Corpus:
    """Read a corpus file (npz with `flat`, `length` and `prompt`)."""
    with np.load(path) as data:
        starts = np.concatenate([[0], np.cumsum(data["length"], dtype=np.int64)])
        return Corpus(flat=data["flat"].astype(np.int64), starts=starts, prompt=data["prompt"].astype(np.int64))


def split(corpus: Corpus, *, held_out: int) -> tuple[list[int], list[int]]:
    """Row numbers for training and the last `held_out` ones, which no training step sees."""
    rows = list(range(len(corpus)))
    return rows[:-held_out], rows[-held_out:]


def batches(corpus: Corpus, rows: list[int], *, tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Group rows of like length into batches of about `tokens` padded tokens, in random order."""
    order = sorted(rng.permutation(rows).tolist(), key=lambda row: corpus.length(row) // 8)
    groups, group, longest = [], [], 0
    for row in order:
        longest = max(longest, corpus.length(row))
        if group and longest * (len(group) + 1) > tokens:
            groups.append(group)
            group, longest = [], corpus.length(row)
        group.append(row)
    if group:
        groups.append(group)
    return [groups[index] for index in rng.permutation(len(groups))]
