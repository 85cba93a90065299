"""DuoDecoding's and SpS's samples have the target's distribution; each planted error is found out."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import pytest
import torch

from duoviz.decoding import drafting, plan, sampling, verification
from duoviz.decoding.drafting import DraftRequest
from duoviz.decoding.settings import Settings
from tests.tables import VOCABULARY, chi_square, continuations, exact_distribution

pytestmark = pytest.mark.thorough
BASE = Settings(max_new_tokens=6, temperature=0.9)
REJECTION = replace(BASE, acceptance="rejection")


def roll_back_to_another_sequence(request, draft):
    """Planted error: the pending tokens' rows are another sequence's."""
    rows = ROLL_BACK(request, draft)
    if request.keep is not None and len(sequences := draft.kept.result.sequences) > 1:
        other = sequences[request.keep - 1].rows[1:]
        rows = [*other, *rows[len(other) :]]
    return rows


def grow_by_the_sampled_token(model, sequences, *others):
    """Planted error: θ is made of the token drawn, not of the most probable one."""
    GROW(model, sequences, *others)
    return [sequence.q[-1] for sequence in sequences]


def another_places_row(draft, size):
    """Planted error: a refused token is replaced by what the draft thought of the first place."""
    row_of = ROW_OF_DRAFT(draft, size)
    return lambda row: row_of(0)


GROW, ROLL_BACK, ROW_OF_DRAFT = drafting.grow, DraftRequest.roll_back, plan.row_of_draft
ERRORS = {
    "no division by q": (verification, "acceptance", lambda p, q: min(1.0, p)),
    "resampling from p": (verification, "residual", lambda p, q: p),
    "another sequence's q row": (DraftRequest, "roll_back", roll_back_to_another_sequence),
    "another place's q row": (plan, "row_of_draft", another_places_row),
    "θ from the sampled token": (drafting, "grow", grow_by_the_sampled_token),
}


@contextmanager
def planted(error: str | None) -> Iterator[None]:
    if error is None:
        yield
        return
    with mock.patch.object(*ERRORS[error]):
        yield


def p_value(method, settings, seeds, length, error=None):
    """Of the first tokens of runs with seeds 0, 1, 2, …"""
    runs = [replace(settings, seed=seed) for seed in range(seeds)]
    # As much noise as the tables have ids.
    with planted(error), mock.patch.object(sampling, "NOISE_AT_ONCE", VOCABULARY), torch.inference_mode():
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


@pytest.mark.parametrize(
    "method, error, settings, seeds, length",
    [
        ("duodecoding", "no division by q", replace(REJECTION, budget=2), 200, 2),
        ("duodecoding", "resampling from p", replace(REJECTION, budget=2), 600, 3),
        ("duodecoding", "another sequence's q row", replace(REJECTION, budget=6, sequences=2), 800, 3),
        ("duodecoding", "θ from the sampled token", replace(REJECTION, budget=4, draft_mode="paper"), 1_200, 2),
        ("speculative", "no division by q", replace(REJECTION, budget=3), 200, 3),
        ("speculative", "resampling from p", replace(REJECTION, budget=3), 800, 3),
        ("speculative", "another place's q row", replace(REJECTION, budget=3), 900, 3),
    ],
)
def test_a_planted_error_is_found(method, error, settings, seeds, length):
    """By runs that the test above makes too, where they find nothing."""
    assert p_value(method, settings, seeds, length, error) < 1e-6
