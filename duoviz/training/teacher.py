"""What the target says about the corpus, and what a draft that copies has without learning."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM

from duoviz.training.corpus import Row, padded
from duoviz.training.fitting import assumed

# So many of the target's most probable ids are learnt one by one.
BEST = 64


class Lesson(NamedTuple):
    """Of each of n answer tokens the target's k most probable ids among those that the draft knows, and what copying
    proposes.

    column: in the draft's logits, int64 [n, k]; probability: float32 [n, k]. copied: a column, int64 [n]; weight: its
    weight in the mixture, float32 [n], 0 for none.
    """

    column: Tensor
    probability: Tensor
    copied: Tensor
    weight: Tensor


class Teacher:
    """The target, and the lessons that one student was given; dtype: of its products."""

    def __init__(self, target: LlamaForCausalLM, dtype: torch.dtype):
        self.target, self.dtype = target, dtype
        self.lessons: dict[Row, Lesson] = {}

    @torch.no_grad()
    def hidden(self, rows: Sequence[Row]) -> Tensor:
        """float32 [answer tokens of all rows, hidden]: the normalised state that predicts each answer token."""
        device = self.target.device
        ids, places = padded(rows)
        with torch.autocast(device.type, self.dtype, enabled=self.dtype != torch.float32):
            states = self.target.model(ids.to(device), use_cache=False).last_hidden_state.flatten(0, 1)
        return states[places.to(device)].float()

    @torch.no_grad()
    def lesson(self, rows: Sequence[Row], known: Tensor) -> Lesson:
        """The rows' lesson; known: the ids of the student's head."""
        if missing := [row for row in rows if row not in self.lessons]:
            head = self.target.lm_head.weight[known].to(self.dtype)
            p = F.linear(self.hidden(missing).to(self.dtype), head).softmax(dim=-1, dtype=torch.float32)
            probability, column = p.topk(min(BEST, len(known)), dim=-1)
            # Half of the bytes: a row's lesson is kept for the next epoch.
            made = Lesson(column.int(), probability.half(), *(part.to(p.device) for part in assumed(missing, known)))
            parts = zip(*(part.split([len(row.places) for row in missing]) for part in made), strict=True)
            self.lessons |= zip(missing, map(Lesson._make, parts), strict=True)
        column, probability, copied, weight = map(torch.cat, zip(*(self.lessons[row] for row in rows), strict=True))
        return Lesson(column.long(), probability.float(), copied, weight)

    @torch.no_grad()
    def greedy(self, rows: Sequence[Row]) -> Tensor:
        """The target's most probable id for each answer token, int64, by float32 products."""
        return F.linear(self.hidden(rows), self.target.lm_head.weight).argmax(dim=-1)
