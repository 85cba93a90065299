"""DuoDecoding on tiny models: the text is vanilla's, and every iteration is consistent."""

from dataclasses import replace

import pytest
import torch

from duoviz.decoding.budget import ROW_COUNTS
from duoviz.decoding.draft_worker import InlineDraft
from duoviz.decoding.duodecoding import duodecoding
from duoviz.decoding.iteration import Stopped
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from tests.tiny import made_up_costs, reference_model, tiny_pair

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30))]
COMBINATIONS = [
    Settings(max_new_tokens=24, sequences=k, budget=budget, draft_mode=mode)
    for k in ("dynamic", 1, 2, 3, 8)
    for budget in ("auto", 1, 5, 13)
    for mode in ("batched", "paper")
]


def tokens(method, pair, prompt, settings):
    return [each.token for iteration in method(pair, prompt, settings) for each in iteration.committed]


def test_vanilla_equals_transformers():
    reference, pair = reference_model(0), tiny_pair()
    for prompt in PROMPTS:
        with torch.no_grad():
            out = reference.generate(
                torch.tensor([prompt]), max_new_tokens=60, do_sample=False, eos_token_id=None, pad_token_id=0
            )
        assert tokens(vanilla, pair, prompt, Settings(max_new_tokens=60)) == out[0, len(prompt) :].tolist()


@pytest.mark.thorough
@pytest.mark.parametrize("noise", [0.0, 0.15, 3.0])
def test_equals_vanilla_in_every_combination(noise):
    pair = tiny_pair(noise=noise)
    for prompt in PROMPTS[:2]:
        expected = tokens(vanilla, pair, prompt, COMBINATIONS[0])
        for settings in COMBINATIONS:
            assert tokens(duodecoding, pair, prompt, settings) == expected, settings


SAMPLED = [
    {"temperature": temperature, **filters}
    for temperature in (0.7, 1.3)
    for filters in ({}, {"top_k": 10}, {"top_p": 0.8}, {"top_k": 20, "top_p": 0.9})
]


@pytest.mark.thorough
@pytest.mark.parametrize("sampling", SAMPLED)
def test_sampled_text_is_seeded_vanillas(sampling):
    """Each sampling with a third of the combinations, so that each of these meets two or three."""
    pair = tiny_pair(noise=0.2)
    expected = {}
    for number, settings in enumerate(COMBINATIONS[SAMPLED.index(sampling) % 3 :: 3]):
        settings = replace(settings, **sampling, seed=number % 4)
        if settings.seed not in expected:
            expected[settings.seed] = tokens(vanilla, pair, PROMPTS[0], settings)
        assert tokens(duodecoding, pair, PROMPTS[0], settings) == expected[settings.seed], settings
    assert len(set(map(tuple, expected.values()))) == 4


def test_seed_temperature_and_filters_change_the_text():
    pair, base = tiny_pair(), Settings(max_new_tokens=30, temperature=1.0)
    changes = [{}, {"seed": 1}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.3}]
    texts = {tuple(tokens(vanilla, pair, PROMPTS[0], replace(base, **change))) for change in changes}
    assert len(texts) == len(changes)


def test_sharing_the_noise_makes_drafted_tokens_agree():
    """With the target's noise the draft is right about as often as the two distributions overlap."""
    pair, settings = tiny_pair(noise=0.1), Settings(max_new_tokens=200, temperature=1.2, sequences=1, budget=5)
    shared = list(duodecoding(pair, PROMPTS[0], settings))
    runtime(pair).draft.loop.handle = with_other_noise(runtime(pair).draft.loop.handle)
    apart = list(duodecoding(pair, PROMPTS[0], settings))
    assert sum(each.accepted for each in shared) > 1.5 * sum(each.accepted for each in apart)


def with_other_noise(handle):
    """A draft that is given another seed than the target."""

    def handled(request, **options):
        plan = request.plan._replace(sampling=request.plan.sampling._replace(seed=99))
        return handle(replace(request, plan=plan), **options)

    return handled


@pytest.mark.parametrize("settings", COMBINATIONS)
def test_iterations_by_the_classical_rule_are_consistent(settings):
    settings = replace(settings, temperature=1.0, acceptance="rejection")
    pending = []
    for each in duodecoding(tiny_pair(noise=0.2), PROMPTS[0], settings):
        checked = [node.token for node in each.checked if node.source == "draft"]
        accepted = [node.token for node in each.checked + each.drafted if node.status == "accepted"]
        assert checked == pending and all(committed.gap is None for committed in each.committed)
        assert [committed.token for committed in each.committed][: len(accepted)] == accepted[: len(each.committed)]
        assert sum(n.status == "correction" for n in each.checked + each.drafted) == (each.outcome != "hit")
        rejected = [node for node in each.checked + each.drafted if node.status == "rejected"]
        assert all(node.p is not None for node in rejected)
        assert (each.outcome == "rejection") == any(node.status == "rejected" for node in each.checked)
        pending = [node.token for node in each.drafted if node.status == "pending"]


def test_a_perfect_draft_is_never_refused_by_the_classical_rule():
    settings = Settings(max_new_tokens=60, temperature=1.0, acceptance="rejection", budget=5)
    assert {each.outcome for each in duodecoding(tiny_pair(noise=0.0), PROMPTS[0], settings)} == {"hit"}


def test_only_what_is_worth_verifying_is_drafted():
    """Where every row of the target's costs more than the first, sequences are as short as they may be."""
    pair = tiny_pair(noise=0.0)
    runtime(pair).costs["costs"] = made_up_costs([0.1 * count**1.5 for count in ROW_COUNTS], [0.01] * 8)
    run = list(duodecoding(pair, PROMPTS[0], Settings(max_new_tokens=30, sequences=2)))
    assert {each.outcome for each in run} == {"hit"}
    assert {each.longest for each in run[:-2]} == {2} and all(each.budget >= 10 for each in run)
    assert all(sum(node.source == "draft" for node in each.drafted) == 3 for each in run[:-2])
    free = tiny_pair(noise=0.0)
    runtime(free).costs["costs"] = made_up_costs([0.1] * 6, [0.01] * 8)
    assert max(len(each.committed) for each in duodecoding(free, PROMPTS[0], Settings(max_new_tokens=60))) > 8


def test_a_perfect_draft_is_never_rejected():
    pair = tiny_pair(noise=0.0)
    run = list(duodecoding(pair, PROMPTS[0], Settings(max_new_tokens=60, sequences=1, budget=5)))
    assert {each.outcome for each in run} == {"hit"}
    # Each hit brings four pending tokens, so five tokens an iteration from the second on.
    assert [len(each.committed) for each in run[:4]] == [1, 5, 5, 5]


def test_wrong_drafts_are_seen():
    run = list(duodecoding(tiny_pair(noise=0.3), PROMPTS[0], Settings(max_new_tokens=120)))
    assert {"hit", "miss", "rejection"} <= {each.outcome for each in run}
    assert {each.mode for each in run} == {"prefill", "pre", "post"}


@pytest.mark.parametrize("settings", COMBINATIONS)
def test_iterations_are_consistent(settings):
    pair = tiny_pair(noise=0.2)
    expected = tokens(vanilla, pair, PROMPTS[0], settings)
    pending, written = [], []
    for each in duodecoding(pair, PROMPTS[0], settings):
        drafted = [node for node in each.drafted if node.source == "draft"]
        checked = [node for node in each.checked if node.source == "draft"]
        assert [node.token for node in checked] == pending
        assert each.target.tokens == (3 if each.mode == "prefill" else len(checked) + 1)
        assert len([node for node in drafted if node.parent == -1]) == each.sequences
        if settings.sequences != "dynamic":
            assert each.sequences <= settings.sequences
        assert each.sequences <= min(8, each.budget)
        if settings.draft_mode == "paper" and each.stop is None:
            assert len(drafted) <= each.budget
        over = sum(candidate.over for candidate in each.candidates)
        if settings.sequences == "dynamic" and each.theta is not None:
            assert each.sequences == max(1, min(over, each.budget))
        if not each.stop:
            assert len(each.committed) == each.accepted_pending + 1
        assert sum(n.status == "correction" for n in each.checked + each.drafted) == (each.outcome != "hit")
        pending = [node.token for node in each.drafted if node.status == "pending"]
        assert not pending or each.outcome == "hit"
        written += [committed.token for committed in each.committed]
    assert written == expected


def test_paper_mode_drafts_the_whole_budget():
    pair = tiny_pair(noise=0.0)
    run = list(duodecoding(pair, PROMPTS[0], Settings(max_new_tokens=100, sequences=3, budget=13, draft_mode="paper")))
    lengths = [sum(node.source == "draft" for node in each.drafted) for each in run[:3]]
    assert lengths == [13, 13, 13]


def test_stops_at_eos_inside_an_accepted_run():
    free = tokens(vanilla, tiny_pair(), PROMPTS[0], Settings(max_new_tokens=60))
    pair = tiny_pair(noise=0.0, eos=frozenset({free[12]}))
    expected = free[: free.index(free[12]) + 1]
    for settings in COMBINATIONS:
        run = list(duodecoding(pair, PROMPTS[0], settings))
        assert [each.token for iteration in run for each in iteration.committed] == expected
        assert run[-1].stop == "eos"


@pytest.mark.parametrize("count", [1, 2, 7, 23])
def test_stops_at_the_length(count):
    pair = tiny_pair(noise=0.05)
    for settings in (Settings(max_new_tokens=count), Settings(max_new_tokens=count, sequences=3, budget=13)):
        run = list(duodecoding(pair, PROMPTS[0], settings))
        assert sum(len(each.committed) for each in run) == count
        assert run[-1].stop == "length"


def test_stops_at_the_context_limit():
    pair = tiny_pair(noise=0.05, context=64)
    prompt = PROMPTS[2]
    expected = tokens(vanilla, pair, prompt, Settings(max_new_tokens=200))
    assert len(expected) == 64 - len(prompt)
    for settings in (Settings(max_new_tokens=200), Settings(max_new_tokens=200, budget=13, sequences=8)):
        run = list(duodecoding(pair, prompt, settings))
        assert [each.token for iteration in run for each in iteration.committed] == expected
        assert run[-1].stop == "context"


class LateDraft(InlineDraft):
    """A draft whose first answer is ready only when it is asked for the third time."""

    asked = 0

    def ready(self):
        self.asked += 1
        return self.asked >= 3


def test_the_target_goes_on_alone_until_the_draft_has_read_the_prompt():
    pair = tiny_pair(noise=0.0)
    runtime(pair).draft = LateDraft(runtime(pair).draft.loop.model)
    run = list(duodecoding(pair, PROMPTS[2], Settings(max_new_tokens=40)))
    assert [each.mode for each in run[:3]] == ["prefill", "pre", "pre"]
    assert [bool(each.drafted) for each in run[:3]] == [False, False, True]
    assert {node.status for node in run[2].drafted} == {"discarded"} and run[2].outcome == "none"
    written = [each.token for iteration in run for each in iteration.committed]
    assert written == tokens(vanilla, pair, PROMPTS[2], Settings(max_new_tokens=40))
    assert "hit" in {each.outcome for each in run[3:]}


def test_a_long_prefill_can_be_stopped():
    for method in (vanilla, duodecoding):
        pair, calls = tiny_pair(context=1024), []
        runtime(pair).stopped = lambda calls=calls: len(calls) > 1 or calls.append(1)
        with pytest.raises(Stopped):
            next(method(pair, [5] * 700, Settings(max_new_tokens=4)))
        assert pair.target.length < 700
        runtime(pair).stopped = bool
        assert tokens(method, pair, PROMPTS[0], Settings(max_new_tokens=4))


def test_closing_early_leaves_the_pair_usable():
    pair = tiny_pair()
    run = duodecoding(pair, PROMPTS[0], Settings(max_new_tokens=60))
    next(run), next(run)
    run.close()
    expected = tokens(vanilla, pair, PROMPTS[1], Settings(max_new_tokens=30))
    assert tokens(duodecoding, pair, PROMPTS[1], Settings(max_new_tokens=30)) == expected
