"""What an iteration that proposed first must look like."""


def tokens(run):
    return [each.token for iteration in run for each in iteration.committed]


def proposed(iteration):
    return iteration.checked[:-1]


def check_first(each, prompt):
    """The first iteration is the prompt's: the target reads it alone and writes a token."""
    (own,), (token,) = each.checked, each.committed
    assert (own.token, own.source, own.status, own.parent) == (token.token, token.source, "correction", -1)
    assert token.source == "target" and each.target.tokens == len(prompt)
    assert (each.outcome, each.accepted, each.tested) == ("none", 0, 0)
    assert not each.drafted and not each.draft and not each.matched


def check_iteration(each, source):
    """What holds for every iteration of a method that proposes and verifies."""
    tree, own = proposed(each), each.checked[-1]
    assert all(node.source == source and node.parent < index for index, node in enumerate(tree))
    path = [index for index, node in enumerate(tree) if node.status == "accepted"]
    last = path[-1] if path else -1
    assert [tree[index].parent for index in path] == [-1, *path][: len(path)]
    refused = [node for node in tree if node.status == "rejected"]
    assert refused == [node for node in tree if node.parent == last]
    assert {node.status for node in tree} <= {"accepted", "rejected", "discarded"}
    assert (each.accepted, each.tested) == (len(path), len(path) + bool(refused))
    assert each.outcome == ("rejection" if refused else "hit" if path else "none")
    assert (own.status, own.source, own.parent) == ("correction", "target", last)
    whole = [*((tree[index].token, source) for index in path), (own.token, "target")]
    committed = [(token.token, token.source) for token in each.committed]
    assert committed == (whole if each.stop is None else whole[: len(committed)])
    assert not each.drafted and not each.draft
