"""SpS: classical speculative decoding, draft and target in turn on the target's device."""

import time
from collections.abc import Iterator
from itertools import count

from duoviz.decoding.budget import LiveCosts, Sureness, speculative_budget
from duoviz.decoding.calibration import cost_model
from duoviz.decoding.chances import fitted_chances
from duoviz.decoding.draft_requests import DraftRequest
from duoviz.decoding.draft_worker import InlineDraft, row_of_draft
from duoviz.decoding.drafting import Plan, Worth
from duoviz.decoding.in_turn import forward_tree, judge, keep_accepted, read_prompt
from duoviz.decoding.iteration import Iteration, room_for
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import MAX_SEQUENCES, Settings
from duoviz.decoding.theory import IN_TURN, Acceptance
from duoviz.models.pair import Pair

# What γ = auto assumes before anything was tested, as if this had been: six tokens accepted of ten.
PRIOR = Acceptance(accepted=6, tested=10)


def draft_in_turn(pair: Pair) -> InlineDraft:
    """The draft in the target's process and on its device; loaded on the first call."""
    kept = runtime(pair)
    if kept.draft_in_turn is None:
        device = pair.target.device
        options = {} if device == "cpu" else {"device": device, "precision": pair.target.precision}
        kept.draft_in_turn = InlineDraft(pair.draft.load(**options))
    return kept.draft_in_turn


def speculative(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Draft γ tokens, verify them in one target forward, commit the accepted ones and the target's next.

    Where γ is automatic, it follows from the chances of the tokens themselves: see `budget.Sureness`.
    """
    draft = draft_in_turn(pair)
    costs = LiveCosts(cost_model(pair, draft, in_turn=True))
    sureness = Sureness(fitted_chances(pair.draft.folder), settings)
    room = room_for(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    first = read_prompt(pair, prompt_ids, settings, room)
    yield first
    if first.stop:
        return
    text, acceptance, draft_has = [*prompt_ids, first.committed[0].token], PRIOR, 0
    for number in count():
        budget, worth = settings.budget, None
        if budget == "auto":
            average = settings.near(speculative_budget(costs, acceptance.share, context=len(text)))
            budget, worth = sureness.bounds(average, acceptance.share, first=True)
        # The target adds a token of its own, so one fewer than fits is drafted; but one at least.
        length = max(1, min(budget, room.limit - len(text) - 1))
        plan = chain_plan(length, settings, number, worth)
        draft.submit(DraftRequest(None, draft_has, tuple(text[draft_has:]), plan))
        drafted = draft.result(stopped=runtime(pair).stopped)
        chain = drafted.tree()
        own, span = forward_tree(pair, text, chain, settings)
        iteration = judge(chain, own, settings, draft_row=row_of_draft(draft, own.logits.shape[-1]))
        iteration.target, iteration.sync, iteration.draft = span, time.perf_counter(), drafted.steps
        iteration.budget = len(chain) if worth else budget
        iteration.factors, iteration.candidates = costs.factors, drafted.candidates
        costs.observe(span, drafted.steps, len(text))
        sureness.observe(chain)
        acceptance += Acceptance(accepted=iteration.accepted, tested=iteration.tested)
        # The last drafted token was never forwarded by the draft.
        draft_has = len(text) + min(iteration.accepted, len(chain) - 1)
        keep_accepted(pair, text, chain)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return


def chain_plan(length: int, settings: Settings, number: int, worth: Worth | None) -> Plan:
    """One sequence of `length` tokens, or of as many as are worth it."""
    fresh = number if settings.by_rejection else None
    return Plan(length, (length,) * MAX_SEQUENCES, 1, "batched", length, settings.sampling, fresh, worth)


SPECULATIVE = Method(
    id="speculative",
    title="SpS",
    name="Speculative decoding (SpS)",
    about="A draft model writes γ tokens, then the target verifies them in one forward: in turn, on all cores.",
    decode=speculative,
    draft=True,
    proposers=(DRAFT,),
    settings=("acceptance", "budget", "budget_offset", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance", "gamma"),
    caption="drafted, then checked",
    verified="The draft proposed {tokens:# token|# tokens} ({chances}); {target}",
    nothing="The draft proposed nothing",
    expected=IN_TURN,
    colour="#2f7fd6",
    shape="/",
    mark="diamond",
)
