"""The columns of a draft's logits, where its head knows only some of the vocabulary's ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


def as_array(logits: Tensor) -> np.ndarray:
    """Logits of any precision and device, for numpy, which is much faster than torch with one row."""
    logits = logits.cpu()
    return (logits.float() if logits.element_size() == 2 else logits).numpy()


def ids_of(columns: Tensor | np.ndarray, known: Tensor | None) -> list:
    """The ids of columns, int64 of any shape, as lists of that shape; known: see `LanguageModel`."""
    return (columns if known is None else known[columns]).tolist()


def column_of(known: Tensor | None) -> dict[int, int] | None:
    """Each known id's column; None where every id is its own."""
    return None if known is None else {id: column for column, id in enumerate(known.tolist())}


def over_vocabulary(row: Tensor, known: Tensor | None) -> Tensor:
    """A distribution over columns, float [columns], as one over ids, [ids]: 0 for what is no column."""
    if known is None:
        return row
    return row.new_zeros(int(known.max()) + 1).index_copy(0, known, row)
