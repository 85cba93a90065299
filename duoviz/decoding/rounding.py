"""How far rounding moves a logit: the same text computed in forwards of different row counts."""

from collections.abc import Iterable

import torch
from torch import Tensor

from duoviz.models.language_model import LanguageModel

LARGEST_DELTA = 1e-3
# Of LENGTH tokens the last AGAIN are computed again, in forwards of each row count.
LENGTH, AGAIN = 48, 16
ROW_COUNTS = (1, 2, 4, 8, 16)


def readings(model: LanguageModel, ids: list[int]) -> Iterable[Tensor]:
    """The logits [16, vocab] after a text's last tokens, for each row count; fewer rows in a short context.

    ids: any text; it is repeated or cut to the length needed.
    """
    length = min(LENGTH, model.context_limit)
    text, begin = (ids * (length // len(ids) + 1))[:length], length - min(AGAIN, length // 2)
    model.crop(0)
    model.forward(text[:begin], rows=[0])
    for rows in ROW_COUNTS:
        model.crop(begin)
        starts = range(begin, length, rows)
        yield torch.cat([model.forward(text[start : start + rows]) for start in starts]).cpu()
    model.crop(0)


def delta_of(logits: Iterable[Tensor], precision: str) -> float:
    """δ: four times the largest difference between two readings of the same logits.

    In float32 at most 1e-3, beyond which a difference is no rounding; in 16 bits without a limit.
    """
    stacked = torch.stack(list(logits))
    largest = 4 * float((stacked.amax(dim=0) - stacked.amin(dim=0)).max())
    return largest if precision.endswith("16") else min(largest, LARGEST_DELTA)
