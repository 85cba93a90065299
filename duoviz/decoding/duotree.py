"""DuoTree, our own: one tree of tokens, grown and verified as far as measured costs and chances say that it pays."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from duoviz.decoding.budget import LiveCosts
from duoviz.decoding.calibration import cost_model
from duoviz.decoding.chances import chances_of
from duoviz.decoding.drafting import ended_now, proposals
from duoviz.decoding.growing import Tree, as_nodes, best_tokens, next_width
from duoviz.decoding.in_turn import forward_tree, judge, keep_accepted
from duoviz.decoding.iteration import Iteration, Span, room_for, timed_forward, timed_prefill
from duoviz.decoding.prompt_lookup import find
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.copying import NGrams
from duoviz.models.embedded import DRAFT_FOLDER
from duoviz.models.pairs import Pair

LONGEST_COPY = 10
LOG=[]


def duotree(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    settings = replace(settings, acceptance="coupled")
    model = draft_in_turn(pair).loop.model
    costs = LiveCosts(cost_model(pair, draft_in_turn(pair), in_turn=True))
    chances = chances_of(DRAFT_FOLDER)
    room = room_for(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit)
    text, known = list(prompt_ids), NGrams(4)
    sampled = settings.temperature > 0
    pair.target.crop(0)
    model.crop(0)
    overhead = 0.001
    for number in count():
        begin = time.perf_counter()
        known.append(text[len(known.tokens) :])
        tree = Tree(chances, max(1, room.limit - len(text) - 1))
        matched, start = find(known, "latest")
        if matched:
            tree.add_chain(text[start : start + LONGEST_COPY], matched)
        logits, span = timed_prefill(model, text[model.length :], stopped=runtime(pair).stopped)
        steps, root, context = [span], model.length - 1, len(text)
        _, q, score = proposals(logits, [context], settings.sampling)
        tree.add_children(-1, *best_tokens(score[0], q[0], 4), sampled=sampled)
        steps[-1] = ended_now(span)
        target_seconds = costs.target_time(np.arange(1, 34), context)
        while True:
            spent = len(steps) * 0 + sum(step.end - step.start for step in steps if step.tokens <= 8) + overhead
            width, now, after = next_width(tree, spent, target_seconds, costs, context)
            if not width:
                break
            expand(model, tree, tree.waiting()[:width], root, context, settings, steps, sampled)
        chosen = tree.chosen(now.rows)
        nodes = as_nodes(tree, chosen)
        own, span = forward_tree(pair, text, nodes, settings)
        iteration = judge(nodes, own, settings)
        iteration.target, iteration.sync, iteration.draft = span, time.perf_counter(), steps
        costs.observe(span, steps[1:], context)
        LOG.append((sum(tree.nodes[i].value for i in chosen), iteration.accepted, len(chosen), float(target_seconds[min(32,len(chosen))]), span.end-span.start, sum(s.end-s.start for s in steps), float(sum(costs.draft_time(min(8,s.tokens),context) for s in steps)), overhead, time.perf_counter()-begin))
        iteration.factors, iteration.budget = costs.factors, len(steps)
        path = [chosen[index] for index, node in enumerate(nodes) if node.status == "accepted"]
        slots = [tree.nodes[index].slot for index in path]
        slots = slots[: slots.index(None)] if None in slots else slots
        if slots:
            model.keep(slots)
        else:
            model.crop(root + 1)
        keep_accepted(pair, text, nodes)
        iteration.committed, iteration.stop = room.cut(len(text), iteration.committed, pair.eos)
        text += [each.token for each in iteration.committed]
        busy = (span.end - span.start) + sum(step.end - step.start for step in steps)
        if number:
            overhead += 0.1 * (time.perf_counter() - begin - busy - overhead)
        yield iteration
        if iteration.stop:
            return


def expand(model, tree, wanted, root, context, settings, steps: list[Span], sampled) -> None:
    """Forward these nodes in one draft step, and add their children."""
    nodes = [tree.nodes[index] for index in wanted]
    # A node whose parent was not forwarded cannot be.
    parents = [tree.nodes[node.parent].slot if node.parent >= 0 else root for node in nodes]
    slot = model.length
    logits, span = timed_forward(model, [node.token for node in nodes], parents=parents)
    positions = [context + node.depth for node in nodes]
    _, q, score = proposals(logits, positions, settings.sampling)
    for row, index in enumerate(wanted):
        tree.nodes[index].slot = slot + row
        tree.add_children(index, *best_tokens(score[row], q[row], 4), sampled=sampled)
    steps.append(ended_now(span))
