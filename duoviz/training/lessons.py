"""Rows of the corpus as a training step takes them; where a GPU computes, other processes prepare them meanwhile."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from duoviz.models.cores import available_cores
from duoviz.training.copying import START_WEIGHTS, matches
from duoviz.training.corpus import Corpus
from duoviz.training.losses import Copied
from duoviz.training.teacher import padded, predicting


class Lesson(NamedTuple):
    """Some rows: ids int64 [rows, longest], and for each answer token the flat place in them of the state that
    predicts it, int64 [n], and what copying proposes for it."""

    rows: list[int]
    ids: Tensor
    places: Tensor
    copied: Copied

    def to(self, device: torch.device) -> "Lesson":
        copied = Copied(*(part.to(device, non_blocking=True) for part in self.copied))
        ids, places = (part.to(device, non_blocking=True) for part in (self.ids, self.places))
        return Lesson(self.rows, ids, places, copied)


class Lessons(Dataset):
    """The lessons of these groups of rows; known: the ids of the draft's head, int64."""

    def __init__(self, corpus: Corpus, known: Tensor, groups: Sequence[list[int]]):
        self.corpus, self.groups = corpus, groups
        self.columns = {token: column for column, token in enumerate(known.tolist())}

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, index: int) -> Lesson:
        rows = self.groups[index]
        texts = [(self.corpus.row(row).tolist(), self.corpus.answered(row).tolist()) for row in rows]
        proposed = [proposal for text in texts for proposal in look_ups(*text, START_WEIGHTS, columns=self.columns)]
        copied = Copied(*(torch.tensor(part) for part in zip(*proposed, strict=True)))
        return Lesson(rows, padded(self.corpus, rows), predicting(self.corpus, rows), copied)


def prepared(lessons: Lessons, device: torch.device) -> Iterator[Lesson]:
    """The lessons in their order, on this device."""
    workers = 0 if device.type == "cpu" else max(1, len(available_cores()) - 1)
    loader = DataLoader(lessons, batch_size=None, num_workers=workers, pin_memory=device.type == "cuda")
    return (lesson.to(device) for lesson in loader)


def look_ups(
    ids: list[int], answered: list[int], weights: Sequence[Sequence[float]], *, columns: dict[int, int]
) -> list[tuple[int, float]]:
    """(column, weight) that copying proposes for each answer token of a row (see `models.copying`).

    answered: where they stand, ascending; columns: of the ids that the draft's head has. (0, 0.0): nothing is found.
    """
    return [
        (columns[match.token], weights[match.kind][match.length - 1]) if match and match.token in columns else (0, 0.0)
        for match in matches(ids, answered, len(weights[0]))
    ]
