"""Models with a table for a distribution, and what a method's samples should look like."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import torch
from torch import Tensor

from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from tests.callers_draft import CallersDraft
from tests.tiny import change_pair, run, tiny_engine

VOCABULARY = 12
# After the prompt the target is sure: no method drafts before its first token is there.
PROMPT, FIRST = [4, 3], 2


class TableModel:
    """A language model whose logits are looked up by the last two tokens."""

    label, precision, device, supports_tree, joinable = "table", "float64", "cpu", True, False
    context_limit, vocab_size, known = 64, VOCABULARY, None

    def __init__(self, table: Tensor):
        """table: logits, float64 [vocab, vocab, vocab]."""
        self.table = table
        self.tokens: list[int] = []
        self.parents: list[int] = []

    @property
    def length(self) -> int:
        return len(self.tokens)

    def skip(self, ids) -> int:
        return 0

    def forward(self, ids, *, parents=None, rows=None) -> Tensor:
        start = self.length
        self.tokens += ids
        self.parents += range(start - 1, start - 1 + len(ids)) if parents is None else parents
        before = [self.tokens[parent] if parent >= 0 else 0 for parent in self.parents[start:]]
        logits = self.table[before, list(ids)]
        return logits if rows is None else logits[rows]

    def keep(self, slots, below=()) -> None:
        prefix = list(range(slots[0])) if self.parents[slots[0]] == slots[0] - 1 else self.ancestors(slots[0])
        path = [*prefix, *slots]
        place = {slot: number for number, slot in enumerate([slots[-1], *below], len(path) - 1)}
        self.parents = [*range(-1, len(path) - 1), *(place[self.parents[slot]] for slot in below)]
        self.tokens = [self.tokens[slot] for slot in [*path, *below]]

    def ancestors(self, slot: int) -> list[int]:
        path: list[int] = []
        while (slot := self.parents[slot]) >= 0:
            path.append(slot)
        return path[::-1]

    def crop(self, length: int) -> None:
        del self.tokens[length:], self.parents[length:]


def table(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 1.5 * torch.randn(VOCABULARY, VOCABULARY, VOCABULARY, generator=generator, dtype=torch.float64)


def target_table() -> Tensor:
    logits = table(0)
    logits[*PROMPT], logits[*PROMPT, FIRST] = -100, 100
    return logits


def table_engine() -> Engine:
    """A target and a draft that often disagree."""
    engine = change_pair(tiny_engine(), target=TableModel(target_table()))
    engine.draft_beside = engine.draft_in_turn = CallersDraft(TableModel(0.6 * table(0) + 0.7 * table(1)))
    return engine


def warped(logits: Tensor, *, temperature: float, top_k: int, top_p: float) -> Tensor:
    """The distributions [.., vocab] that transformers draws from."""
    # Not all that use a table need it.
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    made = TemperatureLogitsWarper(temperature)(None, logits)
    made = TopKLogitsWarper(top_k)(None, made) if top_k else made
    return (TopPLogitsWarper(top_p)(None, made) if top_p < 1 else made).softmax(-1)


def exact_distribution(settings: Settings, length: int) -> dict[tuple[int, ...], float]:
    """The probability of all that may follow FIRST."""
    filters = {name: getattr(settings, name) for name in ("temperature", "top_k", "top_p")}
    p = warped(target_table().flatten(0, 1), **filters).view(VOCABULARY, VOCABULARY, VOCABULARY).numpy()
    result = {}
    for path in product(range(VOCABULARY), repeat=length):
        text, probability = [*PROMPT, FIRST], 1.0
        for token in path:
            probability *= p[*text[-2:], token]
            text.append(token)
        result[path] = probability
    return result


def continuations(method: str, runs: Sequence[Settings], length: int) -> Iterator[tuple[int, ...]]:
    """The first `length` tokens after FIRST of runs with these settings."""
    engine = table_engine()
    for settings in runs:
        tokens: list[int] = []
        for iteration in run(engine, method, PROMPT, settings):
            tokens += [committed.token for committed in iteration.committed]
            if len(tokens) > length:
                break
        yield tuple(tokens[1 : 1 + length])


def chi_square(samples: Counter, expected: dict[tuple[int, ...], float]) -> float:
    """The p-value of the samples; cells with fewer than five expected are put together."""
    total = sum(samples.values())
    if any(expected[path] == 0 for path in samples):
        return 0.0
    large = [path for path, probability in expected.items() if probability * total >= 5]
    rest = 1 - sum(expected[path] for path in large)
    cells = [(samples[path], expected[path] * total) for path in large]
    if rest * total >= 5:
        cells.append((total - sum(samples[path] for path in large), rest * total))
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    half = torch.tensor([len(cells) - 1, statistic], dtype=torch.float64) / 2
    return float(torch.special.gammaincc(*half))
