"""DuoDecoding's and SpS's samples have the target's distribution."""

from collections import Counter
from unittest import mock

import pytest
import torch

from duoviz.decoding import sampling
from duoviz.decoding.settings import Settings
from tests.tables import VOCABULARY, chi_square, continuations, exact_distribution

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    "method, changes, seeds, length",
    [
        ("duodecoding", {"budget": 6, "sequences": 2}, 800, 3),
        ("duodecoding", {"acceptance": "coupled", "top_k": 9, "top_p": 0.8}, 600, 3),
        ("duodecoding", {}, 600, 3),
        ("duodecoding", {"budget": 1}, 600, 3),
        ("duodecoding", {"budget": 3, "top_k": 6, "top_p": 0.85}, 600, 3),
        ("duodecoding", {"budget": 8, "sequences": 3, "draft_mode": "paper"}, 600, 3),
        ("speculative", {"budget": 1}, 600, 3),
        ("speculative", {}, 600, 3),
    ],
)
def test_continuations_have_the_targets_distribution(method, changes, seeds, length):
    settings = {"max_new_tokens": 6, "temperature": 0.9, "acceptance": "rejection"} | changes
    runs = [Settings(seed=seed, **settings) for seed in range(seeds)]
    # As much noise as the tables have ids.
    with mock.patch.object(sampling, "NOISE_AT_ONCE", VOCABULARY), torch.inference_mode():
        samples = Counter(continuations(method, runs, length))
    assert chi_square(samples, exact_distribution(runs[0], length)) > 0.001
