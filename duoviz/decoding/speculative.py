"""SpS: classical speculative decoding, draft and target in turn on the target's device."""

import time
from collections.abc import Iterator, Sequence
from itertools import count

from torch import Tensor

from duoviz.decoding.budget import LiveCosts, cost_model, speculative_budget
from duoviz.decoding.draft_worker import DraftRequest, InlineDraft
from duoviz.decoding.drafting import Plan
from duoviz.decoding.duodecoding import check, gap
from duoviz.decoding.iteration import Committed, Iteration, Node, Room, Span, timed_forward, timed_prefill
from duoviz.decoding.sampling import Choices
from duoviz.decoding.settings import MAX_SEQUENCES, Settings
from duoviz.decoding.verification import mark
from duoviz.models.pairs import Pair

# What γ = auto assumes before anything was tested: as if ten tokens had been, and six accepted.
PRIOR_TESTED, PRIOR_ACCEPTED = 10, 6


def draft_in_turn(pair: Pair) -> InlineDraft:
    """The draft in the target's process and on its device; loaded on the first call."""
    if "draft in turn" not in pair.resources:
        device = pair.target.device
        options = {} if device == "cpu" else {"device": device, "precision": pair.target.precision}
        pair.resources["draft in turn"] = InlineDraft(pair.load_draft(**options))
    return pair.resources["draft in turn"]


def speculative(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Draft γ tokens, verify them in one target forward, commit the accepted ones and the target's next.

    In the published order, also at the start: the target's first forward reads the prompt and the
    first γ drafted tokens.
    """
    draft = draft_in_turn(pair)
    costs = LiveCosts(cost_model(pair, draft, in_turn=True))
    room = Room.of(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    text = list(prompt_ids)
    tested, accepted = PRIOR_TESTED, PRIOR_ACCEPTED
    draft_has = 0
    pair.target.crop(0)
    for number in count():
        budget = settings.budget
        if budget == "auto":
            budget = speculative_budget(costs, accepted / tested, context=len(text))
        # The target adds a token of its own, so one fewer than fits is drafted; but one at least.
        length = max(1, min(budget, room.limit - len(text) - 1))
        draft.submit(DraftRequest(None, draft_has, tuple(text[draft_has:]), chain_plan(length, settings, number)))
        drafted = draft.result()
        chain = drafted.tree()
        logits, span = forward_chain(pair, text[pair.target.length :], chain)
        own = Choices(logits, range(len(text), len(text) + len(chain) + 1), settings.sampling)
        iteration = judge_chain(chain, own, draft, settings)
        iteration.target, iteration.sync, iteration.draft = span, time.perf_counter(), drafted.steps
        iteration.budget, iteration.factors, iteration.candidates = budget, costs.factors, drafted.candidates
        costs.observe(span, drafted.steps, len(text))
        tested, accepted = tested + iteration.tested, accepted + iteration.accepted
        # The last drafted token was never forwarded by the draft.
        draft_has = len(text) + min(iteration.accepted, len(chain) - 1)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return
        pair.target.crop(len(text) - 1)


def chain_plan(length: int, settings: Settings, number: int) -> Plan:
    """One sequence of `length` tokens."""
    fresh = number if settings.by_rejection else None
    return Plan(length, (length,) * MAX_SEQUENCES, 1, "batched", length, length, settings.sampling, fresh)


def forward_chain(pair: Pair, new: Sequence[int], chain: Sequence[Node]) -> tuple[Tensor, Span]:
    """Forward what is new in the text, and the drafted tokens.

    Returns logits [1 + drafted, vocab], from the text's last token on. Raises Stopped.
    """
    start = time.perf_counter()
    if len(new) > 1:
        timed_prefill(pair.target, new[:-1], stopped=pair.stopped)
    logits, span = timed_forward(pair.target, [new[-1], *(node.token for node in chain)])
    return logits, Span(start, span.end, len(new) + len(chain))


def judge_chain(chain: list[Node], own: Choices, draft: InlineDraft, settings: Settings) -> Iteration:
    """What becomes of the drafted tokens, with the target's own token after them."""
    verdict = check(chain, own, draft, settings)
    mark(chain, verdict)
    accepted = len(verdict.path)
    for index in {*verdict.path, *verdict.rejected}:
        chain[index].p = own.probability(index, chain[index].token)
    mine = Node(verdict.own, accepted - 1, "target", p=own.probability(accepted, verdict.own), status="correction")
    committed = [Committed(chain[index].token, "draft", gap(own, index, settings)) for index in verdict.path]
    committed.append(Committed(verdict.own, "target", gap(own, accepted, settings)))
    iteration = Iteration(Span(0.0, 0.0, 0), 0.0, committed, checked=[*chain, mine])
    iteration.accepted, iteration.tested = accepted, min(accepted + 1, len(chain))
    iteration.outcome = "hit" if accepted == len(chain) else "rejection"
    return iteration
