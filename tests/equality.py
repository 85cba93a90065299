"""What "the same text" means in float32: equal, or different only at a numerical tie."""

import torch

from duoviz.models.llama import Llama

LARGEST_DELTA = 1e-3


def rounding_delta(model: Llama, ids: list[int]) -> float:
    """δ: four times the largest logit difference between one-row and n-row forwards, at most 1e-3."""
    largest = 0.0
    for rows in (2, 4, 8, 16):
        text = ids[: 32 + rows]
        model.crop(0)
        model.forward(text[:-rows])
        together = model.forward(text[-rows:])
        model.crop(len(text) - rows)
        one_by_one = torch.cat([model.forward([token]) for token in text[-rows:]])
        largest = max(largest, float((together - one_by_one).abs().max()))
    model.crop(0)
    return min(4 * largest, LARGEST_DELTA)


def ties_or_defect(reference: Llama, prompt: list[int], tokens: list[int], delta: float) -> int | None:
    """Over one text, in a float64 teacher-forced pass: how many tokens are not the best one but within
    δ of it; None where one is worse than that."""
    reference.crop(0)
    rows = list(range(len(prompt) - 1, len(prompt) + len(tokens) - 1))
    logits = reference.forward(prompt + tokens[:-1], rows=rows)
    reference.crop(0)
    margins = logits.amax(dim=-1) - logits[range(len(tokens)), tokens]
    if bool((margins > delta).any()):
        return None
    return int((margins > 0).sum())


def judge(reference: Llama, prompt: list[int], first: list[int], second: list[int], delta: float) -> str:
    """`equal`, `tie` or `defect` for two texts from one prompt."""
    if first == second:
        return "equal"
    counts = [ties_or_defect(reference, prompt, tokens, delta) for tokens in (first, second)]
    return "defect" if None in counts else "tie"
