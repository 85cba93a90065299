"""What an iteration that proposed first must look like."""


def tokens(run):
    return [committed.token for iteration in run for committed in iteration.committed]


def proposed(iteration):
    """What the target was to verify."""
    return [node for node in iteration.checked[:-1] if node.status != "window"]


def check_first(iteration, prompt):
    """The first iteration is the prompt's: the target reads it alone and writes a token."""
    (own,), (token,) = iteration.checked, iteration.committed
    assert (own.token, own.source, own.status, own.parent) == (token.token, token.source, "correction", -1)
    assert token.source == "target" and iteration.target.tokens == len(prompt)
    assert (iteration.outcome, iteration.accepted, iteration.tested) == ("none", 0, 0)
    assert not iteration.drafted and not iteration.draft and not iteration.matched


def check_iteration(iteration, sources):
    """What holds for every iteration of a method that proposes and verifies; sources: of what it proposes."""
    tree, (*others, own) = proposed(iteration), iteration.checked
    assert others[: len(tree)] == tree and iteration.target.tokens == len(others) + 1
    assert all(node.source in sources and node.parent < index for index, node in enumerate(others))
    path = [index for index, node in enumerate(tree) if node.status == "accepted"]
    last = path[-1] if path else -1
    assert [tree[index].parent for index in path] == [-1, *path][: len(path)]
    refused = [node for node in tree if node.status == "rejected"]
    assert {node.status for node in tree} <= {"accepted", "rejected", "discarded"}
    assert refused == [node for node in tree if node.parent == last]
    assert all(node.p is not None for node in tree if node.status != "discarded")
    assert all(node.p is None and node.q is None for node in others[len(tree) :])
    assert (iteration.accepted, iteration.tested) == (len(path), len(path) + bool(refused))
    assert iteration.outcome == ("rejection" if refused else "hit" if path else "none")
    assert (own.status, own.source, own.parent) == ("correction", "target", last)
    expected = [*((tree[index].token, tree[index].source) for index in path), (own.token, "target")]
    committed = [(token.token, token.source) for token in iteration.committed]
    assert committed == (expected if iteration.stop is None else expected[: len(committed)])
    assert not iteration.drafted
