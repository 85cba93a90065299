"""The self-chat corpus: rows of token ids that the target wrote to itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

# What is read of a corpus file; see `selfchat.pack`.
ARRAYS = ("flat", "length", "answer", "greedy")


@dataclass(frozen=True, eq=False)
class Row:
    """A text: ids int64 [length]; places: where in it the answer's tokens stand, int64, ascending.

    greedy: whether the answer's tokens are the target's most probable ones. held_out: never trained on.
    """

    ids: np.ndarray
    places: np.ndarray
    greedy: bool
    held_out: bool

    @property
    def answer(self) -> bytes:
        return self.ids[self.places].tobytes()


def load_corpus(files: Sequence[Path], *, held_out: int) -> list[Row]:
    """Read corpus files; the last `held_out` rows of each are for testing.

    So is every other row with the same answers.
    """
    rows: list[Row] = []
    for file in files:
        with np.load(file) as arrays:
            flat, length, answer, greedy = (arrays[name] for name in ARRAYS)
        ends = np.cumsum(length)[:-1]
        last = np.arange(len(length)) >= len(length) - held_out
        places = map(np.flatnonzero, np.split(answer, ends))
        columns = np.split(flat.astype(np.int64), ends), places, greedy.tolist(), last.tolist()
        rows += [Row(*row) for row in zip(*columns, strict=True)]
    tested = {row.answer for row in rows if row.held_out}
    return [replace(row, held_out=row.answer in tested) for row in rows]


def whole_texts(rows: Sequence[Row]) -> list[Row]:
    """The same rows with every token counted as an answer's, but for the beginning that all rows share."""
    shortest = min(len(row.ids) for row in rows)
    heads = np.stack([row.ids[:shortest] for row in rows])
    differ = np.flatnonzero((heads != heads[0]).any(axis=0))
    shared = max(1, differ[0] if len(differ) else shortest)
    return [replace(row, places=np.arange(shared, len(row.ids))) for row in rows]


def most_frequent(rows: Sequence[Row], count: int) -> Tensor:
    """The `count` ids that the rows have most of, ascending, int64; of equals the lowest."""
    often = np.bincount(np.concatenate([row.ids for row in rows]), minlength=count)
    return torch.from_numpy(np.sort(np.argsort(-often, kind="stable")[:count]))


def sample(rows: Sequence[Row], count: int) -> list[Row]:
    """At most `count` of the rows, always the same ones; at random, since tasks take turns in a corpus."""
    return [rows[index] for index in sorted(np.random.default_rng(0).permutation(len(rows))[:count])]


def batches(rows: Sequence[Row], *, tokens: int, rng: np.random.Generator) -> list[list[Row]]:
    """Group rows of like length into batches of about `tokens` padded tokens, in random order."""
    groups: list[list[Row]] = []
    longest = 0
    for row in sorted((rows[index] for index in rng.permutation(len(rows))), key=lambda row: len(row.ids) // 8):
        longest = max(longest, len(row.ids))
        if not groups or longest * (len(groups[-1]) + 1) > tokens:
            groups.append([])
            longest = len(row.ids)
        groups[-1].append(row)
    return [groups[index] for index in rng.permutation(len(groups))]


def padded(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """The rows' ids, int64 [rows, longest], and where among their flat states those are that predict the answers.

    The padding stands at the right, where causal attention never looks. A state predicts the token after it.
    """
    ids = pad_sequence([torch.from_numpy(row.ids) for row in rows], batch_first=True)
    places = np.concatenate([row.places - 1 + number * ids.shape[1] for number, row in enumerate(rows)])
    return ids, torch.from_numpy(places)
