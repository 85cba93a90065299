"""The loss is what it says, and what copying adds to it."""

import torch
import torch.nn.functional as F

from duoviz.training import losses
from duoviz.training.losses import Best, Copied, CopyingKL, mixed


def test_mixed_logits_are_the_mixture():
    torch.manual_seed(0)
    q = torch.randn(5, 7, dtype=torch.float64)
    copied = Copied(torch.tensor([2, 0, 5, 6, 0]), torch.tensor([0.5, 0.0, 0.8, 0.1, 0.0], dtype=torch.float64))
    expected = (1 - copied.weight[:, None]) * q.softmax(-1)
    expected[range(5), copied.column] += copied.weight
    assert torch.allclose(mixed(q, copied).exp(), expected)


def test_the_loss_is_that_of_the_mixture_with_the_rest_as_one_and_so_is_its_gradient(monkeypatch):
    monkeypatch.setattr(losses, "TOKENS_AT_ONCE", 4)
    torch.manual_seed(0)
    hidden, head = torch.randn(9, 8, requires_grad=True), torch.randn(30, 8, requires_grad=True)
    share, token = torch.randn(9, 30).softmax(-1).topk(5)
    # Nothing is copied, then one of the best ids is, then others.
    copied = Copied(token[:, 1].clone(), torch.tensor([0.0, 0.5, 0.9, 0.3, 0.2, 0.6, 0.1, 0.4, 0.7]))
    others = torch.zeros(4, 30).scatter(-1, token[5:], 1).argmin(-1)
    copied.column[5:] = others
    q = mixed(F.linear(hidden, head), copied).exp().gather(-1, token)
    plain = -((share * q.log()).sum(-1) + (1 - share.sum(-1)) * (1 - q.sum(-1)).log()).mean()
    fast = CopyingKL.apply(hidden, head, Best(token, share), copied)
    assert torch.allclose(fast, plain, atol=1e-5)
    gradients = [torch.autograd.grad(3 * each, (hidden, head)) for each in (fast, plain)]
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)
