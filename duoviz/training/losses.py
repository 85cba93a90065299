"""What the draft is trained to make small; every loss is a mean over the answer's tokens."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from duoviz.models.copying import NGrams
from duoviz.training.copying import START_WEIGHTS
from duoviz.training.corpus import Corpus


class Copied(NamedTuple):
    """What a look-up in the text proposes for each answer token: token int64 [n], weight float32 [n] (0 for none)."""

    token: Tensor
    weight: Tensor


def kl(logits: Tensor, target: Tensor, tokens: Tensor) -> Tensor:
    """Cross-entropy to the target's whole distribution: KL(target ‖ draft) plus a constant."""
    p = target.softmax(dim=-1)
    return logits.logsumexp(dim=-1) - (p * logits).sum(dim=-1)


def cross_entropy(logits: Tensor, target: Tensor, tokens: Tensor) -> Tensor:
    """Cross-entropy on the tokens that the target wrote; one that the draft's head does not know counts 0."""
    return F.cross_entropy(logits, tokens.where(tokens < logits.shape[-1], -100), reduction="none")


def most_probable(logits: Tensor, target: Tensor, tokens: Tensor) -> Tensor:
    """Cross-entropy on the target's most probable token."""
    return F.cross_entropy(logits, target.argmax(dim=-1), reduction="none")


def reverse_kl(logits: Tensor, target: Tensor, tokens: Tensor) -> Tensor:
    """KL(draft ‖ target)."""
    log_q, log_p = logits.log_softmax(dim=-1), target.log_softmax(dim=-1)
    return (log_q.exp() * (log_q - log_p)).sum(dim=-1)


def total_variation(logits: Tensor, target: Tensor, tokens: Tensor) -> Tensor:
    """1 − Σ min(p, q): how often the classical rule rejects at temperature 1."""
    return 1 - torch.minimum(logits.softmax(dim=-1), target.softmax(dim=-1)).sum(dim=-1)


# Each takes the draft's and the target's logits, float32 [tokens, ids], and the tokens written, int64 [tokens].
LOSSES = {
    "kl": kl,
    "cross_entropy": cross_entropy,
    "most_probable": most_probable,
    "reverse_kl": reverse_kl,
    "total_variation": total_variation,
}


class CopyingKL(torch.autograd.Function):
    """`kl` of the draft that also copies, with its gradient made in the forward pass.

    The same as `kl(mixed(logits, copied), …)`; the vocabulary is passed over five times instead of
    twenty, which is what a training step's time goes into.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, target: Tensor, copied: Copied) -> Tensor:
        scores, p = logits.float(), target.float().softmax(dim=-1)
        expected = torch.bmm(p[:, None], scores[:, :, None])[:, 0, 0]
        q = scores.softmax(dim=-1)
        rows, (token, weight) = torch.arange(len(q), device=q.device), copied
        q_token, p_token = q[rows, token], p[rows, token]
        both = (1 - weight) * q_token + weight
        # log q(x) = logit(x) − log Σ exp(logits), read off at one token.
        plain = scores[rows, token] - q_token.clamp(min=1e-30).log() - expected
        gained = (both / q_token.clamp(min=1e-30)).log() - torch.log1p(-weight)
        from_copying = p_token * weight / both.clamp(min=1e-30)
        gradient = q.mul_((1 - from_copying)[:, None]).sub_(p)
        gradient[rows, token] += from_copying
        ctx.save_for_backward(gradient.to(logits.dtype))
        return plain - torch.log1p(-weight) - p_token * gained

    @staticmethod
    def backward(ctx, above: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * above[:, None].to(gradient.dtype), None, None


def mixed(logits: Tensor, copied: Copied) -> Tensor:
    """Logits (log-probabilities) of the draft that also copies: (1 − w) · q + w · [token]."""
    rows = torch.nonzero(copied.weight > 0)[:, 0]
    log_q = logits.log_softmax(dim=-1)
    weight, token = copied.weight[rows], copied.token[rows]
    kept = log_q[rows, token] + torch.log1p(-weight)
    scale = torch.zeros_like(copied.weight).index_put((rows,), torch.log1p(-weight))
    return (log_q + scale[:, None]).index_put((rows, token), torch.logaddexp(kept, weight.log()))


def look_ups(ids: list[int], answered: list[int], weights: list[float], *, known: int) -> tuple[list[int], list[float]]:
    """(tokens, weights) that copying proposes for the answer tokens of a row (see `models.copying`).

    answered: where they stand; known: how many ids the draft's head has. Token 0 and weight 0 where
    nothing is found.
    """
    grams, wanted = NGrams(len(weights)), set(answered)
    tokens, shares = [], []
    for place, token in enumerate(ids):
        if place in wanted:
            match = grams.look_up(grams.tokens[-len(weights) :], end=len(grams.tokens))
            usable = match is not None and match[1] < known
            tokens.append(match[1] if usable else 0)
            shares.append(weights[match[0] - 1] if usable else 0.0)
        grams.append([token])
    return tokens, shares


class LookUps:
    """What copying proposes for the answer tokens of a corpus's rows; each row is looked through once."""

    def __init__(self, corpus: Corpus, *, known: int, device: torch.device):
        self.corpus, self.known, self.device = corpus, known, device
        self.found: dict[int, tuple[list[int], list[float]]] = {}

    def __call__(self, rows: list[int]) -> Copied:
        for row in rows:
            if row not in self.found:
                ids, answered = self.corpus.row(row).tolist(), self.corpus.answered(row).tolist()
                self.found[row] = look_ups(ids, answered, START_WEIGHTS, known=self.known)
        tokens = [token for row in rows for token in self.found[row][0]]
        weights = [weight for row in rows for weight in self.found[row][1]]
        return Copied(torch.tensor(tokens, device=self.device), torch.tensor(weights, device=self.device))
