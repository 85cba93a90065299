"""Acceptance over chains and trees."""

import pytest
import torch

from duoviz.decoding.iteration import Node, Span
from duoviz.decoding.sampling import RejectionNoise, Sampling, TargetDraws
from duoviz.decoding.verification import Classical, mark, verify, verify_by_rejection, verify_coupled, without


def chain(*tokens):
    return [Node(token, index - 1, "draft") for index, token in enumerate(tokens)]


@pytest.mark.parametrize(
    "parents, tokens, own, verdict",
    [
        ([], [], [3], ([], 3, [])),
        ([-1, 0], [4, 5], [4, 5, 6], ([0, 1], 6, [])),
        # The last own token agrees again, but its parent was rejected.
        ([-1, 0, 1], [4, 5, 6], [4, 9, 6, 7], ([0], 9, [1])),
        ([-1, -1, 0, 1, 3], [4, 5, 6, 6, 7], [5, 0, 6, 0, 7, 8], ([1, 3, 4], 8, [])),
    ],
    ids=["nothing drafted", "all accepted", "the first refusal ends the walk", "the branch that is the target's"],
)
def test_the_walk_down_a_tree(parents, tokens, own, verdict):
    assert verify_coupled([Node(*node, "draft") for node in zip(tokens, parents, strict=True)], own) == verdict


def test_exact_ties_go_to_the_lowest_id():
    logits = torch.tensor([[0.0, 2.0, 1.0, 2.0, 2.0], [3.0, 0.0, 1.0, 2.0, 3.0]], dtype=torch.float64)
    own = TargetDraws(logits, [7, 8], Sampling())
    assert [own[0], own[1]] == [1, 0] and [own.row(0).margin, own.row(1).margin] == [0.0, 0.0]
    assert own.row(1).probability(3) == pytest.approx(float(logits[1].softmax(-1)[3]))


@pytest.mark.parametrize(
    "checked, drafted, outcome, committed, statuses",
    [
        ((), (), "none", [(1, "target")], ["correction"]),
        ((9,), (7,), "rejection", [(1, "target")], ["rejected", "correction", "discarded", "discarded"]),
        ((1, 9), (7,), "rejection", [(1, "draft"), (2, "target")],
         ["accepted", "rejected", "correction", "discarded", "discarded"]),
        ((1,), (7, 8), "miss", [(1, "draft"), (2, "target")],
         ["accepted", "rejected", "discarded", "rejected", "discarded", "correction"]),
        ((1,), (7, 2), "hit", [(1, "draft"), (2, "draft")],
         ["accepted", "discarded", "discarded", "accepted", "pending"]),
        ((1, 2), (), "hit", [(1, "draft"), (2, "draft"), (3, "target")], ["accepted", "accepted", "correction"]),
    ],
)  # fmt: skip
def test_the_judgement_of_a_chain_and_of_what_was_drafted_after_it(checked, drafted, outcome, committed, statuses):
    """The target counts from 1. A drafted sequence has two tokens; the first is tested where the chain was right."""
    own = TargetDraws(10 * torch.eye(10)[1 : 2 + len(checked)], range(1 + len(checked)), Sampling())
    sequences = [
        node for index, first in enumerate(drafted) for node in (Node(first, -1, "draft"), Node(0, 2 * index, "draft"))
    ]
    judgement = verify(chain(*checked), sequences, own, target=Span(0.0, 1.0, 1), cut=lambda tokens: (tokens, None))
    nodes = [*judgement.checked, *judgement.drafted]
    if outcome == "hit" and drafted:
        assert judgement.sequence == 2 and judgement.accepted == judgement.tested == len(checked) + 1
    else:
        refused = any(node.status == "rejected" for node in nodes)
        assert judgement.sequence is None and judgement.tested == judgement.accepted + refused
    assert judgement.outcome == outcome
    assert [(token.token, token.source) for token in judgement.committed] == committed
    assert all(token.margin > 0 for token in judgement.committed)
    assert [node.status for node in nodes] == statuses
    assert all((node.p is None) == (node.status in ("discarded", "pending")) for node in nodes)


class Every:
    """Noise that takes every way it could go, one a run, and knows how likely that way is; none of it is used twice."""

    def __init__(self, script):
        self.script, self.taken, self.weight, self.others, self.used = list(script), [], 1.0, [], set()

    def decide(self, weights):
        open_ways = [way for way, weight in enumerate(weights) if weight > 0]
        if len(self.taken) < len(self.script):
            way = self.script[len(self.taken)]
        else:
            way, *others = open_ways
            self.others += [[*self.taken, other] for other in others]
        self.taken.append(way)
        self.weight *= weights[way]
        return way

    def accepts(self, probability, position, trial):
        assert (position, trial) not in self.used
        self.used.add((position, trial))
        return self.decide([1 - probability, probability]) == 1

    def picks(self, probabilities, position):
        return self.decide(probabilities.tolist())


def every_verdict(tree, own, draft_row):
    """All verdicts with their probabilities."""
    scripts = [[]]
    while scripts:
        noise = Every(scripts.pop())
        verdict = verify_by_rejection(tree, own, Classical(noise, draft_row))
        scripts += noise.others
        yield noise.weight, verdict


def some_distribution(seed, size=4):
    p = torch.rand(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) ** 2
    return p / p.sum()


def drawn_without_replacement(q, count):
    """Every ordered choice of `count` tokens with its probability."""
    if count == 0:
        yield (), 1.0
        return
    for token, probability in enumerate(q.tolist()):
        if probability > 0:
            for rest, weight in drawn_without_replacement(without(q, token), count - 1):
                yield (token, *rest), probability * weight


@pytest.mark.parametrize("siblings", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_classical_rule_is_exact_for_one_token(siblings, seed):
    p, q = some_distribution(seed), some_distribution(seed + 50)
    q = q.where(q > 0.05, 0.0) / q[q > 0.05].sum()
    own = TargetDraws(p.log()[None], [9], Sampling(temperature=1.0))
    committed = torch.zeros(4, dtype=torch.float64)
    for tokens, weight in drawn_without_replacement(q, min(siblings, int((q > 0).sum()))):
        tree = [Node(token, -1, "draft", q=float(q[token])) for token in tokens]
        for chance, verdict in every_verdict(tree, own, lambda row: q):
            token = verdict.target_token if verdict.target_token is not None else tree[verdict.path[0]].token
            committed[token] += weight * chance
    assert torch.allclose(committed, p, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_classical_rule_is_exact_for_a_chain(seed):
    first, second = some_distribution(seed), [some_distribution(seed + 10 + token) for token in range(4)]
    q_first, q_second = some_distribution(seed + 30), [some_distribution(seed + 40 + token) for token in range(4)]
    committed = torch.zeros(4, 4, dtype=torch.float64)
    for one in range(4):
        for two in range(4):
            rows = [q_first, q_second[one]]
            tree = [Node(one, -1, "draft", q=float(rows[0][one])), Node(two, 0, "draft", q=float(rows[1][two]))]
            own = TargetDraws(torch.stack([first, second[one]]).log(), [9, 10], Sampling(temperature=1.0))
            weight = float(rows[0][one] * rows[1][two])
            for chance, verdict in every_verdict(tree, own, rows.__getitem__):
                text = [tree[index].token for index in verdict.path]
                text += [] if verdict.target_token is None else [verdict.target_token]
                if len(text) == 1:  # the second token is then the target's own
                    committed[text[0]] += weight * chance * second[text[0]]
                else:
                    committed[tuple(text)] += weight * chance
    assert torch.allclose(committed, first[:, None] * torch.stack(second), rtol=0, atol=1e-12)


def test_siblings_are_tested_in_order_and_the_refused_ones_named():
    p, q = torch.tensor([0.0, 0.0, 1.0]), torch.tensor([0.4, 0.3, 0.3])
    own = TargetDraws(p.log()[None].double(), [5], Sampling(temperature=1.0))
    tree = [Node(token, -1, "draft", q=float(q[token])) for token in (0, 2, 1)]
    verdict = verify_by_rejection(tree, own, Classical(RejectionNoise(3), lambda row: q.double()))
    assert verdict == ([1], None, [0])
    mark(tree, verdict.path, verdict.rejected)
    assert [node.status for node in tree] == ["rejected", "accepted", "discarded"]
