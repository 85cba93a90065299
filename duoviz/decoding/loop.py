"""The one loop of all methods: propose, forward, verify, commit, roll back, observe."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count

from torch import Tensor

from duoviz.decoding.costs import LATELY, Costs, Forward
from duoviz.decoding.drafter import Alone, Drafter
from duoviz.decoding.forward import Stopped, timed_forward, timed_prefill
from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.placement import Placement
from duoviz.decoding.plan import RunPlan
from duoviz.decoding.sampling import DraftNotFinite, TargetDraws
from duoviz.decoding.verification import verify
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.team import borrowing

# Every TRY_EVERY iterations, from TRY_FIRST on, run two on the other core set, unless it ran lately.
TRY_EVERY, TRY_FIRST = 48, 6


def decode(plan: RunPlan) -> Iterator[Iteration]:
    """Decode by proposing and verifying, until the text ends: Leviathan et al. 2023 (arXiv 2211.17192), algorithm 1.

    With trees as in SpecInfer (Miao et al. 2023, arXiv 2305.09781), and for parallel drafts with the synchronisation of
    DuoDecoding (arXiv 2503.00784, §3.1). Each iteration computes on its placement's cores; in between the calling
    thread has its own. Where the draft's logits are not finite, the target goes on alone, as the plan's notes then say.
    Raises DraftDied, NotFinite (the target's), Stopped.
    """
    text, drafter, before = list(plan.prompt_ids), plan.method.drafter(plan), 0.0
    try:
        for number in count():
            if plan.stopped():
                raise Stopped
            placement, context = placement_now(plan, drafter, number), len(text)
            # The prompt is read on all cores.
            with on_cores(placement.cores), lending(plan, placement) if number else nullcontext():
                try:
                    iteration = iterate(plan, drafter, text)
                except DraftNotFinite as error:
                    plan.notes.append(f"{error} The target wrote the rest alone.")
                    drafter.close()
                    drafter = Alone()
                    # The iteration begins again.
                    del text[context:]
                    plan.target.crop(min(plan.target.length, context - 1))
                    iteration = iterate(plan, drafter, text)
            # Neither the prompt nor the first iteration on other cores, whose caches are empty, says what others cost.
            if number and number % TRY_EVERY != TRY_FIRST:
                seconds = iteration.sync - before
                learn(plan.costs_of(placement), iteration, context, beside=placement.beside, seconds=seconds)
            before = iteration.sync
            yield iteration
            if iteration.stop:
                return
    finally:
        drafter.close()


def lending(plan: RunPlan, placement: Placement) -> AbstractContextManager:
    """The target's forwards take over the draft's cores once the draft is done, where the placement says so."""
    return borrowing(placement.borrowed, plan.draft.busy) if placement.borrowed and plan.draft else nullcontext()


def placement_now(plan: RunPlan, drafter: Drafter, number: int) -> Placement:
    """Where an iteration computes: as planned, as a target alone, or to probe on the other cores.

    Those may have become faster on a busy machine; they are probed where no run has used them lately.
    """
    trying = plan.other and number % TRY_EVERY in (TRY_FIRST, TRY_FIRST + 1)
    if plan.other and trying and time.time() - plan.costs_of(plan.other).target.seen > LATELY:
        return plan.other
    return plan.alone if drafter.idle else plan.placement


def learn(costs: Costs, iteration: Iteration, context: int, *, beside: bool, seconds: float) -> None:
    """Update the costs by an iteration's forwards, and by its other seconds."""
    target, steps = iteration.target, [Forward(span.tokens, context, span.seconds) for span in iteration.draft]
    costs.observe([Forward(target.tokens, context, target.seconds)], steps)
    waited_for = [iteration.target] if beside else [iteration.target, *iteration.draft]
    costs.observe_overhead(seconds - sum(span.seconds for span in waited_for))


def iterate(plan: RunPlan, drafter: Drafter, text: list[int]) -> Iteration:
    """One iteration; appends what is committed to the text (token ids)."""
    length = len(text)
    reads_prompt = length == len(plan.prompt_ids)
    # The target adds a token of its own, so one fewer than fits is proposed.
    tree = [] if reads_prompt else drafter.propose(text, plan.length_limit.limit - length - 1)
    # On a CPU the prompt is read with all cores, so nothing is drafted meanwhile.
    if not reads_prompt or plan.target.device != "cpu":
        drafter.start(text, tree)
    logits, span = read_prompt(plan) if reads_prompt else forward_tree(plan.target, text, tree)
    target_tokens = TargetDraws(logits, [length + depth for depth in (0, *depths(tree))], plan.settings.sampling)
    cut = partial(plan.length_limit.cut, length, eos=plan.pair.eos)
    iteration = verify(tree, drafter.join(), target_tokens, plan.classical, target=span, cut=cut)
    if tree:
        roll_back(plan.target, length, tree)
    text += [token.token for token in iteration.committed]
    drafter.observe(text, iteration, target_tokens)
    return iteration


def read_prompt(plan: RunPlan) -> tuple[Tensor, Span]:
    """The target's logits [1, vocab] after the prompt, and the span. Raises Stopped."""
    target = plan.target
    with on_cores(plan.pair.cores.all) if target.device == "cpu" else nullcontext():
        target.crop(0)
        return timed_prefill(target, plan.prompt_ids, stopped=plan.stopped)


def forward_tree(target: LanguageModel, text: Sequence[int], tree: Sequence[Node]) -> tuple[Tensor, Span]:
    """Forward the text's last token, and the proposed tokens after it.

    Returns logits [1 + nodes, vocab], after the text (row 0) and after each node i (row i + 1), and the span.
    """
    root = len(text) - 1
    parents = None if is_chain(tree) else [root - 1, *(root + 1 + node.parent for node in tree)]
    return timed_forward(target, [text[-1], *(node.token for node in tree)], parents=parents)


def is_chain(tree: Sequence[Node]) -> bool:
    """Whether every node is the child of the one before it."""
    return all(node.parent == index - 1 for index, node in enumerate(tree))


def depths(tree: Sequence[Node]) -> list[int]:
    """1 for a child of the text's end, 2 for its children, …"""
    levels: list[int] = []
    for node in tree:
        levels.append(1 if node.parent < 0 else levels[node.parent] + 1)
    return levels


def roll_back(target: LanguageModel, length: int, tree: Sequence[Node]) -> None:
    """Rollback: of the tree after a text of this length, the target's cache keeps the accepted path."""
    path = [length + index for index, node in enumerate(tree) if node.status == "accepted"]
    if path and not is_chain(tree):
        target.keep(path)
    else:
        target.crop(length + len(path))
