"""What the target says about the corpus: its last hidden states, computed once and kept."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaForCausalLM

from duoviz.training.corpus import Corpus
from duoviz.training.losses import Best

# So many of the target's most probable ids are learnt one by one.
BEST = 64


class Teacher:
    """The target's states that predict the corpus's answer tokens.

    With a folder they are kept there in float16 (hidden size × 2 bytes a token), apart for each of the corpus's
    files, so that a later run, another student or a larger corpus need not compute them; without one they are
    computed anew each time.
    """

    def __init__(self, target: LlamaForCausalLM, corpus: Corpus, dtype: torch.dtype, *, folder: Path | None = None):
        self.target, self.corpus, self.dtype, self.folder = target, corpus, dtype, folder
        counts = [len(corpus.answered(row)) for row in range(len(corpus))]
        self.places = np.concatenate([[0], np.cumsum(counts)]).tolist()
        self.known: dict[int, tuple[Tensor, Tensor]] = {}
        # Views of each row's states, and of the flag that says whether they are there.
        self.kept: list[np.ndarray] = []
        self.done: list[np.ndarray] = []
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for file in np.unique(corpus.file):
                self.open_states(folder, np.flatnonzero(corpus.file == file))

    def open_states(self, folder: Path, rows: np.ndarray) -> None:
        """Keep the states of one file's rows, which stand one after another."""
        digest, places = self.corpus.digest(rows), np.array(self.places[rows[0] : rows[-1] + 2])
        shape = (places[-1] - places[0], self.target.config.hidden_size)
        states = opened(folder / f"states-{digest}.bin", np.float16, shape)
        self.kept += np.split(states, places[1:-1] - places[0])
        self.done += np.split(opened(folder / f"states-{digest}.done", np.uint8, rows.shape), len(rows))

    def of(self, corpus: Corpus) -> "Teacher":
        """The same target for another corpus."""
        return Teacher(self.target, corpus, self.dtype, folder=self.folder)

    @torch.no_grad()
    def hidden(self, rows: list[int]) -> Tensor:
        """float32 [answer tokens of all rows, hidden]: the normalised state that predicts each answer token."""
        if not self.kept:
            return torch.cat(self.computed(rows))
        if missing := [row for row in rows if not self.done[row]]:
            for row, states in zip(missing, self.computed(missing), strict=True):
                self.kept[row][:] = states.half().cpu().numpy()
                self.done[row][:] = 1
        return torch.from_numpy(np.concatenate([self.kept[row] for row in rows])).to(self.target.device).float()

    def computed(self, rows: list[int]) -> list[Tensor]:
        """float32 [answer tokens, hidden] of each row, computed now."""
        device = self.target.device
        with torch.autocast(device.type, self.dtype, enabled=self.dtype != torch.float32):
            ids = padded(self.corpus, rows).to(device)
            states = self.target.model(ids, use_cache=False).last_hidden_state.flatten(0, 1)
        counts = [self.places[row + 1] - self.places[row] for row in rows]
        return list(states[predicting(self.corpus, rows).to(device)].float().split(counts))

    @torch.no_grad()
    def best(self, rows: list[int], known: Tensor) -> Best:
        """The target's BEST most probable of the known ids, always the same ones; what a row gave is remembered."""
        if missing := [row for row in rows if row not in self.known]:
            head = self.target.lm_head.weight[known].to(self.dtype)
            p = F.linear(self.hidden(missing).to(self.dtype), head).softmax(dim=-1, dtype=torch.float32)
            probability, column = p.topk(min(BEST, len(known)), dim=-1)
            counts = [self.places[row + 1] - self.places[row] for row in missing]
            parts = zip(column.to(torch.int32).split(counts), probability.half().split(counts), strict=True)
            self.known |= dict(zip(missing, parts, strict=True))
        column, probability = (torch.cat(parts) for parts in zip(*(self.known[row] for row in rows), strict=True))
        return Best(column.long(), probability.float())

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
    return pad_sequence([torch.from_numpy(corpus.row(row)) for row in rows], batch_first=True)


def predicting(corpus: Corpus, rows: list[int]) -> Tensor:
    """Where the states that predict the rows' answer tokens are, one earlier than the tokens: int64 [answer tokens].

    Of the states of `padded`, one row after another.
    """
    longest = max(corpus.length(row) for row in rows)
    return torch.from_numpy(np.concatenate([corpus.answered(row) - 1 + i * longest for i, row in enumerate(rows)]))
