"""REST on tiny models: the text is vanilla's, the tree is the most frequent part of what the datastore knows."""

from collections import Counter
from importlib import import_module
from itertools import islice, product

import pytest

from duoviz.decoding.datastore import DatastoreError
from duoviz.decoding.in_turn import depths
from duoviz.decoding.rest import datastore_of, rest
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from tests.decoding.counting import counting_pair, saying
from tests.decoding.proposals import check_first, check_iteration, proposed, tokens
from tests.decoding.stores import NamedDigits, build, named_pair, random_sequences, searched
from tests.tiny import VOCABULARY

# Its name in the package is that of the method.
MODULE = import_module("duoviz.decoding.rest")
PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30)), [7]]
SAMPLED = {"temperature": 0.8, "top_p": 0.9, "seed": 3}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """What the tiny target writes, sampled, and other texts: some proposals are accepted, and some are not."""
    pair = named_pair()
    runs = [Settings(max_new_tokens=80, temperature=temperature, seed=1) for temperature in (0, 0.6, 0.8, 1.2)]
    sequences = [prompt + tokens(vanilla(pair, prompt, run)) for prompt in PROMPTS for run in runs]
    sequences += random_sequences(0, tokens=VOCABULARY)
    return build(sequences, tmp_path_factory.mktemp("rest") / "store"), sequences


def numbers_pair(*, eos=frozenset()):
    """A target that counts to 39 and begins again."""
    pair = counting_pair(VOCABULARY, eos=eos)
    pair.tokenizer, pair.target.vocab_size = NamedDigits(), VOCABULARY
    return pair


def settings_for(folder, **changes):
    return Settings(**{"rest_datastore": str(folder), "max_new_tokens": 50, **changes})


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_equals_seeded_vanilla(store, changes):
    pair = named_pair()
    for prompt in PROMPTS:
        expected = tokens(vanilla(pair, prompt, settings_for(store[0], **changes)))
        for longest, shortest, size in [(16, 2, 64), (1, 1, 5), (3, 1, 1), (4, 3, 30)]:
            sizes = {"rest_longest": longest, "rest_shortest": shortest, "rest_tokens": size}
            assert tokens(rest(pair, prompt, settings_for(store[0], **sizes, **changes))) == expected, (prompt, sizes)


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_iterations_are_consistent(store, changes):
    settings = settings_for(store[0], max_new_tokens=80, rest_shortest=1, **changes)
    pair = named_pair()
    run = [each for prompt in PROMPTS for each in rest(pair, prompt, settings)]
    for each in run:
        check_iteration(each, "datastore")
    assert any(len({node.parent for node in proposed(each)}) < len(proposed(each)) for each in run)
    assert {each.outcome for each in run} >= ({"rejection"} if changes else {"hit"})
    assert sum(each.accepted for each in run) > 10


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_tree_is_the_most_frequent_part(store, size):
    folder, sequences = store
    text, trees = list(PROMPTS[0]), 0
    settings = settings_for(folder, rest_shortest=1, rest_longest=3, rest_tokens=size, **SAMPLED)
    room = len(text) + settings.max_new_tokens
    first, *run = rest(named_pair(), text, settings)
    check_first(first, text)
    text += tokens([first])
    for each in run:
        tree = proposed(each)
        matched, found = searched(sequences, text, longest=3, shortest=1, depth=min(10, room - len(text) - 1))
        assert list(each.matched) == text[len(text) - matched :]
        counts = Counter(tuple(row[:end]) for row in found for end in range(1, len(row) + 1))
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
        text += tokens([each])
    assert trees > 5 or size == 1


def test_the_tree_by_hand(tmp_path):
    sequences = [[1, 2, 3, 4, 5]] * 3 + [[9, 2, 3, 4, 6], [2, 3, 7, 7], [2, 3]]
    folder = build(sequences, tmp_path / "store")
    nodes = {}
    for size in (6, 4, 2):
        nodes[size] = tree_after(8, settings_for(folder, rest_tokens=size))
    assert nodes[6] == [(4, -1, 4), (5, 0, 3), (7, -1, 1), (6, 0, 1), (7, 2, 1)]
    assert nodes[4] == nodes[6][:4] and nodes[2] == nodes[6][:2]
    assert tree_after(1, settings_for(folder, rest_tokens=6)) == [(4, -1, 3), (5, 0, 3)]
    assert len(tree_after(1, settings_for(folder, rest_longest=2))) == 5


def tree_after(token, settings):
    """What is proposed after the token, 2 and the target's 3."""
    _, second = islice(rest(saying(named_pair(), 3), [token, 2], settings), 2)
    return [(node.token, node.parent, node.count) for node in proposed(second)]


def test_a_text_that_the_datastore_knows_is_accepted(tmp_path):
    folder = build([list(range(VOCABULARY))], tmp_path / "store")
    run = list(rest(numbers_pair(), [1, 2], settings_for(folder, max_new_tokens=33)))
    assert tokens(run) == list(range(3, 36))
    assert [len(each.committed) for each in run] == [1, 11, 11, 10]
    assert [each.outcome for each in run] == ["none", *["hit"] * 3]


def test_an_empty_datastore_proposes_nothing(tmp_path):
    pair, settings = named_pair(), settings_for(build([], tmp_path / "store"), **SAMPLED)
    run = list(rest(pair, PROMPTS[0], settings))
    assert tokens(run) == tokens(vanilla(pair, PROMPTS[0], settings))
    assert len(run) == 50 and all(each.outcome == "none" and not proposed(each) for each in run)


def test_a_text_shorter_than_the_shortest_suffix(tmp_path):
    folder = build([list(range(VOCABULARY))], tmp_path / "store")
    run = list(rest(numbers_pair(), [1], settings_for(folder, max_new_tokens=13, rest_shortest=3)))
    assert [len(proposed(each)) for each in run[:3]] == [0, 0, 10]


def test_a_target_that_reads_no_tree_gets_the_most_frequent_branch(tmp_path):
    pair = named_pair()
    pair.target.supports_tree = False
    known = [2, *tokens(vanilla(pair, [1, 2], Settings(max_new_tokens=1)))]
    rows = [[5, 6]] * 2 + [[7, 8], [5, 9]] + [[7, 9]] * 3
    sequences = [known + row for row in rows]
    run = list(rest(pair, [1, 2], settings_for(build(sequences, tmp_path / "store"))))
    nodes = [(node.token, node.parent, node.count) for node in proposed(run[1])]
    assert nodes == [(7, -1, 4), (9, 0, 3)]
    assert tokens(run) == tokens(vanilla(pair, [1, 2], Settings(max_new_tokens=50)))


def test_the_classical_rule_has_nothing_to_divide_by(store):
    pair = named_pair()
    settings = [settings_for(store[0], acceptance=rule, **SAMPLED) for rule in ("rejection", "coupled")]
    first, second = (tokens(rest(pair, PROMPTS[0], each)) for each in settings)
    assert first == second


def test_stops_at_the_end_inside_an_accepted_run(tmp_path):
    folder = build([list(range(VOCABULARY))], tmp_path / "store")
    run = list(rest(numbers_pair(eos=frozenset({7})), [1, 2], settings_for(folder)))
    assert tokens(run) == [3, 4, 5, 6, 7] and run[-1].stop == "eos"
    assert len(run[-1].committed) < run[-1].accepted


@pytest.mark.parametrize("count", [1, 2, 7, 23])
def test_stops_at_the_length(tmp_path, count):
    folder = build([list(range(VOCABULARY))], tmp_path / "store")
    run = list(rest(numbers_pair(), [1, 2], settings_for(folder, max_new_tokens=count)))
    assert tokens(run) == list(range(3, 3 + count)) and run[-1].stop == "length"
    left = count
    for each in run:
        assert max([0, *depths(proposed(each))]) < left
        left -= len(each.committed)


@pytest.mark.parametrize("length", [1, 30, 50, 61, 62, 63])
def test_a_tree_larger_than_the_room_left(tmp_path, length):
    pair = named_pair(context=64)
    triples = product((2, 3, 4), (2, 3, 4, 5), range(VOCABULARY))
    sequences = [[*triple] * 5 for triple in triples]
    prompt = [2 + each % 3 for each in range(length)]
    settings = settings_for(build(sequences, tmp_path / "store"), max_new_tokens=200, rest_shortest=1, rest_longest=1)
    run = list(rest(pair, prompt, settings))
    assert tokens(run) == tokens(vanilla(pair, prompt, settings))
    assert len(tokens(run)) == 64 - length and run[-1].stop == "context"
    assert length > 61 or len(proposed(run[1])) == 63 - length


def test_a_number_that_went_bad_is_never_proposed(tmp_path):
    folder = build([list(range(VOCABULARY))], tmp_path / "store")
    file = folder / "tokens.npy"
    content = bytearray(file.read_bytes())
    # The token 5, of two bytes; the last two are the end's.
    content[-2 * (VOCABULARY + 1) + 2 * 5 + 1] = 0xEE
    file.write_bytes(content)
    run = list(rest(numbers_pair(), [1], settings_for(folder, max_new_tokens=10)))
    assert [node.token for node in proposed(run[1])] == [3, 4]
    assert tokens(run) == list(range(2, 12))


def test_each_datastore_is_opened_once_and_none_named_is_the_one_that_comes_along(tmp_path, monkeypatch):
    pair, folders = named_pair(), [build([[1, 2, each]], tmp_path / str(each)) for each in (3, 4)]
    monkeypatch.setattr(MODULE, "DATASTORE_FOLDER", folders[0])
    first, second = (datastore_of(pair, Settings(rest_datastore=name)) for name in ("", str(folders[1])))
    assert (first.tokens[2], second.tokens[2]) == (3, 4)
    assert datastore_of(pair, Settings()) is first
    assert datastore_of(pair, Settings(rest_datastore=str(folders[1]))) is second


def test_what_cannot_be_opened_is_told_before_the_run(tmp_path, monkeypatch):
    folder = build([[1, 2]], tmp_path / "store")
    pair = named_pair()
    pair.tokenizer.get_vocab = lambda: {"other": 0}
    monkeypatch.setattr(MODULE, "DATASTORE_FOLDER", folder)
    with pytest.raises(DatastoreError, match="another tokenizer than that of .*--pair tiny"):
        rest(pair, PROMPTS[0], Settings())
    for named in (tmp_path / "nothing", "~nobody/here", "a\0b", "x" * 5000):
        with pytest.raises(DatastoreError, match="datastore"):
            rest(pair, PROMPTS[0], settings_for(named))
