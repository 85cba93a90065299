"""DuoDecoding's and SpS's samples by the classical rule have the target's distribution."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import pytest
import torch

from duoviz.decoding import sampling
from duoviz.decoding.settings import Settings
from tests.tables import VOCABULARY, chi_square, continuations, exact_distribution

pytestmark = pytest.mark.thorough
REJECTION = Settings(max_new_tokens=6, temperature=0.9, acceptance="rejection")


@pytest.mark.parametrize(
    "method, settings, seeds, length",
    [
        ("duodecoding", replace(REJECTION, budget=2), 800, 3),
        ("duodecoding", replace(REJECTION, budget=4, draft_mode="paper"), 1_200, 2),
        ("duodecoding", replace(REJECTION, budget=6, sequences=2), 800, 3),
        ("duodecoding", replace(REJECTION, budget=3, top_k=6, top_p=0.85), 600, 3),
        ("speculative", replace(REJECTION, budget=3), 900, 3),
        ("speculative", REJECTION, 600, 3),
    ],
)
def test_continuations_have_the_targets_distribution(method, settings, seeds, length):
    """Of the first tokens of runs with seeds 0, 1, 2, …"""
    runs = [replace(settings, seed=seed) for seed in range(seeds)]
    # As much noise as the tables have ids.
    with mock.patch.object(sampling, "NOISE_AT_ONCE", VOCABULARY), torch.inference_mode():
        samples = Counter(continuations(method, runs, length))
    assert chi_square(samples, exact_distribution(settings, length)) > 0.001
