"""DuoDecoding's samples have the target's distribution; each planted error is found out."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from duoviz.decoding import drafting, verification
from duoviz.decoding.draft_worker import DraftLoop, InlineDraft
from duoviz.decoding.duodecoding import duodecoding
from duoviz.decoding.settings import Settings
from tests.tables import chi_square, continuations, exact_distribution, table_pair

SEEDS = 20_000
LENGTH = 3
BASE = Settings(max_new_tokens=6, temperature=0.9)
REJECTION = replace(BASE, acceptance="rejection")


def sample(settings, seeds, draft=InlineDraft):
    """How often each continuation came."""
    runs = [replace(settings, seed=seed) for seed in seeds]
    return Counter(continuations(duodecoding, table_pair(draft=draft), runs, LENGTH))


def p_value(settings, *, seeds, draft=InlineDraft):
    """Of the first three tokens of runs with seeds 0, 1, 2, …"""
    return chi_square(sample(settings, range(seeds), draft), exact_distribution(settings, LENGTH))


@pytest.fixture(scope="module")
def workers():
    """Two processes, so that many runs take half the time."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize(
    "settings",
    [
        replace(BASE, temperature=1.3, top_k=9, top_p=0.9),
        replace(REJECTION, budget=1),
        replace(REJECTION, budget=2),
        replace(REJECTION, budget=3, draft_mode="paper"),
    ],
    ids=["coupled", "rejection γ=1", "rejection γ=2", "rejection γ=3"],
)
def test_continuations_have_the_targets_distribution(settings, workers):
    halves = [workers.submit(sample, settings, range(start, SEEDS, 2)) for start in (0, 1)]
    samples = halves[0].result() + halves[1].result()
    assert chi_square(samples, exact_distribution(settings, LENGTH)) > 0.001


def test_every_mode_of_the_classical_rule():
    """Fewer seeds, more settings: filters, several sequences, longer budgets."""
    for settings in (
        replace(REJECTION, budget=3, top_k=6, top_p=0.85),
        replace(REJECTION, budget=6, sequences=2),
        replace(REJECTION, budget=8, sequences=3, draft_mode="paper"),
    ):
        assert p_value(settings, seeds=4_000) > 0.001, settings


def test_no_division_by_q_is_found(monkeypatch):
    monkeypatch.setattr(verification, "acceptance", lambda p, q: min(1.0, p))
    assert p_value(replace(REJECTION, budget=2), seeds=4_000) < 0.001


def test_resampling_from_p_is_found(monkeypatch):
    monkeypatch.setattr(verification, "residual", lambda p, q: p)
    assert p_value(replace(REJECTION, budget=2), seeds=4_000) < 0.001


class OtherBranchsRows(DraftLoop):
    """Planted error: the pending tokens' rows are another branch's."""

    def roll_back(self, request):
        super().roll_back(request)
        if request.keep is not None and len(self.drafted.branches) > 1:
            other = self.drafted.branches[request.keep - 1].rows[1:]
            self.pending_rows = [*other, *self.pending_rows[len(other) :]]


def test_another_branchs_row_is_found():
    def planted(model):
        draft = InlineDraft(model)
        draft.loop = OtherBranchsRows(model)
        return draft

    assert p_value(replace(REJECTION, budget=6, sequences=2), seeds=6_000, draft=planted) < 0.001


def test_a_threshold_from_the_sampled_token_is_found(monkeypatch):
    grow = drafting.grow

    def planted(model, branches, *others):
        grow(model, branches, *others)
        return [branch.q[-1] for branch in branches]

    monkeypatch.setattr(drafting, "grow", planted)
    assert p_value(replace(REJECTION, budget=3, draft_mode="paper"), seeds=10_000) < 0.001
