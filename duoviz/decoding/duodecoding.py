"""DuoDecoding: the draft works on its own device while the target verifies what it proposed before."""

import time
from collections.abc import Iterator, Sequence
from itertools import count

from duoviz.decoding.budget import LiveCosts, Sureness, plan_draft, prior
from duoviz.decoding.calibration import cost_model
from duoviz.decoding.chances import fitted_chances
from duoviz.decoding.draft_requests import DraftRequest
from duoviz.decoding.draft_worker import Draft, row_of_draft, start_draft
from duoviz.decoding.drafting import Drafted, Plan
from duoviz.decoding.iteration import Committed, Iteration, Node, Room, Span, room_for, timed_forward
from duoviz.decoding.method import DRAFT, VERIFYING, Method
from duoviz.decoding.prefill import target_prefill
from duoviz.decoding.runtime import runtime
from duoviz.decoding.sampling import Choices
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import IN_PARALLEL, Acceptance
from duoviz.decoding.verification import Verdict, check, gap, mark
from duoviz.models.pair import Pair


def running_draft(pair: Pair) -> Draft:
    """The pair's draft, loaded and ready; started now if none is running. Raises DraftDied."""
    kept = runtime(pair)
    if kept.draft is not None and not kept.draft.alive():
        kept.draft.close()
        kept.draft = None
    if kept.draft is None:
        kept.draft = start_draft(pair.draft.load, pair.cores.draft)
    kept.draft.wait_until_started()
    return kept.draft


def duodecoding(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Each iteration runs one target forward and one round of drafting at the same time (§3.1).

    The target checks the pending tokens d_1..d_m while the draft grows k sequences after them; at
    the synchronisation point the sequences are kept, or one of them, or none. Raises DraftDied.
    """
    draft = running_draft(pair)
    costs, acceptance = LiveCosts(cost_model(pair, draft)), prior()
    sureness = Sureness(fitted_chances(pair.draft.folder), settings)
    room = room_for(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    text = list(prompt_ids)
    pending: list[Node] = []

    for iteration in prefill(pair, draft, costs, acceptance, sureness, settings, room, text):
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return
    branch, pending = surviving_branch(iteration)
    # What the draft's cache already holds of the text: the prompt (and, with a branch, that branch).
    draft_has = len(prompt_ids)

    for number in count(1):
        context = len(text) + len(pending)
        longest = max(1, room.limit - context)
        rows = len(pending) + 1
        how = {"rows": rows, "context": context, "longest": longest, "number": number}
        plan = plan_draft(costs, acceptance, sureness, settings, **how)
        draft.submit(next_request(text, pending, branch, draft_has, plan))
        logits, span = timed_forward(pair.target, [text[-1], *(node.token for node in pending)])
        drafted = draft.result(stopped=runtime(pair).stopped)
        sync = time.perf_counter()
        own = Choices(logits, range(len(text), context + 1), settings.sampling)
        iteration = synchronise(pending, own, drafted, draft, settings)
        iteration.mode, iteration.target, iteration.sync = "post" if pending else "pre", span, sync
        iteration.budget, iteration.factors = plan.budget, costs.factors
        costs.observe(span, drafted.steps, context)
        sureness.observe(pending)
        taken = 1 + sum(node.status == "pending" for node in iteration.drafted)
        acceptance.count(
            iteration.outcome,
            accepted=iteration.accepted,
            tested=iteration.tested,
            pending=iteration.accepted_pending,
            taken=taken,
        )
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
    pair: Pair,
    draft: Draft,
    costs: LiveCosts,
    acceptance: Acceptance,
    sureness: Sureness,
    settings: Settings,
    room: Room,
    prompt_ids: Sequence[int],
) -> Iterator[Iteration]:
    """Both sides read the prompt; the target goes on alone until the draft is ready.

    The first token is committed as soon as the target's prefill ends. Drafted sequences count only if they are
    ready by then; later ones hang on a text that has moved on. A target on the processor reads with all cores,
    and the draft after it: on its share alone it would keep everybody waiting for the first token.
    """
    text = list(prompt_ids)
    longest = max(1, room.limit - len(text))
    how = {"rows": 1, "context": len(text), "longest": longest, "number": 0}
    plan = plan_draft(costs, acceptance, sureness, settings, **how)
    request = DraftRequest(keep=None, crop=0, new_tokens=tuple(text), plan=plan)
    beside = pair.target.device != "cpu"
    if beside:
        draft.submit(request)
    logits, span = target_prefill(pair, text)
    if not beside:
        draft.submit(request)
    mode = "prefill"
    while True:
        drafted = draft.result() if draft.ready() else None
        sync = time.perf_counter()
        own = Choices(logits, [len(text)], settings.sampling)
        if drafted and mode == "prefill":
            iteration = synchronise([], own, drafted, draft, settings)
        else:
            iteration = alone(own, drafted, draft, settings)
        iteration.mode, iteration.target, iteration.sync = mode, span, sync
        if drafted:
            iteration.budget, iteration.factors = plan.budget, costs.factors
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop or drafted:
            return
        logits, span = timed_forward(pair.target, [text[-1]])
        mode = "pre"


def alone(own: Choices, late: Drafted | None, draft: Draft, settings: Settings) -> Iteration:
    """An iteration in which nothing drafted could be used: the target commits its own token.

    late: sequences that came after the text had moved on; they are all discarded.
    """
    verdict = check([], own, settings, draft_row=row_of_draft(draft, own.logits.shape[-1]))
    node = Node(verdict.own, -1, "target", p=own.probability(0, verdict.own), status="correction")
    committed = [Committed(verdict.own, "target", gap(own, 0, settings))]
    iteration = unfinished(committed, late)
    iteration.checked = [node]
    mark(iteration.drafted, Verdict([], None, []))
    return iteration


def unfinished(committed: list[Committed], drafted: Drafted | None) -> Iteration:
    """An iteration with what was drafted; the caller fills in its times and its verdict."""
    iteration = Iteration(Span(0.0, 0.0, 0), 0.0, committed)
    if drafted:
        iteration.draft, iteration.drafted = drafted.steps, drafted.tree()
        iteration.theta, iteration.candidates = drafted.theta, drafted.candidates
        iteration.sequences = len(drafted.branches)
        iteration.longest = max(len(branch.tokens) for branch in drafted.branches)
    return iteration


def next_request(text: list[int], pending: list[Node], branch: int | None, draft_has: int, plan: Plan) -> DraftRequest:
    """What the draft needs to know to go on after text + pending."""
    if branch is None:
        return DraftRequest(None, draft_has, tuple(text[draft_has:]), plan)
    last = pending[-1].token if pending else text[-1]
    return DraftRequest(branch, draft_has, (last,), plan, kept=len(pending))


def synchronise(pending: list[Node], own: Choices, drafted: Drafted, draft: Draft, settings: Settings) -> Iteration:
    """Check the pending tokens and, after the last of them, the first tokens of the sequences just drafted."""
    m = len(pending)
    tree = drafted.tree()
    firsts = [index for index, node in enumerate(tree) if node.parent == -1]
    tested = [*pending, *(Node(tree[index].token, m - 1, "draft", q=tree[index].q) for index in firsts)]
    verdict = check(tested, own, settings, draft_row=row_of_draft(draft, own.logits.shape[-1]))
    for index in {*verdict.path, *verdict.rejected}:
        tested[index].p = own.probability(tested[index].parent + 1, tested[index].token)
    mark(tested, verdict)
    for index, node in zip(firsts, tested[m:], strict=True):
        tree[index].p, tree[index].status = node.p, node.status

    committed = [
        Committed(tested[index].token, "draft", gap(own, row, settings)) for row, index in enumerate(verdict.path)
    ]
    iteration = unfinished(committed, drafted)
    iteration.checked, iteration.drafted = list(pending), tree
    iteration.accepted = len(verdict.path)
    if verdict.own is None:
        iteration.outcome, iteration.tested = "hit", iteration.accepted
        iteration.sequence = 1 + verdict.path[-1] - m
        take_branch(tree, firsts[iteration.sequence - 1])
        return iteration
    row = len(verdict.path)
    iteration.outcome, iteration.tested = "miss" if row == m else "rejection", row + 1
    committed.append(Committed(verdict.own, "target", gap(own, row, settings)))
    mine = Node(verdict.own, -1, "target", p=own.probability(row, verdict.own), status="correction")
    for node in tree:
        if node.status == "pending":
            node.status = "discarded"
    if iteration.outcome == "miss":
        tree.append(mine)
    else:
        mine.parent = row - 1
        iteration.checked.append(mine)
    return iteration


def take_branch(tree: list[Node], hit: int) -> None:
    """The branch whose first token is at `hit` stays; all other tokens are discarded."""
    kept = hit
    for index, node in enumerate(tree):
        if node.parent == kept and index > hit:
            kept = index
        elif node.status == "pending":
            node.status = "discarded"


def surviving_branch(iteration: Iteration) -> tuple[int | None, list[Node]]:
    """The number of the branch that was taken (from 0) and its pending tokens, as a new chain."""
    if iteration.sequence is None:
        return None, []
    kept = [node for node in iteration.drafted if node.status == "pending"]
    chain = [Node(node.token, index - 1, "draft", q=node.q) for index, node in enumerate(kept)]
    return iteration.sequence - 1, chain


DUODECODING = Method(
    id="duodecoding",
    title="DuoDecoding",
    name="DuoDecoding",
    about="The draft writes several sequences on its own device while the target verifies what it wrote before.",
    decode=duodecoding,
    draft=True,
    parallel=True,
    proposers=(DRAFT,),
    settings=("acceptance", "sequences", "budget", "budget_offset", "draft_mode"),
    statuses=("pending", *VERIFYING),
    numbers=("acceptance", "overlap", "k", "gamma", "longest", "theta"),
    expected=IN_PARALLEL,
    colour="#12a594",
    shape="",
    mark="star",
)
