"""What the methods share that propose first and verify then: one target forward over a tree of proposed tokens."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from torch import Tensor

from duoviz.decoding.iteration import Committed, Iteration, Node, Room, Span, room_for, timed_forward
from duoviz.decoding.prefill import target_prefill
from duoviz.decoding.sampling import Choices
from duoviz.decoding.settings import Settings
from duoviz.decoding.verification import check, gap, mark
from duoviz.models.pair import Pair

# From the text so far and the longest run that still fits to how many of the text's last tokens were found elsewhere,
# and the tree proposed for that, parents before children.
Propose = Callable[[list[int], int], tuple[int, list[Node]]]


def propose_and_verify(pair: Pair, prompt_ids: list[int], settings: Settings, propose: Propose) -> Iterator[Iteration]:
    """Decode with proposals that cost no model: look up, verify in one target forward, commit.

    Nothing proposed is a target forward of one token.
    """
    # No distribution proposed the tokens, so the classical rule has no q to divide by.
    settings = replace(settings, acceptance="coupled")
    room = room_for(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    first = read_prompt(pair, prompt_ids, settings, room)
    yield first
    if first.stop:
        return
    text = [*prompt_ids, first.committed[0].token]
    while True:
        # The target adds a token of its own, so one fewer than fits is proposed.
        matched, tree = propose(text, room.limit - len(text) - 1)
        tree = tree[: pair.target.context_limit - len(text)]
        own, span = forward_tree(pair, text, tree, settings)
        iteration = judge(tree, own, settings)
        iteration.target, iteration.sync = span, time.perf_counter()
        iteration.matched = text[len(text) - matched :]
        keep_accepted(pair, text, tree)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        yield iteration
        if iteration.stop:
            return


def read_prompt(pair: Pair, prompt_ids: Sequence[int], settings: Settings, room: Room) -> Iteration:
    """The first iteration: the target reads the prompt and writes a token, and nothing delays it. Raises Stopped.

    The published methods propose before it. That costs a forward of its own after the prompt, for one proposal.
    """
    logits, span = target_prefill(pair, prompt_ids)
    iteration = judge([], Choices(logits, [len(prompt_ids)], settings.sampling), settings)
    iteration.target, iteration.sync = span, time.perf_counter()
    iteration.committed, iteration.stop = room.cut(len(prompt_ids), iteration.committed, pair.eos)
    return iteration


def forward_tree(pair: Pair, text: Sequence[int], tree: Sequence[Node], settings: Settings) -> tuple[Choices, Span]:
    """Forward the text's last token, and the proposed tokens after it.

    Returns what the target itself writes after the text (row 0) and after each node i (row i + 1), and the span.
    """
    root = len(text) - 1
    parents = None if is_chain(tree) else [root - 1, *(root + 1 + node.parent for node in tree)]
    logits, span = timed_forward(pair.target, [text[-1], *(node.token for node in tree)], parents=parents)
    places = [len(text) + depth for depth in (0, *depths(tree))]
    return Choices(logits, places, settings.sampling), span


def is_chain(tree: Sequence[Node]) -> bool:
    return all(node.parent == index - 1 for index, node in enumerate(tree))


def depths(tree: Sequence[Node]) -> list[int]:
    """1 for a node that hangs on the text, 2 for its children, …"""
    found: list[int] = []
    for node in tree:
        found.append(1 if node.parent < 0 else found[node.parent] + 1)
    return found


def judge(
    tree: list[Node], own: Choices, settings: Settings, *, draft_row: Callable[[int], Tensor] | None = None
) -> Iteration:
    """What becomes of the proposed tokens, with the target's own token after them; the caller fills in the times."""
    verdict = check(tree, own, settings, draft_row=draft_row)
    mark(tree, verdict)
    for index in {*verdict.path, *verdict.rejected}:
        tree[index].p = own.probability(tree[index].parent + 1, tree[index].token)
    last = verdict.path[-1] if verdict.path else -1
    rows = [tree[index].parent + 1 for index in verdict.path]
    committed = [
        Committed(tree[index].token, tree[index].source, gap(own, row, settings))
        for index, row in zip(verdict.path, rows, strict=True)
    ]
    committed.append(Committed(verdict.own, "target", gap(own, last + 1, settings)))
    mine = Node(verdict.own, last, "target", p=own.probability(last + 1, verdict.own), status="correction")
    iteration = Iteration(Span(0.0, 0.0, 0), 0.0, committed, checked=[*tree, mine])
    iteration.accepted = len(verdict.path)
    iteration.tested = iteration.accepted + bool(verdict.rejected)
    if iteration.tested:
        iteration.outcome = "rejection" if verdict.rejected else "hit"
    return iteration


def keep_accepted(pair: Pair, text: Sequence[int], tree: Sequence[Node]) -> None:
    """Rollback: of the tree, the target's cache keeps the accepted path."""
    path = [len(text) + index for index, node in enumerate(tree) if node.status == "accepted"]
    if path and not is_chain(tree):
        pair.target.keep(path)
    else:
        pair.target.crop(len(text) + len(path))
