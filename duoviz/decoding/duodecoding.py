"""DuoDecoding: the draft works on its own device while the target verifies what it proposed before."""

import time
from collections.abc import Iterator, Sequence

from duoviz.decoding.budget import LiveCosts, cost_model, plan_draft
from duoviz.decoding.draft_worker import Draft, DraftRequest, start_draft
from duoviz.decoding.drafting import Drafted, Plan
from duoviz.decoding.iteration import (
    Choices,
    Committed,
    Iteration,
    Node,
    Room,
    Span,
    choose,
    timed_forward,
    timed_prefill,
)
from duoviz.decoding.settings import Settings
from duoviz.decoding.verification import mark, verify
from duoviz.models.pairs import Pair


def running_draft(pair: Pair) -> Draft:
    """The pair's draft, loaded and ready; started now if none is running. Raises DraftDied."""
    draft = pair.resources.get("draft")
    if draft is None or not draft.alive():
        draft = pair.resources["draft"] = start_draft(pair.load_draft, pair.cores.draft)
    draft.wait_until_started()
    return draft


def duodecoding(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Each iteration runs one target forward and one round of drafting at the same time (§3.1).

    The target checks the pending tokens d_1..d_m while the draft grows k sequences after them; at
    the synchronisation point the sequences are kept, or one of them, or none. Raises DraftDied.
    """
    draft = running_draft(pair)
    costs = LiveCosts(cost_model(pair, draft))
    room = Room.of(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    text = list(prompt_ids)
    pending: list[Node] = []
    pair.target.crop(0)

    for iteration in prefill(pair, draft, costs, settings, room, text):
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return
    branch, pending = surviving_branch(iteration)
    # What the draft's cache already holds of the text: the prompt (and, with a branch, that branch).
    draft_has = len(prompt_ids)

    while True:
        context = len(text) + len(pending)
        plan = plan_draft(costs, settings, rows=len(pending) + 1, context=context, longest=max(1, room.limit - context))
        draft.submit(next_request(text, pending, branch, draft_has, plan))
        logits, span = timed_forward(pair.target, [text[-1], *(node.token for node in pending)])
        own = choose(logits)
        drafted = draft.result()
        mode = "post" if pending else "pre"
        iteration = synchronise(pending, own, drafted, plan, mode, span, time.perf_counter())
        costs.observe(span, drafted.steps, context)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        # The verified tokens that the draft has seen: not the target's own token at the end.
        draft_has = len(text) + iteration.accepted_pending
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return
        branch, pending = surviving_branch(iteration)
        pair.target.crop(len(text) - 1)


def prefill(
    pair: Pair, draft: Draft, costs: LiveCosts, settings: Settings, room: Room, prompt_ids: Sequence[int]
) -> Iterator[Iteration]:
    """Both sides read the prompt at once; the target goes on alone until the draft is ready.

    The first token is committed as soon as the target's prefill ends. Drafted sequences count only
    if they are ready by then; later ones hang on a text that has moved on.
    """
    text = list(prompt_ids)
    plan = plan_draft(costs, settings, rows=1, context=len(text), longest=max(1, room.limit - len(text)))
    draft.submit(DraftRequest(keep=None, crop=0, new_tokens=tuple(text), plan=plan))
    logits, span = timed_prefill(pair.target, text, stopped=pair.stopped)
    mode = "prefill"
    while True:
        own = choose(logits)
        if draft.ready():
            drafted = draft.result()
            fresh = mode == "prefill"
        else:
            drafted, fresh = None, False
        if fresh:
            iteration = synchronise([], own, drafted, plan, mode, span, time.perf_counter())
        else:
            iteration = alone(own, mode, span, drafted, plan)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop or drafted is not None:
            return
        logits, span = timed_forward(pair.target, [text[-1]])
        mode = "pre"


def alone(own: Choices, mode: str, span: Span, late: Drafted | None, plan: Plan) -> Iteration:
    """An iteration in which nothing drafted could be used: the target commits its own token.

    late: sequences that came after the text had moved on; they are all discarded.
    """
    token = own.tokens[0]
    node = Node(token, -1, "target", p=own.probability(0, token), status="correction")
    committed = [Committed(token, "target", own.gaps[0])]
    iteration = Iteration(span, time.perf_counter(), committed, mode=mode, checked=[node])
    if late:
        iteration.draft, iteration.drafted = late.steps, late.tree()
        iteration.theta, iteration.candidates = late.theta, late.candidates
        iteration.budget, iteration.sequences = plan.budget, len(late.branches)
        mark(iteration.drafted, [], tested_at=None)
    return iteration


def next_request(text: list[int], pending: list[Node], branch: int | None, draft_has: int, plan: Plan) -> DraftRequest:
    """What the draft needs to know to go on after text + pending."""
    if branch is None:
        return DraftRequest(None, draft_has, tuple(text[draft_has:]), plan)
    last = pending[-1].token if pending else text[-1]
    return DraftRequest(branch, draft_has, (last,), plan)


def synchronise(
    pending: list[Node], own: Choices, drafted: Drafted, plan: Plan, mode: str, span: Span, sync: float
) -> Iteration:
    """Check the pending tokens, then look for the target's next token among the first tokens drafted."""
    tree = drafted.tree()
    verdict = verify(pending, own.tokens)
    for index, node in enumerate(pending):
        node.p = own.probability(index, node.token)
    last = len(verdict.path)
    committed = [Committed(pending[i].token, "draft", own.gaps[i]) for i in verdict.path]
    all_accepted = last == len(pending)
    hit = next((n for n, node in enumerate(tree) if node.parent == -1 and node.token == verdict.own), None)
    mine = Node(verdict.own, -1, "target", p=own.probability(last, verdict.own), status="correction")
    checked, sequence = list(pending), None

    if not all_accepted:
        outcome = "rejection"
        mark(pending, verdict.path, tested_at=last - 1)
        mark(tree, [], tested_at=None)
        mine.parent = last - 1
        checked.append(mine)
    else:
        mark(pending, verdict.path, tested_at=None)
        for node in tree:
            if node.parent == -1:
                node.p = own.probability(last, node.token)
        if hit is None:
            outcome = "miss"
            mark(tree, [], tested_at=-1)
            tree.append(mine)
        else:
            outcome = "hit"
            sequence = 1 + [n for n, node in enumerate(tree) if node.parent == -1].index(hit)
            take_branch(tree, hit)
    committed.append(Committed(verdict.own, "draft" if outcome == "hit" else "target", own.gaps[last]))
    return Iteration(
        span,
        sync,
        committed,
        mode=mode,
        draft=drafted.steps,
        budget=plan.budget,
        theta=drafted.theta,
        sequences=len(drafted.branches),
        candidates=drafted.candidates,
        checked=checked,
        drafted=tree,
        outcome=outcome,
        tested=last + 1,
        accepted=last + (outcome == "hit"),
        sequence=sequence,
    )


def take_branch(tree: list[Node], hit: int) -> None:
    """Accept the first token of the branch at `hit`; its other tokens stay pending, other branches go."""
    mark(tree, [hit], tested_at=None)
    kept = hit
    for index in range(hit + 1, len(tree)):
        if tree[index].parent == kept:
            tree[index].status = "pending"
            kept = index


def surviving_branch(iteration: Iteration) -> tuple[int | None, list[Node]]:
    """The number of the branch that was taken (from 0) and its pending tokens, as a new chain."""
    if iteration.sequence is None:
        return None, []
    kept = [node for node in iteration.drafted if node.status == "pending"]
    chain = [Node(node.token, index - 1, "draft", q=node.q) for index, node in enumerate(kept)]
    return iteration.sequence - 1, chain
