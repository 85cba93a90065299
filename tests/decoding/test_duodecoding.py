"""DuoDecoding on tiny models: the text is vanilla's in every combination, and every iteration is consistent."""

from contextlib import nullcontext
from itertools import groupby, product

import pytest

from duoviz.decoding import loop
from duoviz.decoding.costs import ROW_COUNTS
from duoviz.decoding.duodecoding import PAUSE
from duoviz.decoding.placement import Placement
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores
from tests.callers_draft import CallersDraft
from tests.decoding.proposals import tokens
from tests.tiny import CORE, change_pair, give_costs, made_up_costs, run, tiny_engine

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30))]
COMBINATIONS = list(product(("dynamic", 1, 2, 8), ("auto", 1, 5, 13), ("batched", "paper")))
SAMPLED = {"temperature": 1.3, "top_k": 20, "top_p": 0.9, "seed": 3}


def duodecoding(engine, prompt=PROMPTS[0], **changes):
    return list(run(engine, "duodecoding", prompt, Settings(**changes)))


def from_draft(nodes):
    return [node for node in nodes if node.source == "draft"]


@pytest.mark.thorough
@pytest.mark.parametrize("changes", [{}, SAMPLED, {"temperature": 1.0, "acceptance": "rejection"}])
def test_the_text_is_vanillas_and_iterations_are_consistent(changes):
    seen = set()
    for number, (k, budget, mode) in enumerate(COMBINATIONS):
        engine = tiny_engine(noise=(0.2, 0.0, 0.3, 3.0)[number % 4])
        seen |= check_run(engine, Settings(max_new_tokens=24, sequences=k, budget=budget, draft_mode=mode, **changes))
    assert {"hit", "miss", "rejection", "prefill", "pre", "post"} <= seen


def check_run(engine, settings):
    """What the draft proposed is what the settings allow, and what comes of it follows. Returns what happened."""
    pending, text, seen, is_filtered = [], list(PROMPTS[0]), set(), settings.top_k or settings.top_p < 1
    for iteration in run(engine, "duodecoding", PROMPTS[0], settings):
        seen |= {iteration.outcome, iteration.mode}
        checked, drafted = from_draft(iteration.checked), from_draft(iteration.drafted)
        nodes = [*iteration.checked, *iteration.drafted]
        accepted = [node.token for node in nodes if node.status == "accepted"]
        committed = tokens([iteration])
        assert [node.token for node in checked] == pending
        assert iteration.target.tokens == (3 if iteration.mode == "prefill" else len(checked) + 1)
        assert committed[: len(accepted)] == accepted[: len(committed)]
        assert iteration.stop or len(committed) == iteration.accepted_pending + 1
        assert is_filtered or all((token.margin is None) == settings.by_rejection for token in iteration.committed)
        assert sum(node.status == "correction" for node in nodes) == (iteration.outcome != "hit")
        assert all(node.p is not None for node in nodes if node.status == "rejected")
        assert (iteration.outcome == "rejection") == any(node.status == "rejected" for node in iteration.checked)
        if iteration.mode in ("prefill", "alone"):
            assert not drafted and iteration.sequences is None
        else:
            check_sequences(iteration, drafted, settings)
        pending = [node.token for node in iteration.drafted if node.status == "pending"]
        assert not pending or iteration.outcome == "hit"
        text += committed
    assert settings.by_rejection or text[3:] == tokens(run(engine, "vanilla", PROMPTS[0], settings)), settings
    return seen


def check_sequences(iteration, drafted, settings):
    """What was drafted is what γ, k and θ allow."""
    k, over = iteration.sequences, sum(candidate.over for candidate in iteration.candidates)
    assert len([node for node in drafted if node.parent == -1]) == k <= min(8, iteration.budget)
    if settings.sequences != "dynamic":
        assert k <= settings.sequences
    elif iteration.theta is not None:
        assert k == max(1, min(over, iteration.budget))
    if settings.draft_mode == "paper" and iteration.stop is None:
        assert len(drafted) <= iteration.budget


@pytest.mark.parametrize("changes", [{"sequences": 1}, {"temperature": 1.0, "acceptance": "rejection"}])
def test_a_perfect_draft_is_never_refused(changes):
    prefill, *iterations = duodecoding(tiny_engine(noise=0.0), max_new_tokens=60, budget=5, **changes)
    assert prefill.outcome == "none" and {iteration.outcome for iteration in iterations} == {"hit"}
    # Each hit brings four pending tokens, so five tokens an iteration from the next one on.
    if "sequences" in changes:
        assert [len(iteration.committed) for iteration in iterations[:4]] == [1, 5, 5, 5]


def test_only_what_is_worth_verifying_is_drafted():
    """Where every row of the target's costs more than the first, sequences are as short as they may be."""
    engine, free = tiny_engine(noise=0.0), tiny_engine(noise=0.0)
    beside = made_up_costs([0.1 * count**1.5 for count in ROW_COUNTS], [0.01] * 8)
    give_costs(engine, beside, made_up_costs([1.0] * 6, [0.01] * 8))
    _, *iterations = duodecoding(engine, max_new_tokens=30, sequences=2)
    assert {iteration.outcome for iteration in iterations} == {"hit"}
    assert all(iteration.budget >= 9 for iteration in iterations)
    for iteration in iterations[:-2]:
        assert iteration.longest == 2 and len(from_draft(iteration.drafted)) == 3
    # The authors' mode fills the budget.
    _, *published = duodecoding(engine, max_new_tokens=30, sequences=2, draft_mode="paper")
    assert max(iteration.longest for iteration in published) > 2
    give_costs(free, made_up_costs([0.1] * 6, [0.01] * 8))
    assert max(len(iteration.committed) for iteration in duodecoding(free, max_new_tokens=60)) > 8


def test_the_draft_rests_where_its_guesses_do_not_pay_and_tries_again(monkeypatch):
    """Beside a draft the target takes twice as long; this draft is hardly ever right."""
    taken, engine = [], change_pair(tiny_engine(noise=3.0), cores=Cores(target=(CORE,), draft=(999,)))
    monkeypatch.setattr(loop, "on_cores", lambda cores: taken.append(cores) or nullcontext())
    give_costs(engine, made_up_costs([2.0] * 6, [0.5] * 8), made_up_costs([1.0] * 6, [0.5] * 8))
    iterations = duodecoding(engine, max_new_tokens=90)
    modes = [iteration.mode for iteration in iterations]
    alone = [iteration for iteration in iterations if iteration.mode == "alone"]
    assert len(alone) > 40 and all(not iteration.draft and len(iteration.committed) == 1 for iteration in alone)
    # The target has its core then, and for the prompt.
    assert taken[1:] == [(CORE, 999) if mode in ("prefill", "alone") else (CORE,) for mode in modes]
    # It has tried before the first rest, and tries after each; each is twice as long as the one before.
    rests = [len(list(rest)) for mode, rest in groupby(modes) if mode == "alone"]
    assert modes[:2] == ["prefill", "pre"] and rests[:2] == [PAUSE + 1, 2 * PAUSE + 1]
    # A budget that is set is used up.
    for changes in ({"budget": 5}, {"draft_mode": "paper"}):
        assert "alone" not in {iteration.mode for iteration in duodecoding(engine, max_new_tokens=60, **changes)}


def test_a_draft_that_makes_one_token_in_a_forward_rests_at_once_and_is_tried_later():
    engine = tiny_engine(noise=0.0)
    give_costs(engine, made_up_costs([1.0] * 6, [0.6] * 8))
    # The target never ran alone before.
    del engine.kept_costs[Placement(False, engine.pair.cores.all)]
    modes = [iteration.mode for iteration in duodecoding(engine, max_new_tokens=40)]
    assert modes[:3] == ["prefill", "pre", "alone"] and "pre" in modes[10:]


@pytest.mark.parametrize("changes, hurried", [({}, True), ({"budget": 5}, False), ({"draft_mode": "paper"}, False)])
def test_only_a_draft_whose_length_is_free_is_hurried(monkeypatch, changes, hurried):
    calls = []
    monkeypatch.setattr(CallersDraft, "enough", lambda draft: calls.append(draft))
    duodecoding(tiny_engine(noise=0.0), max_new_tokens=20, **changes)
    assert bool(calls) == hurried


class LateDraft(CallersDraft):
    """A draft whose first answer is ready only when it is asked for the third time."""

    asked = hurried = 0

    def ready(self):
        self.asked += 1
        return self.asked >= 3

    def enough(self):
        self.hurried += self.asked < 3


def test_the_target_goes_on_alone_until_the_draft_has_read_the_prompt():
    engine = tiny_engine(noise=0.0)
    engine.draft_beside = LateDraft(engine.draft_beside.model)
    iterations = duodecoding(engine, PROMPTS[2], max_new_tokens=40)
    assert [iteration.mode for iteration in iterations[:4]] == ["prefill", "pre", "pre", "pre"]
    assert [bool(iteration.drafted) for iteration in iterations[:4]] == [False, False, False, True]
    # By then the text has moved on, so what is drafted after the prompt is not waited for.
    assert engine.draft_beside.hurried == 2
    assert {node.status for node in iterations[3].drafted} == {"discarded"} and iterations[3].outcome == "none"
    assert tokens(iterations) == tokens(run(engine, "vanilla", PROMPTS[2], Settings(max_new_tokens=40)))
    assert "hit" in {iteration.outcome for iteration in iterations[4:]}


def test_the_draft_goes_on_before_an_iteration_is_shown_and_reads_no_token_twice():
    engine, asked, refused = tiny_engine(noise=0.3), [], 0
    submit = engine.draft_beside.submit
    engine.draft_beside.submit = lambda request: asked.append(request) or submit(request)
    for number, iteration in enumerate(run(engine, "duodecoding", PROMPTS[0], Settings(max_new_tokens=120, budget=5))):
        assert len(asked) == number + (iteration.stop is None)
        refused += iteration.outcome == "rejection" and iteration.accepted_pending > 0
    assert refused and {len(request.new_tokens) for request in asked[1:]} == {1}
