"""The seeded draw: what it depends on, and what it comes to."""

from collections import Counter

import pytest
import torch

from duoviz.decoding.rounding import LARGEST_DELTA
from duoviz.decoding.sampling import RejectionNoise, Sampling, TargetRow, filtered, noise, scores, tempered
from duoviz.decoding.settings import MIN_TEMPERATURE
from tests.tables import chi_square, warped


def draw(logits, position, sampling):
    return TargetRow(logits.numpy(), position, sampling).drawn


LOGITS = 2 * torch.randn(3, 300, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("temperature, top_k, top_p", [(0.7, 0, 1.0), (1.3, 20, 1.0), (1.0, 0, 0.8), (0.7, 40, 0.9)])
def test_distribution_is_the_one_transformers_draws_from(temperature, top_k, top_p):
    expected = warped(LOGITS, temperature=temperature, top_k=top_k, top_p=top_p)
    ours = filtered(tempered(LOGITS, temperature), top_k=top_k, top_p=top_p)
    assert torch.allclose(ours, expected, rtol=0, atol=1e-12)


def test_a_flat_distribution_needs_more_than_the_first_few_tokens():
    flat = torch.full((1, 6000), 1 / 6000, dtype=torch.float64)
    tilted = flat * torch.linspace(1.001, 0.999, 6000, dtype=torch.float64)
    kept = filtered(tilted / tilted.sum(), top_k=0, top_p=0.9)
    assert 5390 <= int((kept > 0).sum()) <= 5410
    exact = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    assert filtered(exact, top_k=0, top_p=0.5).tolist() == [[1.0, 0.0, 0.0]]


def test_noise_depends_on_seed_position_and_stream_alone():
    assert torch.equal(noise(1, 2, 50), noise(1, 2, 800)[:50])
    others = [noise(2, 2, 50), noise(1, 3, 50), noise(1, 2, 50, stream=1)]
    assert all(not torch.equal(noise(1, 2, 50), other) for other in others)
    # What accepts a token has nothing to do with what drew it.
    drawn = [float(noise(seed, 2, 1)[0].neg().exp()) < 0.5 for seed in range(50)]
    assert [RejectionNoise(seed).accepts(0.5, 2, 0) for seed in range(50)] != drawn


def test_the_best_scores_are_draws_without_replacement():
    q = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
    pairs = Counter()
    for seed in range(10_000):
        pairs[tuple(scores(q, [4], Sampling(1.0, seed=seed))[0].topk(2).indices.tolist())] += 1
    expected = {(a, b): float(q[0, a] * q[0, b] / (1 - q[0, a])) for a in range(3) for b in range(3) if a != b}
    assert chi_square(pairs, expected) > 0.001


def test_the_gap_is_how_much_more_logit_the_next_best_needed():
    sampling = Sampling(temperature=0.8, top_k=40, seed=5)
    drawn = draw(LOGITS[0], 3, sampling)
    order = scores(filtered(tempered(LOGITS[:1], 0.8), top_k=40, top_p=1.0), [3], sampling)[0].topk(2).indices
    for change, token in ((-1e-6, order[0]), (1e-6, order[1])):
        logits = LOGITS[0].clone()
        logits[order[1]] += drawn.margin + change
        assert draw(logits, 3, sampling).token == int(token)


@pytest.mark.parametrize("temperature", [0.1, 0.8, 3.0])
def test_what_cannot_win_is_not_weighed_and_the_draw_is_the_same(temperature):
    for position in range(60):
        logits = 3 * torch.randn(3000, generator=torch.Generator().manual_seed(position))
        drawn = draw(logits, position, Sampling(temperature, seed=4))
        (best, second), (token, _) = scores(
            tempered(logits[None], temperature), [position], Sampling(temperature, seed=4)
        )[0].topk(2)
        assert drawn.token == token and drawn.margin == pytest.approx(
            temperature * float((best / second).log()), abs=1e-9
        )


def test_the_next_best_is_weighed_where_its_noise_is_the_smallest():
    sampling = Sampling(temperature=0.8, seed=4)
    for position in range(60):
        # Of two that stand out the lower one has the smallest noise, so that nothing lower than itself could win.
        smallest = int(noise(4, position, 30).argmin())
        logits = torch.full((30,), -40.0, dtype=torch.float64)
        logits[smallest], logits[(smallest + 1) % 30] = 1 + 0.137 * position, 60 + 0.137 * position
        drawn = draw(logits, position, sampling)
        assert drawn.token == (smallest + 1) % 30 and drawn.margin > 0


def test_down_to_the_lowest_temperature_a_tie_of_rounding_shows_and_all_stays_finite():
    logits = LOGITS[0].clone()
    best, second = logits.topk(2).indices
    logits[second] = logits[best] - LARGEST_DELTA
    drawn = draw(logits, 3, Sampling(temperature=MIN_TEMPERATURE, seed=5))
    # The noise moves it by some temperatures.
    assert drawn.token == int(best) and drawn.margin == pytest.approx(LARGEST_DELTA, rel=0.1)
    assert draw(logits, 3, Sampling(temperature=MIN_TEMPERATURE / 10, seed=5)).margin == pytest.approx(
        LARGEST_DELTA, rel=0.1
    )
    for kind in (torch.float32, torch.float64):
        p = tempered(1e4 * LOGITS.to(kind), MIN_TEMPERATURE)
        assert torch.equal(p.sum(dim=-1), torch.ones(3, dtype=p.dtype))


def test_where_only_one_token_can_be_drawn_there_is_no_gap():
    drawn = draw(LOGITS[0], 3, Sampling(temperature=1.0, top_k=1))
    assert drawn == (int(LOGITS[0].argmax()), None)
