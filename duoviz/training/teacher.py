"""What the target says about the corpus: its last hidden states, computed once and kept."""

import hashlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from duoviz.training.corpus import Corpus


class Teacher:
    """The target's states that predict the corpus's answer tokens.

    With a folder they are kept there in float16 (hidden size × 2 bytes a token), so that a later
    run, or another student, need not compute them; without one they are computed anew each time.
    """

    def __init__(self, target: nn.Module, corpus: Corpus, dtype: torch.dtype, *, folder: Path | None = None):
        self.target, self.corpus, self.dtype = target, corpus, dtype
        counts = [len(corpus.answered(row)) for row in range(len(corpus))]
        self.places = np.concatenate([[0], np.cumsum(counts)])
        self.kept = self.done = None
        if folder is not None:
            digest = hashlib.sha256(corpus.flat.tobytes() + corpus.answer.tobytes()).hexdigest()[:16]
            folder.mkdir(parents=True, exist_ok=True)
            shape = (int(self.places[-1]), target.config.hidden_size)
            self.kept = opened(folder / f"states-{digest}.bin", np.float16, shape)
            self.done = opened(folder / f"states-{digest}.done", np.uint8, (len(corpus),))

    @torch.no_grad()
    def hidden(self, rows: list[int]) -> Tensor:
        """float32 [answer tokens of all rows, hidden]: the normalised state that predicts each answer token."""
        if self.kept is None:
            return torch.cat(self.computed(rows))
        missing = [row for row in rows if not self.done[row]]
        if missing:
            for row, states in zip(missing, self.computed(missing), strict=True):
                self.kept[self.places[row] : self.places[row + 1]] = states.half().cpu().numpy()
                self.done[row] = 1
        parts = [self.kept[self.places[row] : self.places[row + 1]] for row in rows]
        return torch.from_numpy(np.concatenate(parts)).to(self.target.device).float()

    def computed(self, rows: list[int]) -> list[Tensor]:
        device = self.target.device
        with torch.autocast(device.type, self.dtype, enabled=self.dtype != torch.float32):
            states = self.target.model(padded(self.corpus, rows).to(device)).last_hidden_state
        return [predicting(self.corpus, row, state).float() for row, state in zip(rows, states, strict=True)]

    @torch.no_grad()
    def logits(self, rows: list[int], *, tokens: int) -> Tensor:
        """The target's logits for the first `tokens` ids, [answer tokens of all rows, tokens], in the fast dtype."""
        states, head = self.hidden(rows), self.target.lm_head.weight[:tokens]
        return F.linear(states.to(self.dtype), head.to(self.dtype))

    @torch.no_grad()
    def exact_logits(self, rows: list[int]) -> Tensor:
        """The target's logits for all ids, float32: rounding to bfloat16 would change which is the largest."""
        with torch.autocast(self.target.device.type, enabled=False):
            return F.linear(self.hidden(rows), self.target.lm_head.weight)


def opened(file: Path, dtype: type, shape: tuple[int, ...]) -> np.memmap:
    """The array in a file, made with zeros if there is none of this size."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    mode = "r+" if file.is_file() and file.stat().st_size == size else "w+"
    return np.memmap(file, dtype=dtype, mode=mode, shape=shape)


def padded(corpus: Corpus, rows: list[int]) -> Tensor:
    """int64 [rows, longest]; the padding stands at the right, where causal attention never looks."""
    longest = max(corpus.length(row) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.int64)
    for slot, row in enumerate(rows):
        ids[slot, : corpus.length(row)] = torch.from_numpy(corpus.row(row))
    return ids


def predicting(corpus: Corpus, row: int, states: Tensor) -> Tensor:
    """The states that predict the row's answer tokens: one position earlier than the tokens."""
    return states[torch.from_numpy(corpus.answered(row) - 1).to(states.device)]


def answer_tokens(corpus: Corpus, rows: list[int]) -> Tensor:
    """int64 [answer tokens of all rows]."""
    return torch.from_numpy(np.concatenate([corpus.row(row)[corpus.answered(row)] for row in rows]))
