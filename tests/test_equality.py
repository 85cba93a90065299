"""The judge of equality itself: it lets a numerical tie pass and nothing else."""

from dataclasses import replace

import pytest
import torch

from duoviz.decoding.sampling import draw
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from tests.equality import judge, margins
from tests.tiny import tiny_pair

PROMPT = [5, 9, 3, 7]
SETTINGS = [
    Settings(max_new_tokens=40),
    Settings(max_new_tokens=40, temperature=1.3),
    Settings(max_new_tokens=40, temperature=0.7, top_k=8, top_p=0.9),
]


def written(pair, settings):
    return [each.token for iteration in vanilla(pair, PROMPT, settings) for each in iteration.committed]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_wrong_token_is_a_defect(settings):
    pair = tiny_pair()
    text = written(pair, settings)
    assert judge(pair.target, PROMPT, text, list(text), 1e-3, settings.sampling) == "equal"
    wrong = [*text[:20], (text[20] + 1) % 40, *text[21:]]
    assert judge(pair.target, PROMPT, text, wrong, 1e-3, settings.sampling) == "defect"


def test_another_seeds_text_is_a_defect():
    pair = tiny_pair()
    texts = [written(pair, replace(SETTINGS[1], seed=seed)) for seed in (0, 1)]
    assert judge(pair.target, PROMPT, *texts, 1e-3, SETTINGS[1].sampling) == "defect"


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_tie_is_within_delta_of_the_token_drawn(settings):
    sampling = settings.sampling
    logits = 2 * torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    first = draw(logits, 6, sampling)
    without_first = logits.clone()
    without_first[first.token] = -50.0
    second = draw(without_first, 6, sampling._replace(top_k=0, top_p=1.0)).token
    logits[second] += first.gap - 1e-5
    if sampling.top_k:  # the filters may refuse the second; then only the first can be drawn
        assert margins(logits[None], [first.token], 6, sampling, 1e-4) == 0
    else:
        assert draw(logits, 6, sampling).token == first.token
        assert float(margins(logits[None], [second], 6, sampling, 1e-4)) == pytest.approx(1e-5, rel=0.01)


def test_a_token_at_the_edge_of_top_k_is_a_tie():
    logits = torch.tensor([[3.0, 2.0, 2.0 - 1e-6, -4.0]], dtype=torch.float64)
    sampling = SETTINGS[2].sampling._replace(top_k=2, top_p=1.0)
    assert float(margins(logits, [2], 6, sampling, 1e-4)) < float("inf")
    assert float(margins(logits, [3], 6, sampling, 1e-4)) == float("inf")
