"""SpS on tiny models: what its draft does, and how γ follows the run."""

from duoviz.decoding.settings import Settings
from tests.tiny import run, tiny_engine


def speculative(noise, **changes):
    """The iterations after the prompt's."""
    return list(run(tiny_engine(noise=noise), "speculative", [5, 9, 3], Settings(**changes)))[1:]


def test_a_perfect_draft_gives_the_budget_and_one_more():
    iterations = speculative(0.0, max_new_tokens=60, budget=5)
    assert [len(iteration.committed) for iteration in iterations[:3]] == [6, 6, 6]
    assert {iteration.outcome for iteration in iterations} == {"hit"}


def test_the_budget_follows_the_acceptance():
    sure, unsure = speculative(0.0, max_new_tokens=100), speculative(3.0, max_new_tokens=60)
    assert sure[-1].budget > sure[0].budget == unsure[0].budget > unsure[-1].budget
