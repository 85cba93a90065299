"""How often the draft is right on held-out rows: by position in the draft, and when sampled."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from duoviz.models.checkpoint import read_config
from duoviz.models.copying import Copying
from duoviz.models.llama import load_llama
from duoviz.models.load import target_device
from duoviz.training.corpus import Row
from duoviz.training.fitting import answer_logits
from duoviz.training.student import Student

POSITIONS = 8


@torch.no_grad()
def scores(target_folder: Path, student: Student, folder: Path, rows: Sequence[Row]) -> dict:
    """Agreement on these rows of the float32 student, and of its int8 file in `folder`.

    The int8 draft is also scored as it is used, with the copying of that file: by position, and at temperature 1 by
    Σ min(p, q), which the classical rule accepts. The target decides in float32, as when it decodes.
    """
    target = load_llama(target_folder, precision="float32", label="target", device=target_device())
    draft = load_llama(folder, precision="int8", label="draft")
    copying = Copying(draft, read_config(folder)["copying"])
    exact, alone, used, overlap = ([] for _ in range(4))
    for row in rows:
        theirs, student_logits = answer_logits(target, row), student.logits([row])
        best = theirs.argmax(-1)
        exact.append((best == student.known[student_logits.argmax(-1)].cpu()).numpy())
        for same, model in ((alone, draft), (used, copying)):
            ours, known = answer_logits(model, row), model.known
            assert known is not None, "a draft's head names its ids"
            same.append((best == known[ours.argmax(-1)]).numpy())
        overlap.append(torch.minimum(theirs.softmax(-1)[:, known], ours.softmax(-1)).sum(-1).numpy())
    figures = {
        "top1": share(used),
        "by_position": by_position([same for row, same in zip(rows, used, strict=True) if row.greedy]),
        "classical at temperature 1": share(overlap),
    }
    return {"float32": share(exact), "int8": share(alone), "copying": figures}


def share(rows: Sequence[np.ndarray]) -> float:
    """The mean over all tokens of some rows."""
    return round(float(np.concatenate(rows).mean()), 4)


def by_position(rows: Sequence[np.ndarray]) -> list[float]:
    """Of the drafts whose first i tokens were right, how many had the next one right too; i = 0, 1, …

    A draft begins at each token.
    """
    right, room = [], []
    for same in rows:
        run = 0
        for left, mine in enumerate(same[::-1].tolist(), 1):
            run = (run + 1) * mine
            right.append(run)
            room.append(left)
    runs, lengths = np.array(right), np.array(room)
    tested = [int(((runs >= i) & (lengths > i)).sum()) for i in range(POSITIONS)]
    return [round(int((runs > i).sum()) / max(1, count), 4) for i, count in enumerate(tested)]
