"""What the target says about the corpus: computed once and kept."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM

from duoviz.training.corpus import Row, digest, padded

# So many of the target's most probable ids are learnt one by one.
BEST = 64


class Best(NamedTuple):
    """The target's most probable ids of those that the draft knows, for each token.

    column: in the draft's logits, int64 [n, k]; probability: float32 [n, k].
    """

    column: Tensor
    probability: Tensor


class Teacher:
    """The target's states that predict the answers of a corpus's rows.

    dtype: of its products. folder: where the states of the rows given to `keep` stay, so that a later run or another
    student need not compute them again (float16, hidden size × 2 bytes a token).
    """

    def __init__(self, target: LlamaForCausalLM, dtype: torch.dtype, *, folder: Path | None = None):
        self.target, self.dtype, self.folder = target, dtype, folder
        self.kept: dict[Row, np.ndarray] = {}
        self.known: dict[Row, tuple[Tensor, Tensor]] = {}

    def keep(self, rows: Sequence[Row]) -> None:
        """Read and write these rows' states in the folder, one file for each corpus file."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for _, group in groupby(rows, key=lambda row: row.file):
            mine = list(group)
            ends = np.cumsum([len(row.places) for row in mine])
            shape = (int(ends[-1]), self.target.config.hidden_size)
            states = opened(self.folder / f"states-{digest(mine)}.bin", shape)
            self.kept |= zip(mine, np.split(states, ends[:-1]), strict=True)

    @torch.no_grad()
    def hidden(self, rows: Sequence[Row]) -> Tensor:
        """float32 [answer tokens of all rows, hidden]: the normalised state that predicts each answer token."""
        if not all(row in self.kept for row in rows):
            return torch.cat(self.computed(rows))
        # A state is never all zeros.
        if missing := [row for row in rows if not self.kept[row][-1].any()]:
            for row, states in zip(missing, self.computed(missing), strict=True):
                self.kept[row][:] = states.half().cpu().numpy()
        return torch.from_numpy(np.concatenate([self.kept[row] for row in rows])).to(self.target.device).float()

    def computed(self, rows: Sequence[Row]) -> list[Tensor]:
        """float32 [answer tokens, hidden] of each row, computed now."""
        device = self.target.device
        ids, places = padded(rows)
        with torch.autocast(device.type, self.dtype, enabled=self.dtype != torch.float32):
            states = self.target.model(ids.to(device), use_cache=False).last_hidden_state.flatten(0, 1)
        return list(states[places.to(device)].float().split([len(row.places) for row in rows]))

    @torch.no_grad()
    def best(self, rows: Sequence[Row], known: Tensor) -> Best:
        """The target's BEST most probable of the known ids, always the same ones; a row's are remembered."""
        if missing := [row for row in rows if row not in self.known]:
            head = self.target.lm_head.weight[known].to(self.dtype)
            p = F.linear(self.hidden(missing).to(self.dtype), head).softmax(dim=-1, dtype=torch.float32)
            probability, column = p.topk(min(BEST, len(known)), dim=-1)
            counts = [len(row.places) for row in missing]
            parts = zip(column.to(torch.int32).split(counts), probability.half().split(counts), strict=True)
            self.known |= zip(missing, parts, strict=True)
        column, probability = (torch.cat(parts) for parts in zip(*(self.known[row] for row in rows), strict=True))
        return Best(column.long(), probability.float())

    @torch.no_grad()
    def greedy(self, rows: Sequence[Row]) -> Tensor:
        """The target's most probable id for each answer token, int64, by float32 products."""
        return F.linear(self.hidden(rows), self.target.lm_head.weight).argmax(dim=-1)


def opened(file: Path, shape: tuple[int, int]) -> np.memmap:
    """The float16 array in a file, made with zeros if there is none of this size."""
    there = file.is_file() and file.stat().st_size == 2 * shape[0] * shape[1]
    return np.memmap(file, dtype=np.float16, mode="r+" if there else "w+", shape=shape)
