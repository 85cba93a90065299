"""SpS on tiny models: what its draft does, and how γ follows the run."""

from duoviz.decoding import plan
from duoviz.decoding.acceptance_table import plain
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


def test_where_chances_are_known_drafting_goes_on_while_it_is_surer_than_average(monkeypatch):
    budget = speculative(0.2, max_new_tokens=20)[0].budget
    monkeypatch.setattr(plan, "fitted_table", lambda folder: plain())
    engine, asked = tiny_engine(noise=0.2), []
    submit = engine.draft_in_turn.submit
    engine.draft_in_turn.submit = lambda request: asked.append(request.plan) or submit(request)
    list(run(engine, "speculative", [5, 9, 3], Settings(max_new_tokens=60)))
    # Of the tokens that are tested a part of 0.6 is taken to be right at first.
    assert asked[0].longest == 31 and asked[0].rule.least == 0.6**budget and asked[0].rule.chances == plain().at(0)
