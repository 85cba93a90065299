"""DuoDecoding's and SpS's samples have the target's distribution."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import pytest
import torch

from duoviz.decoding import sampling
from duoviz.decoding.settings import Settings
from tests.tables import VOCABULARY, chi_square, continuations, exact_distribution

pytestmark = pytest.mark.thorough
BASE = Settings(max_new_tokens=6, temperature=0.9)
REJECTION = replace(BASE, acceptance="rejection")


def p_value(method, settings, seeds, length):
    """Of the first tokens of runs with seeds 0, 1, 2, …"""
    runs = [replace(settings, seed=seed) for seed in range(seeds)]
    # As much noise as the tables have ids.
    with mock.patch.object(sampling, "NOISE_AT_ONCE", VOCABULARY), torch.inference_mode():
        samples = Counter(continuations(method, runs, length))
    return chi_square(samples, exact_distribution(settings, length))


@pytest.mark.parametrize(
    "method, settings, seeds, length",
    [
        ("duodecoding", replace(REJECTION, budget=2), 800, 3),
        ("duodecoding", replace(REJECTION, budget=4, draft_mode="paper"), 1_200, 2),
        ("duodecoding", replace(REJECTION, budget=6, sequences=2), 800, 3),
        ("duodecoding", replace(BASE, top_k=9, top_p=0.8), 600, 3),
        ("duodecoding", REJECTION, 600, 3),
        ("duodecoding", replace(REJECTION, budget=1), 600, 3),
        ("duodecoding", replace(REJECTION, budget=3, top_k=6, top_p=0.85), 600, 3),
        ("duodecoding", replace(REJECTION, budget=8, sequences=3, draft_mode="paper"), 600, 3),
        ("speculative", replace(REJECTION, budget=3), 900, 3),
        ("speculative", replace(REJECTION, budget=1), 600, 3),
        ("speculative", REJECTION, 600, 3),
    ],
)
def test_continuations_have_the_targets_distribution(method, settings, seeds, length):
    assert p_value(method, settings, seeds, length) > 0.001
