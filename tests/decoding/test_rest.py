"""REST on tiny models: its tree is the most frequent part of what the datastore knows."""

from collections import Counter

import pytest

from duoviz.decoding.settings import Settings
from tests.decoding.counting import counting_engine
from tests.decoding.proposals import proposed, tokens
from tests.decoding.stores import build, searched
from tests.tiny import VOCABULARY, run, tiny_engine

PROMPT = [5, 9, 3]


def rest(engine, prompt, folder, **changes):
    return run(engine, "rest", prompt, Settings(**{"rest_datastore": str(folder), "max_new_tokens": 50, **changes}))


@pytest.fixture
def numbers(tmp_path):
    """A datastore of the text that counts."""
    return build([list(range(VOCABULARY))], tmp_path / "store")


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_tree_is_the_most_frequent_part(store, sequences, size):
    text, trees, room = list(PROMPT), 0, len(PROMPT) + 50
    sizes = {"rest_shortest": 1, "rest_longest": 3, "rest_tokens": size}
    first, *iterations = rest(tiny_engine(), text, store, **sizes, temperature=0.8, top_p=0.9, seed=3)
    text += tokens([first])
    for iteration in iterations:
        tree = proposed(iteration)
        matched, rows = searched(sequences, text, longest=3, shortest=1, depth=min(10, room - len(text) - 1))
        assert list(iteration.matched) == text[len(text) - matched :]
        counts = Counter(tuple(row[:end]) for row in rows for end in range(1, len(row) + 1))
        paths = []
        for node in tree:
            paths.append((*(paths[node.parent] if node.parent >= 0 else ()), node.token))
            assert node.count == counts[paths[-1]] and node.q is None
        assert len(set(paths)) == len(tree) == min(size, len(counts))
        assert sorted((node.count for node in tree), reverse=True) == sorted(counts.values(), reverse=True)[:size]
        for parent in {node.parent for node in tree}:
            siblings = [node.count for node in tree if node.parent == parent]
            assert siblings == sorted(siblings, reverse=True)
        trees += len(tree) > 5
        text += tokens([iteration])
    assert trees > 5 or size == 1


def test_a_text_shorter_than_the_shortest_suffix(numbers):
    iterations = list(rest(counting_engine(), [1], numbers, max_new_tokens=13, rest_shortest=3))
    assert [len(proposed(iteration)) for iteration in iterations[:3]] == [0, 0, 10]


def test_a_target_that_reads_no_tree_gets_the_most_frequent_branch(tmp_path):
    engine, settings = tiny_engine(), Settings(max_new_tokens=50)
    engine.pair.target.supports_tree = False
    expected = tokens(run(engine, "vanilla", [1, 2], settings))
    rows = [[5, 6]] * 2 + [[7, 8], [5, 9]] + [[7, 9]] * 3
    iterations = list(rest(engine, [1, 2], build([[2, expected[0], *row] for row in rows], tmp_path / "store")))
    nodes = [(node.token, node.parent, node.count) for node in proposed(iterations[1])]
    assert nodes == [(7, -1, 4), (9, 0, 3)] and tokens(iterations) == expected
