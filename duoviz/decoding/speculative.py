"""SpS: classical speculative decoding, draft and target in turn on the target's device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duoviz.decoding.budget import ROUNDS, speculative_budget
from duoviz.decoding.costs import ROW_COUNTS
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.drafting import DraftPlan, DraftRequest, DraftResult, StopRule
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.settings import MAX_SEQUENCES, Settings
from duoviz.decoding.theory import Acceptance, in_turn

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan

# The acceptance before anything was tested.
PRIOR = Acceptance(accepted=6, tested=10)
# Where drafting does not pay, it is tried again after PAUSE iterations.
PAUSE = 12


class Speculative(Drafter):
    """Draft γ tokens; the target verifies them in one forward and adds its own.

    Leviathan et al. 2023 (arXiv 2211.17192, §2.1); Chen et al. 2023 (arXiv 2302.01318). An automatic γ follows from
    the costs (Leviathan §3.5). Where the tokens' chances are known, it is that of average tokens: the draft goes on
    while the product of their chances is above that of γ average ones.
    """

    def __init__(self, plan: RunPlan):
        assert plan.draft
        self.plan, self.draft = plan, plan.draft
        self.chances = plan.table and plan.table.at(plan.settings.temperature)
        # draft_has: how many of the text's tokens the draft's cache holds.
        self.acceptance, self.number, self.draft_has, self.paused = PRIOR, 0, 0, 0
        self.result: DraftResult | None = None
        # pays: γ by the costs; budget: the one in force.
        self.pays = 0
        self.budget: int | None = None

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        settings, rule = self.plan.settings, None
        budget = settings.budget
        if budget == "auto":
            rate = self.acceptance.rate or 0.0
            if not self.pays or self.number % ROUNDS == 0:
                self.pays = speculative_budget(self.plan.costs.model, rate, context=len(text))
            if not self.pays and self.paused < PAUSE:
                self.result, self.paused = None, self.paused + 1
                return []
            self.paused = 0
            budget = settings.near(max(1, self.pays))
            if self.chances:
                rule, budget = StopRule(self.chances, rate**budget), max(budget, ROW_COUNTS[-1] - 1)
        plan = chain_plan(max(1, min(budget, longest)), settings, self.number, rule, self.plan.pair.eos)
        self.draft.submit(DraftRequest(None, self.draft_has, tuple(text[self.draft_has :]), plan))
        self.result = result = self.draft.result(stopped=self.plan.stopped)
        self.number += 1
        chain = result.tree()
        self.budget = len(chain) if rule else budget
        return chain

    def observe(self, text, iteration, target_tokens) -> None:
        if (result := self.result) is None:
            iteration.budget = 0 if self.paused else None
            return
        self.acceptance += Acceptance(accepted=iteration.accepted, tested=iteration.tested)
        # The last drafted token was never forwarded by the draft.
        read = len(result.sequences[0].tokens) - 1
        self.draft_has = len(text) - len(iteration.committed) + min(iteration.accepted, read)
        iteration.draft, iteration.budget, iteration.candidates = result.steps, self.budget, result.candidates


def chain_plan(length: int, settings: Settings, number: int, rule: StopRule | None, ends: frozenset[int]) -> DraftPlan:
    """One sequence of at most `length` tokens."""
    fresh, steps = number if settings.by_rejection else None, (length,) * MAX_SEQUENCES
    return DraftPlan(length, steps, 1, "batched", length, settings.sampling, fresh, rule, ends, at_once=True)


SPECULATIVE = Method(
    id="speculative",
    title="SpS",
    name="Speculative decoding (SpS)",
    about="A draft model writes γ tokens, then the target verifies them in one forward pass; both use all cores.",
    drafter=Speculative,
    draft=True,
    proposers=(DRAFT,),
    settings=("acceptance", "budget", "budget_offset", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance", "gamma"),
    caption="drafted, then checked",
    verified="The draft proposed {tokens:# token|# tokens} ({chances})",
    nothing="Guesses are rarely right here, so none is checked",
    expected=in_turn,
)
