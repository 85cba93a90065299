"""DuoDecoding's and SpS's samples have the target's distribution; each planted error is found out."""

import importlib
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import pytest

from duoviz.decoding import METHODS, drafting, verification
from duoviz.decoding.draft_worker import DraftLoop
from duoviz.decoding.settings import Settings
from tests.tables import chi_square, continuations, exact_distribution, table_pair

SEEDS = 12_000
LENGTH = 3
BASE = Settings(max_new_tokens=6, temperature=0.9)
REJECTION = replace(BASE, acceptance="rejection")


def roll_back_to_another_branch(loop, request):
    """Planted error: the pending tokens' rows are another branch's."""
    ROLL_BACK(loop, request)
    if request.keep is not None and len(loop.drafted.branches) > 1:
        other = loop.drafted.branches[request.keep - 1].rows[1:]
        loop.pending_rows = [*other, *loop.pending_rows[len(other) :]]


def grow_and_tell_the_sampled_token(model, branches, *others):
    """Planted error: θ is made of the token drawn, not of the most probable one."""
    GROW(model, branches, *others)
    return [branch.q[-1] for branch in branches]


def another_places_row(draft, size):
    """Planted error: a refused token is replaced by what the draft thought of the first place."""
    row_of = ROW_OF_DRAFT(draft, size)
    return lambda row: row_of(0)


# The package's attribute of this name is the method, not its module.
SPECULATIVE = importlib.import_module("duoviz.decoding.speculative")
GROW, ROLL_BACK, ROW_OF_DRAFT = drafting.grow, DraftLoop.roll_back, SPECULATIVE.row_of_draft
ERRORS = {
    "no division by q": (verification, "acceptance", lambda p, q: min(1.0, p)),
    "resampling from p": (verification, "residual", lambda p, q: p),
    "another branch's q row": (DraftLoop, "roll_back", roll_back_to_another_branch),
    "another place's q row": (SPECULATIVE, "row_of_draft", another_places_row),
    "θ from the sampled token": (drafting, "grow", grow_and_tell_the_sampled_token),
}


@contextmanager
def planted(error: str | None) -> Iterator[None]:
    if error is None:
        yield
        return
    with mock.patch.object(*ERRORS[error]):
        yield


def sample(method, settings, seeds, error):
    """How often each continuation of three tokens came."""
    pair = table_pair()
    pair.resources["draft in turn"] = pair.resources["draft"]
    with planted(error):
        return Counter(continuations(METHODS[method], pair, [replace(settings, seed=seed) for seed in seeds], LENGTH))


@pytest.fixture(scope="module")
def workers():
    """Two processes, so that many runs take half the time."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def p_value(workers, settings, *, method="duodecoding", seeds=SEEDS, error=None):
    """Of the first three tokens of runs with seeds 0, 1, 2, …"""
    halves = [workers.submit(sample, method, settings, range(start, seeds, 2), error) for start in (0, 1)]
    return chi_square(halves[0].result() + halves[1].result(), exact_distribution(settings, LENGTH))


def test_continuations_have_the_targets_distribution(workers):
    assert p_value(workers, replace(REJECTION, budget=2)) > 0.001


@pytest.mark.parametrize(
    "settings",
    [
        replace(BASE, temperature=1.3),
        replace(BASE, top_k=9, top_p=0.8),
        REJECTION,
        replace(REJECTION, budget=1),
        replace(REJECTION, budget=3, draft_mode="paper"),
        replace(REJECTION, budget=3, top_k=6, top_p=0.85),
        replace(REJECTION, budget=6, sequences=2),
        replace(REJECTION, budget=8, sequences=3, draft_mode="paper"),
    ],
    ids=["coupled", "coupled, filters", "auto", "γ=1", "γ=3 in turn", "filters", "two sequences", "three in turn"],
)
def test_other_settings_with_fewer_seeds(settings, workers):
    assert p_value(workers, settings, seeds=1_500) > 0.001


@pytest.mark.parametrize("budget", [1, 3, "auto"])
def test_sps_with_the_classical_rule_has_the_targets_distribution(budget, workers):
    settings = replace(REJECTION, budget=budget)
    assert p_value(workers, settings, method="speculative", seeds=2_000) > 0.001


@pytest.mark.parametrize(
    "method, error, settings, seeds",
    [
        ("duodecoding", "no division by q", replace(REJECTION, budget=2), 1_000),
        ("duodecoding", "resampling from p", replace(REJECTION, budget=2), 1_000),
        ("duodecoding", "another branch's q row", replace(REJECTION, budget=6, sequences=2), 3_000),
        ("duodecoding", "θ from the sampled token", replace(REJECTION, budget=3, draft_mode="paper"), 10_000),
        ("speculative", "no division by q", replace(REJECTION, budget=3), 1_000),
        ("speculative", "resampling from p", replace(REJECTION, budget=3), 1_000),
        ("speculative", "another place's q row", replace(REJECTION, budget=3), 3_000),
    ],
)
def test_a_planted_error_is_found(method, error, settings, seeds, workers):
    assert p_value(workers, settings, method=method, seeds=seeds, error=error) < 0.001
