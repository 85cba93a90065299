"""What "the same text" means in float32: equal, or different only at a numerical tie."""

import torch
from torch import Tensor

from duoviz.decoding.rounding import delta_of, readings
from duoviz.decoding.sampling import Sampling, filtered, noise, nucleus_floor, tempered
from duoviz.models.llama import Llama

GREEDY = Sampling()


def rounding_delta(model: Llama, ids: list[int]) -> float:
    """δ of a model on the cores in force (see `duoviz.decoding.rounding`)."""
    return delta_of(readings(model, ids), model.precision)


def margins(logits: Tensor, tokens: list[int], first_position: int, sampling: Sampling, delta: float) -> Tensor:
    """How far, in logits, each token is from the one that is drawn, [rows]; infinite for one that cannot be.

    A token at the edge of top-k or top-p counts as one that can be drawn, and not as a better one.
    """
    rows = range(len(tokens))
    if sampling.temperature == 0:
        return logits.amax(dim=-1) - logits[rows, tokens]
    p = tempered(logits, sampling.temperature)
    slack = 2 * delta / sampling.temperature
    size = p.shape[-1]
    waits = torch.stack([noise(sampling.seed, first_position + row, size) for row in rows])
    score = sampling.temperature * (p / waits).log()
    can = p >= edge(p, sampling, slack)
    certain = p >= edge(p, sampling, -slack)
    best = score.masked_fill(~certain, -torch.inf).amax(dim=-1)
    return torch.where(can[rows, tokens], (best - score[rows, tokens]).clamp(min=0.0), torch.inf)


def edge(p: Tensor, sampling: Sampling, slack: float) -> Tensor:
    """The smallest probability that top-k and top-p keep, with slack towards keeping more, [rows, 1]."""
    floor = torch.zeros(p.shape[0], 1, dtype=p.dtype)
    if sampling.top_k:
        floor = p.topk(min(sampling.top_k, p.shape[-1]), dim=-1).values[:, -1:]
    if sampling.top_p < 1:
        mass = min(1.0, sampling.top_p * (1 + slack))
        left = filtered(p, top_k=sampling.top_k, top_p=1.0)
        kept = left >= nucleus_floor(left, mass)
        floor = p.masked_fill(~kept, torch.inf).amin(dim=-1, keepdim=True).maximum(floor)
    return floor * (1 - slack)


def ties_or_defect(
    reference: Llama, prompt: list[int], tokens: list[int], delta: float, sampling: Sampling
) -> int | None:
    """Over one text, in a float64 teacher-forced pass: how many tokens are not the one drawn but
    within δ of it; None where one is farther off."""
    reference.crop(0)
    rows = list(range(len(prompt) - 1, len(prompt) + len(tokens) - 1))
    logits = reference.forward(prompt + tokens[:-1], rows=rows)
    reference.crop(0)
    found = margins(logits, tokens, len(prompt), sampling, delta)
    if bool((found > delta).any()):
        return None
    return int((found > 0).sum())


def judge(
    reference: Llama, prompt: list[int], first: list[int], second: list[int], delta: float, sampling: Sampling = GREEDY
) -> str:
    """`equal`, `tie` or `defect` for two texts from one prompt."""
    if first == second:
        return "equal"
    counts = [ties_or_defect(reference, prompt, tokens, delta, sampling) for tokens in (first, second)]
    return "defect" if None in counts else "tie"
