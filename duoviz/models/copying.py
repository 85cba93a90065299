"""A draft that also copies: what followed the same few tokens earlier in the text becomes more likely."""

from collections.abc import Sequence
from math import log

import numpy as np
import torch
from torch import Tensor

from duoviz.models.language_model import LanguageModel, as_array, leading
from duoviz.models.llama import Llama
from duoviz.models.ngrams import Match, NGrams
from duoviz.models.steps import CERTAIN, Copies, Steps, Sureness, new_steps

# The model itself reads only the last READS tokens of a long text. The look-up knows all of it, so a draft of two
# layers guesses nearly as well, and is ready when the target has its second token.
READS = 128


class Copying:
    """A model mixed with a look-up in its own context; meets `LanguageModel`.

    Where the longest end of the text (n tokens) stood earlier, followed by a token c, the distribution q becomes
    (1 − w) · q + w · [c]. Only drafts are mixed so: whatever their distribution, the text stays the target's. A token c
    that the model's head does not know gets a column behind the head's for that forward: `known` names it. weights: w
    by the kind of match (ngrams.KINDS) and n, in [0, 1).
    """

    def __init__(self, model: LanguageModel, weights: Sequence[Sequence[float]]):
        self.model, self.weights = model, weights
        self.label, self.precision, self.device = model.label, model.precision, model.device
        self.context_limit, self.vocab_size = model.context_limit, model.vocab_size
        self.supports_tree, self.joinable, self.known = model.supports_tree, model.joinable, model.known
        # Each known id's column, where the head leaves some out.
        self.columns = {} if model.known is None else {id: column for column, id in enumerate(model.known.tolist())}
        self.chain = NGrams(len(self.weights[0]))
        # So many tokens at the start of the chain only the look-up knows.
        self.skipped = 0
        known = np.arange(self.vocab_size) if model.known is None else model.known.numpy()
        columns = np.full(known.max() + 1, -1)
        columns[known] = np.arange(len(known))
        # See `Copies`.
        self.columns_of = np.array(weights, float), known if model.known is not None else known[:0], columns
        # What grows after the chain: slot by slot, each with its parent's slot.
        self.grown: list[tuple[int, int]] = []
        # Whether `best` works. It is compiled here, where no other thread waits for it.
        self.compiled = isinstance(model, Llama) and model.joinable
        if self.compiled:
            self.best([0])
            self.crop(0)

    @property
    def length(self) -> int:
        return len(self.chain.tokens) + len(self.grown)

    def skip(self, ids: Sequence[int]) -> int:
        if self.length:
            return 0
        self.skipped = max(0, len(ids) - READS)
        self.chain.append(ids[: self.skipped])
        return self.skipped

    def inner(self, slots: Sequence[int]) -> list[int]:
        """The model's slots of those here."""
        return [slot - self.skipped for slot in slots]

    def forward(
        self, ids: Sequence[int], *, parents: Sequence[int] | None = None, rows: Sequence[int] | None = None
    ) -> Tensor:
        start = self.length
        inner = None if parents is None else self.inner(parents)
        logits = self.model.forward(ids, parents=inner, rows=rows)
        self.enter(ids, parents)
        ends = [start + row for row in (range(len(ids)) if rows is None else rows)]
        return self.mix(logits, [self.chain.look_up(self.suffix(slot), end=slot + 1) for slot in ends])

    def enter(self, ids: Sequence[int], parents: Sequence[int] | None) -> None:
        """Note the tokens of a forward."""
        if parents is None and not self.grown:
            self.chain.append(ids)
        else:
            after = range(self.length - 1, self.length - 1 + len(ids)) if parents is None else parents
            self.grown += zip(ids, after, strict=True)

    def best(
        self,
        ids: Sequence[int],
        *,
        parents: Sequence[int] | None = None,
        count: int = 1,
        most: int = 1,
        sureness: Sureness = CERTAIN,
    ) -> Steps:
        """Draft steps without a temperature, where the draft is `compiled`.

        One forward, and the `count` best tokens after each of its rows, after the last where `parents` is None. Then
        the path of a single row goes on with its best token while it is sure, for at most so many steps with this one;
        all but its last token are forwarded.
        """
        assert isinstance(self.model, Llama)
        start, longest, inner = self.length, self.chain.longest, None if parents is None else self.inner(parents)
        self.enter(ids, parents)
        rows = range(len(ids)) if parents else [len(ids) - 1]
        suffixes = [self.suffix(start + row)[-longest:] for row in rows]
        steps = new_steps(suffixes, longest, min(count, self.vocab_size), most)
        text = self.chain.array[: len(self.chain.tokens)]
        self.model.draft(ids, inner, rows, Copies(text, *self.columns_of), sureness, steps)
        if most > 1:
            path, last = steps.path()[0][:-1], self.length - 1
            self.enter(path, range(last, last + len(path)))
        return steps

    def branch(self, slot: int) -> tuple[int, list[int]]:
        """The chain's slot from which the path to a slot grows, -1 for none, and the tokens after it."""
        path: list[int] = []
        while slot >= len(self.chain.tokens):
            token, slot = self.grown[slot - len(self.chain.tokens)]
            path.append(token)
        return slot, path[::-1]

    def suffix(self, slot: int) -> list[int]:
        """The last tokens of the path that ends at a slot, as many as an n-gram can have or more."""
        root, path = self.branch(slot)
        return self.chain.tokens[max(0, root + 1 - self.chain.longest) : root + 1] + path

    def mix(self, logits: Tensor, matches: Sequence[Match | None]) -> Tensor:
        """Logits [rows, columns] whose softmax is the mixture, on the processor, from the model's, which it may change,
        and each row's match; sets `known` to their columns."""
        copied = {row: match for row, match in enumerate(matches) if match and self.weight(match) > 0}
        rows = self.widened(as_array(logits), [match.token for match in copied.values()])
        for row, match in copied.items():
            if (column := self.column(match.token)) is not None:
                values, weight = rows[row], self.weight(match)
                (best,), total = leading(values, 1)
                values[column] = np.logaddexp(values[column], values[best] + total + log(weight / (1 - weight)))
        return torch.from_numpy(rows)

    def weight(self, match: Match) -> float:
        return self.weights[match.kind][match.length - 1]

    def widened(self, logits: np.ndarray, tokens: Sequence[int]) -> np.ndarray:
        """Logits [rows, columns] with one more column, as yet -inf, for each token that the model's head leaves out."""
        known = self.known = self.model.known
        if known is None or not (more := sorted({token for token in tokens if token not in self.columns})):
            return logits
        self.known = torch.cat([known, torch.tensor(more)])
        return np.concatenate([logits, np.full((len(logits), len(more)), -np.inf, logits.dtype)], axis=1)

    def column(self, token: int) -> int | None:
        """Where the logits have a token; None where they have none of it."""
        if self.known is None:
            return token if token < self.vocab_size else None
        head = len(self.columns)
        return self.columns[token] if token in self.columns else head + self.known[head:].tolist().index(token)

    def keep(self, slots: Sequence[int], below: Sequence[int] = ()) -> None:
        self.model.keep(self.inner(slots), self.inner(below))
        start, (root, path) = len(self.chain.tokens), self.branch(slots[-1])
        places = {slot: place for place, slot in enumerate([slots[-1], *below], root + len(path))}
        self.grown = [(token, places[parent]) for token, parent in (self.grown[slot - start] for slot in below)]
        self.chain.crop(root + 1)
        self.chain.append(path)

    def crop(self, length: int) -> None:
        self.skipped = min(self.skipped, length)
        self.model.crop(length - self.skipped)
        del self.grown[max(0, length - len(self.chain.tokens)) :]
        self.chain.crop(length)
