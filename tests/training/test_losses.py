"""The losses are what they say, with and without copying."""

import pytest
import torch
import torch.nn.functional as F

from duoviz.training.losses import LOSSES, Copied, CopyingKL, kl, look_ups, mixed

TOKENS = torch.tensor([1, 6, 0, 3, 9])


@pytest.fixture
def logits():
    torch.manual_seed(0)
    return torch.randn(5, 7, dtype=torch.float64), torch.randn(5, 7, dtype=torch.float64)


def test_kl_is_the_divergence_plus_the_targets_entropy(logits):
    q, p = logits
    divergence = F.kl_div(q.log_softmax(-1), p.log_softmax(-1), log_target=True, reduction="none").sum(-1)
    entropy = -(p.softmax(-1) * p.log_softmax(-1)).sum(-1)
    assert torch.allclose(kl(q, p, TOKENS), divergence + entropy)


def test_reverse_kl_and_total_variation(logits):
    q, p = logits
    divergence = F.kl_div(p.log_softmax(-1), q.log_softmax(-1), log_target=True, reduction="none").sum(-1)
    assert torch.allclose(LOSSES["reverse_kl"](q, p, TOKENS), divergence)
    assert torch.allclose(LOSSES["total_variation"](q, p, TOKENS), (q.softmax(-1) - p.softmax(-1)).abs().sum(-1) / 2)


def test_cross_entropies(logits):
    q, p = logits
    written = LOSSES["cross_entropy"](q, p, TOKENS)
    assert torch.allclose(written[:4], -q.log_softmax(-1)[range(4), TOKENS[:4]])
    assert written[4] == 0  # the head does not know token 9
    best = p.argmax(-1)
    assert torch.allclose(LOSSES["most_probable"](q, p, TOKENS), -q.log_softmax(-1)[range(5), best])


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_smallest_at_the_target(logits, name):
    _, p = logits
    tokens = p.argmax(-1)
    sure = p * 100 if name in ("cross_entropy", "most_probable") else p
    at_target = LOSSES[name](sure, p, tokens).mean()
    for seed in range(5):
        other = sure + torch.randn(p.shape, generator=torch.Generator().manual_seed(seed), dtype=p.dtype)
        assert at_target <= LOSSES[name](other, p, tokens).mean() + 1e-9


def test_mixed_logits_are_the_mixture(logits):
    q, _ = logits
    copied = Copied(torch.tensor([2, 0, 5, 6, 0]), torch.tensor([0.5, 0.0, 0.8, 0.1, 0.0], dtype=torch.float64))
    expected = (1 - copied.weight[:, None]) * q.softmax(-1)
    expected[range(5), copied.token] += copied.weight
    assert torch.allclose(mixed(q, copied).exp(), expected)


def test_the_fast_loss_equals_the_plain_one_and_so_does_its_gradient(logits):
    q, p = (each.float() for each in logits)
    q.requires_grad_()
    copied = Copied(torch.tensor([2, 0, 5, 6, 0]), torch.tensor([0.5, 0.0, 0.8, 0.1, 0.0]))
    fast, plain = CopyingKL.apply(q, p, copied), kl(mixed(q, copied), p, TOKENS)
    assert torch.allclose(fast, plain, atol=1e-5)
    above = torch.randn(5, generator=torch.Generator().manual_seed(1))
    gradients = [torch.autograd.grad(each, q, above)[0] for each in (fast, plain)]
    assert torch.allclose(*gradients, atol=1e-6)


def test_look_ups_are_those_of_the_text_before_each_answer_token():
    ids = [5, 6, 7, 5, 6, 7, 5, 9]
    tokens, weights = look_ups(ids, [3, 5, 6, 7], [0.1, 0.2, 0.3], known=8)
    # Before place 3 nothing repeats; then 5 6 → 7, 5 6 7 → 5, 7 5 → 6 (the longest known end).
    assert tokens == [0, 7, 5, 6] and weights == [0.0, 0.2, 0.3, 0.3]
    assert look_ups(ids, [5], [0.1, 0.2, 0.3], known=6) == ([0], [0.0])
