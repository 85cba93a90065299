"""DuoDecoding: the draft works on its own device while the target verifies what it proposed before."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, cast

from duoviz.decoding.budget import ROUNDS, draft_budget, plan_draft, prior, seconds_with, worthwhile_length
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.drafting import DraftPlan, DraftRequest, DraftResult
from duoviz.decoding.iteration import Iteration, Node
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.theory import in_parallel
from duoviz.decoding.verification import discard

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan
    from duoviz.decoding.worker.process import ProcessDraft

# Draft for TRIES iterations; if the expected speed-up is below GAIN, pause for PAUSE iterations, doubling each time.
TRIES, GAIN, PAUSE = 4, 1.05, 16


class DuoDecoding(Drafter):
    """Each iteration runs one target forward and one round of drafting at the same time.

    arXiv 2503.00784, §3.1: the target verifies the pending tokens d_1..d_m while the draft grows k sequences after
    them; then one sequence or none is kept. (PEARL, arXiv 2408.11850, and Speculative Speculative Decoding, arXiv
    2603.03251, draft in parallel too.) The target goes on alone until the draft has read the prompt; sequences for a
    text that has moved on meanwhile are discarded.
    """

    def __init__(self, plan: RunPlan):
        self.plan, self.draft, self.acceptance = plan, cast("ProcessDraft", plan.draft), prior()
        # branch: index of the sequence that was kept; pending: its tokens that are not verified yet.
        self.branch: int | None = None
        self.pending: list[Node] = []
        # draft_has: how many of the text's tokens the draft's cache holds.
        self.draft_has = self.number = self.length = self.asked_at = 0
        # iterations: since drafting began, or paused; pause: length of the next pause.
        self.iterations, self.pause = 0, PAUSE
        # See `worthwhile_length`.
        self.worthwhile, self.speed = 2, inf
        self.draft_plan: DraftPlan
        self.result: DraftResult | None = None

    @property
    def reads_prompt(self) -> bool:
        """Whether the draft's first answer has not come yet."""
        return self.number > 0 and not self.draft_has

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        return self.pending

    def start(self, text: Sequence[int], tree: Sequence[Node]) -> None:
        self.length, self.result = len(text), None
        if self.reads_prompt or self.idle or (self.number and self.asked_at == len(text)):
            return
        rows, context, costs = len(tree) + 1, len(text) + len(tree), self.plan.costs.model
        if self.number % ROUNDS == 0:
            budget = draft_budget(costs, rows=1, context=context)
            self.worthwhile, self.speed = worthwhile_length(costs, self.acceptance, context=context, longest=budget)
        self.draft_plan = plan_draft(
            costs,
            self.plan.settings,
            length=self.worthwhile,
            rows=rows,
            context=context,
            longest=max(1, self.plan.length_limit.limit - context),
            number=self.number,
            ends=self.plan.pair.eos,
        )
        self.draft.submit(self.request(text, self.draft_plan))
        self.asked_at, self.number = len(text), self.number + 1

    def request(self, text: Sequence[int], plan: DraftPlan) -> DraftRequest:
        """Draft after the text and the pending tokens."""
        if self.branch is None:
            return DraftRequest(None, self.draft_has, tuple(text[self.draft_has :]), plan)
        last = self.pending[-1].token if self.pending else text[-1]
        return DraftRequest(self.branch, self.draft_has, (last,), plan, kept=len(self.pending))

    def join(self) -> list[Node]:
        if not self.number or self.idle:
            return []
        if self.reads_prompt and not self.draft.ready():
            # The target itself writes meanwhile what the draft would guess after the prompt.
            self.draft.enough()
            return []
        if self.plan.settings.budget == "auto" and self.plan.settings.draft_mode == "batched":
            # If another program held up the draft, the target takes what there is.
            self.draft.enough()
        self.result = result = self.draft.result(stopped=self.plan.stopped)
        nodes = result.tree()
        if self.asked_at != self.length:
            discard(nodes)
        return nodes

    def observe(self, text, iteration, target_tokens) -> None:
        self.conclude(text, iteration)
        if not iteration.stop:
            # Now, so that the draft works while the loop's caller handles this iteration.
            self.start(text, self.pending)

    def conclude(self, text: Sequence[int], iteration: Iteration) -> None:
        """Update acceptance, pending tokens and the draft's state for the next iteration."""
        length, result = len(text) - len(iteration.committed), self.result
        reads_prompt = length == len(self.plan.prompt_ids)
        iteration.mode = "prefill" if reads_prompt else "post" if self.pending else "alone" if self.idle else "pre"
        if result is not None:
            kept = [node for node in iteration.drafted if node.status == "pending"]
            accepted = iteration.accepted_pending
            self.acceptance.count(
                iteration.outcome,
                accepted=iteration.accepted,
                tested=iteration.tested,
                pending=accepted,
                taken=1 + len(kept),
            )
            # Not the target's own token at the end, nor what was committed after the request.
            self.draft_has = self.asked_at + accepted
            self.branch = None if iteration.sequence is None else iteration.sequence - 1
            self.pending = [Node(node.token, index - 1, "draft", q=node.q) for index, node in enumerate(kept)]
            iteration.draft, iteration.candidates, iteration.theta = result.steps, result.candidates, result.theta
            iteration.budget, iteration.sequences = self.draft_plan.budget, len(result.sequences)
            iteration.longest = max(len(sequence.tokens) for sequence in result.sequences)
        self.pause_or_go_on(length)

    def pause_or_go_on(self, context: int) -> None:
        """Pause the draft while it is not expected to pay, and try again now and then.

        At once where the budget is a single step, which never gains anything; never where the user set a budget, nor in
        the authors' mode (`paper`).
        """
        settings = self.plan.settings
        if settings.budget != "auto" or settings.draft_mode == "paper" or self.pending:
            return
        alone = self.plan.costs_of(self.plan.alone)
        # Until the target has run alone, its times beside the draft stand in: alone it takes no longer.
        costs = (alone if alone.target.count else self.plan.costs).model
        self.iterations += 1
        if self.idle and self.iterations > self.pause:
            self.idle, self.iterations, self.pause = False, 0, 2 * self.pause
        elif (
            not self.idle
            and self.iterations > (TRIES if self.worthwhile > 1 or self.number > 1 else 0)
            and self.speed * seconds_with(costs, 1, context=context) < GAIN
        ):
            self.idle, self.iterations = True, 0
            self.branch = None


DUODECODING = Method(
    id="duodecoding",
    title="DuoDecoding",
    name="DuoDecoding",
    about="The draft writes several sequences on its own device while the target verifies the previous ones.",
    drafter=DuoDecoding,
    draft=True,
    parallel=True,
    proposers=(DRAFT,),
    settings=("acceptance", "sequences", "budget", "budget_offset", "draft_mode"),
    statuses=("pending", *VERIFYING),
    numbers=("acceptance", "overlap", "k", "gamma", "longest", "theta"),
    expected=in_parallel,
)
