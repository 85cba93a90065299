"""What the draft is trained to make small: how far it is from the target, copying included."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

# Of the loss, on a processor: their probabilities stay in its cache.
TOKENS_AT_ONCE = 256
SMALLEST = 1e-8


class Copied(NamedTuple):
    """What a look-up in the text proposes for each answer token: its column in the draft's logits, int64 [n], and
    weight float32 [n] (0 for none)."""

    column: Tensor
    weight: Tensor


class Best(NamedTuple):
    """The most probable of the draft's ids for each token, by the target: their columns in the draft's logits,
    int64 [n, k], and their probabilities, float32 [n, k]."""

    column: Tensor
    probability: Tensor


class CopyingKL(torch.autograd.Function):
    """Mean of KL(target ‖ draft) plus a constant, of the draft that also copies, from its hidden states.

    The target's ids beyond its best count as one: what it gives to them together. The gradient is
    made in the forward pass, some tokens at a time, so that no float32 [tokens, ids] is ever held.
    """

    @staticmethod
    def forward(ctx, hidden: Tensor, head: Tensor, best: Best, copied: Copied) -> Tensor:
        """hidden: [n, width] in the fast dtype; head: float32 [ids, width]."""
        weight, losses = head.to(hidden.dtype), []
        gradient = hidden.new_empty(len(hidden), len(head))
        at_once = TOKENS_AT_ONCE if hidden.device.type == "cpu" else len(hidden)
        for start in range(0, len(hidden), at_once):
            part = slice(start, start + at_once)
            q = F.linear(hidden[part], weight).softmax(dim=-1, dtype=torch.float32)
            columns, p = best.column[part], best.probability[part]
            q_best = q.gather(-1, columns)
            # How much copying adds to each of the best ids, and to the rest.
            added = copied.weight[part, None]
            here = added * (columns == copied.column[part, None])
            loss, of_best, of_rest = grouped_kl(q_best, p, here, added - here.sum(dim=-1, keepdim=True))
            gradient[part] = q.mul_(of_rest).scatter_(-1, columns, q_best * of_best)
            losses.append(loss)
        gradient /= len(hidden)
        ctx.save_for_backward(gradient @ weight, (gradient.T @ hidden).to(head.dtype))
        return torch.cat(losses).mean()

    @staticmethod
    def backward(ctx, above: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_hidden, of_head = ctx.saved_tensors
        return of_hidden * above, of_head * above, None, None


def grouped_kl(q: Tensor, p: Tensor, here: Tensor, elsewhere: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The loss [n], and what a logit's gradient is a multiple of q by: for the best ids [n, k], for the rest [n, 1].

    With D = (1 − w) · Q + w · [copied] of each group of ids, the loss is −Σ P log D. Its derivative
    by Q is −r, r = (1 − w) · P / D; through the softmax a logit of group g gets q · (Σ r Q − r_g).
    """
    kept = 1 - here.sum(dim=-1, keepdim=True) - elsewhere
    groups = torch.cat([q, (1 - q.sum(dim=-1, keepdim=True)).clamp(min=SMALLEST)], dim=-1)
    wanted = torch.cat([p, (1 - p.sum(dim=-1, keepdim=True)).clamp(min=0)], dim=-1)
    drafted = (kept * groups + torch.cat([here, elsewhere], dim=-1)).clamp(min=SMALLEST)
    pull = kept * wanted / drafted
    push = (pull * groups).sum(dim=-1, keepdim=True) - pull
    return -(wanted * drafted.log()).sum(dim=-1), push[:, :-1], push[:, -1:]


def mixed(logits: Tensor, copied: Copied) -> Tensor:
    """Logits (log-probabilities) of the draft that also copies: (1 − w) · q + w · [token]."""
    rows = torch.nonzero(copied.weight > 0)[:, 0]
    log_q = logits.log_softmax(dim=-1)
    weight, column = copied.weight[rows], copied.column[rows]
    kept = log_q[rows, column] + torch.log1p(-weight)
    scale = torch.zeros_like(copied.weight).index_put((rows,), torch.log1p(-weight))
    return (log_q + scale[:, None]).index_put((rows, column), torch.logaddexp(kept, weight.log()))
