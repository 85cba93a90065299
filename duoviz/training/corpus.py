"""The self-chat corpus: rows of token ids that the target wrote to itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from duoviz.errors import UserError
from duoviz.outside import DAMAGED_ZIP

ARRAYS = ("flat", "length", "answer", "greedy")
# So many rows at the end of each file are for testing.
HELD_OUT = 128


@dataclass(frozen=True, eq=False)
class Row:
    """A text: ids int64 [length]; places: where in it the answer's tokens stand, int64, ascending.

    greedy: whether the answer's tokens are the target's most probable ones. held_out: never trained on.
    """

    ids: np.ndarray
    greedy: bool
    places: np.ndarray
    held_out: bool = False

    @property
    def answer(self) -> bytes:
        return self.ids[self.places].tobytes()


def load_corpus(files: Sequence[Path]) -> list[Row]:
    """The rows of corpus files; held out are the last HELD_OUT of each, and others with the same answers.

    Raises UserError for a file that is no corpus.
    """
    rows: list[Row] = []
    for file in files:
        read = read_rows(file)
        rows += [replace(row, held_out=number >= len(read) - HELD_OUT) for number, row in enumerate(read)]
    tested = {row.answer for row in rows if row.held_out}
    return [replace(row, held_out=row.answer in tested) for row in rows]


def read_rows(file: Path) -> list[Row]:
    """The rows of one file. Raises UserError."""
    try:
        with np.load(file) as arrays:
            flat, length, answer, greedy = (arrays[name] for name in ARRAYS)
        texts, answers = (np.split(array, np.cumsum(length))[:-1] for array in (flat.astype(np.int64), answer))
        return [Row(*row) for row in zip(texts, greedy.tolist(), map(np.flatnonzero, answers), strict=True)]
    except (*DAMAGED_ZIP, KeyError, TypeError) as error:
        raise UserError(f"{file} is no corpus: it needs the arrays {', '.join(ARRAYS)}.") from error


def most_frequent(rows: Sequence[Row], count: int) -> Tensor:
    """The `count` ids that the rows have most of, ascending, int64; of equals the lowest."""
    often = np.bincount(np.concatenate([row.ids for row in rows]), minlength=count)
    return torch.from_numpy(np.sort(np.argsort(-often, kind="stable")[:count]))


def padded(texts: Sequence[np.ndarray]) -> dict[str, Tensor]:
    """The texts' ids, int64 [texts, longest], and the flat places of those states that predict a token of them.

    The padding stands at the right, where causal attention never looks. A state predicts the token after it.
    """
    ids = pad_sequence([torch.from_numpy(text) for text in texts], batch_first=True)
    states = [np.arange(len(text) - 1) + number * ids.shape[1] for number, text in enumerate(texts)]
    return {"ids": ids, "states": torch.from_numpy(np.concatenate(states))}
