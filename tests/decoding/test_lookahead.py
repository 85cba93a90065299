"""Lookahead on tiny models: the text is vanilla's, the window is Jacobi's, the pool forgets the oldest."""

from itertools import pairwise

import pytest

from duoviz.decoding.in_turn import depths
from duoviz.decoding.lookahead import Window, guess_tree, lookahead
from duoviz.decoding.ngram_pool import NgramPool
from duoviz.decoding.sampling import draw
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.decoding.vanilla import vanilla
from tests.decoding.counting import NONE, counting_pair
from tests.decoding.proposals import check_first
from tests.tiny import tiny_pair

PROMPTS = [[5, 9, 3], [2] * 12, list(range(2, 30))]
SAMPLED = {"temperature": 0.8, "top_p": 0.9, "seed": 3}


def sizes(w, n, g):
    return {"lookahead_window": w, "lookahead_ngram": n, "lookahead_guesses": g}


def tokens(run):
    return [each.token for iteration in run for each in iteration.committed]


def window_of(iteration):
    return [node for node in iteration.checked if node.status == "window"]


def guesses_of(iteration):
    return [node for node in iteration.checked if node.source == "lookahead" and node.status != "window"]


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_equals_seeded_vanilla(changes):
    pair = tiny_pair()
    for prompt in PROMPTS:
        expected = tokens(vanilla(pair, prompt, Settings(max_new_tokens=40, **changes)))
        for size in [(7, 5, 7), (1, 2, 1), (1, 5, 3), (5, 2, 1), (4, 3, 1), (15, 8, 12)]:
            settings = Settings(max_new_tokens=40, **sizes(*size), **changes)
            assert tokens(lookahead(pair, prompt, settings)) == expected, (prompt, size)


def test_the_classical_rule_has_nothing_to_divide_by():
    pair = tiny_pair()
    settings = [Settings(max_new_tokens=30, acceptance=rule, **SAMPLED) for rule in ("rejection", "coupled")]
    first, second = (tokens(lookahead(pair, PROMPTS[0], each)) for each in settings)
    assert first == second


def test_the_window_depends_on_the_seed_and_the_text_does_not():
    runs = [list(lookahead(tiny_pair(), PROMPTS[2], Settings(max_new_tokens=40, seed=seed))) for seed in (1, 2)]
    assert tokens(runs[0]) == tokens(runs[1])
    assert window_of(runs[0][1]) != window_of(runs[1][1])


def test_a_text_that_loops_is_read_from_the_prompt():
    settings = Settings(max_new_tokens=60, **sizes(3, 5, 2))
    run = list(lookahead(counting_pair(6), [*range(6), 0, 1], settings))
    assert tokens(run) == [(2 + each) % 6 for each in range(60)]
    assert [len(each.committed) for each in run] == [1, *[5] * 11, 4]
    assert [each.outcome for each in run] == ["none", *["hit"] * 12]


def test_a_text_that_never_repeats():
    run = list(lookahead(counting_pair(150), [7], Settings(max_new_tokens=100)))
    assert tokens(run) == list(range(8, 108)) and len(run) == 100


def test_what_the_window_found_is_accepted_when_the_text_gets_there():
    # The columns that begin with the prompt's 40 count on from there while the text is still at 8.
    run = list(lookahead(counting_pair(150), [40, 7], Settings(max_new_tokens=60)))
    assert tokens(run) == list(range(8, 68))
    starts = [each.committed[0].token for each in run if each.accepted]
    assert min(starts) == 41 and len(run) < 45


@pytest.mark.parametrize("changes", [{}, {"temperature": 0.8, "seed": 3}])
@pytest.mark.parametrize("size", [(6, 4, 3), (1, 4, 2), (5, 2, 2), (2, 7, 4)])
def test_each_new_level_is_what_the_target_writes_after_the_one_before(changes, size):
    settings = Settings(max_new_tokens=40, **sizes(*size), **changes)
    reference, text = tiny_pair().target, list(PROMPTS[0])
    first, *run = lookahead(tiny_pair(), text, settings)
    text += tokens([first])
    compared = 0
    for step, (before, after) in enumerate(pairwise(run[:-1])):
        written = []
        for place in newest_level(before, step, settings):
            path = text + path_to(before.checked, place)
            reference.crop(0)
            logits = reference.forward(path, rows=[len(path) - 1])[0]
            written.append(draw(logits, len(path), settings.sampling).token)
        newest = [after.checked[place].token for place in newest_level(after, step + 1, settings) if place >= 0]
        assert newest == written[len(written) - len(newest) :]
        compared += len(newest)
        text += tokens([before])
    assert compared >= 20


def shape(step, settings):
    """The window's levels and columns in a forward, the text's last token among them."""
    full = settings.lookahead_ngram - 1
    levels = min(step + 1, full)
    return levels, settings.lookahead_window + full - levels


def newest_level(iteration, step, settings):
    """The places of the newest level in `checked`; -1 is the text's last token."""
    levels, columns = shape(step, settings)
    first = len(guesses_of(iteration))
    end = first + len(window_of(iteration))
    assert end - first == levels * columns - 1
    return [-1, *range(first, end)] if levels == 1 else list(range(end - columns, end))


def path_to(nodes, place):
    path = []
    while place >= 0:
        path.append(nodes[place].token)
        place = nodes[place].parent
    return path[::-1]


def grid(iteration, last, step, settings):
    """The window's tokens by level and column."""
    levels, columns = shape(step, settings)
    flat = [last, *(node.token for node in window_of(iteration))]
    return [flat[level * columns : (level + 1) * columns] for level in range(levels)]


def test_a_token_sees_level_0_and_its_own_column_and_keeps_its_place():
    settings, text = Settings(max_new_tokens=60, **sizes(5, 4, 2)), list(PROMPTS[0])
    first, *run = lookahead(tiny_pair(), text, settings)
    text += tokens([first])
    earlier = None
    for step, each in enumerate(run[:-1]):
        levels, columns = shape(step, settings)
        tokens_at, first = grid(each, text[-1], step, settings), len(guesses_of(each))
        places = depths(each.checked)
        for level in range(levels):
            for column in range(columns):
                place = first - 1 + level * columns + column
                if (level, column) != (0, 0):
                    above = [tokens_at[j][column] for j in range(1, level + 1)]
                    assert path_to(each.checked, place) == tokens_at[0][1 : column + 1] + above
                    assert places[place] == level + column
        if earlier:
            # Two forwards filled the window and dropped column 0; since then level 0 is dropped.
            kept = [row[1:] for row in earlier] if step <= 2 else earlier[1:]
            assert [kept[0][1:], *kept[1:]] == [tokens_at[0][1:], *tokens_at[1 : len(kept)]]
        earlier = tokens_at
        text += tokens([each])


def test_the_window_by_hand():
    window = Window([4], Settings(**sizes(2, 3, 1)), NONE)
    window.begin(9, deepest=50)
    nodes, newest = window.nodes(10)
    assert [(node.token, node.parent) for node in nodes] == [(4, -1), (4, 10)] and newest == [-1, 10, 11]
    assert window.advance([20, 21, 22]) == []
    window.begin(20, deepest=50)
    nodes, newest = window.nodes(10)
    assert [(node.token, node.parent) for node in nodes] == [(4, -1), (21, -1), (22, 10)] and newest == [11, 12]
    assert window.advance([31, 32]) == [(20, 21, 31), (4, 22, 32)]
    window.begin(21, deepest=50)
    assert window.levels == [[21, 22], [31, 32]]
    window.begin(21, deepest=1)
    assert window.levels == [[21], [31]] and window.nodes(0)[1] == [0]
    window.begin(21, deepest=0)
    assert window.nodes(0) == ([], []) and window.advance([]) == []


def test_an_end_stays_out_of_the_window_but_not_out_of_the_pool():
    window = Window([4, 1], Settings(**sizes(2, 2, 1)), frozenset({1}))
    window.begin(9, deepest=50)
    assert window.levels == [[9, 4]]
    assert window.advance([1, 1]) == [(9, 1), (4, 1)]
    assert window.levels == [[4, 4]]
    assert Window([1], Settings(**sizes(2, 2, 1)), frozenset({1})).levels == [[1, 1]]


def test_the_pool_forgets_what_was_last_seen_longest_ago():
    pool = NgramPool(size=3, guesses=2)
    pool.add([(1, 2, 3), (1, 4, 5), (1, 2, 3), (2, 2, 2)])
    assert pool.after(1) == [(4, 5), (2, 3)]
    pool.add([(1, 6, 7)])
    assert pool.after(1) == [(2, 3), (6, 7)] and pool.after(2) == [(2, 2)] and pool.after(3) == []


def test_the_pool_reads_every_ngram_of_a_text_once():
    pool, text = NgramPool(size=3, guesses=9), [1, 2, 3, 1, 2]
    pool.read(text, 0)
    assert [pool.after(token) for token in (1, 2, 3)] == [[(2, 3)], [(3, 1)], [(1, 2)]]
    text += [4, 5]
    pool.read(text, 5)
    assert [pool.after(token) for token in (1, 2, 3)] == [[(2, 3), (2, 4)], [(3, 1), (4, 5)], [(1, 2)]]
    pool.read([8, 9], 0)
    assert pool.after(8) == []


def test_guesses_share_what_they_begin_with():
    tree = guess_tree([(1, 2, 3), (1, 2, 4), (5, 2, 3)], 3)
    assert [(node.token, node.parent) for node in tree] == [(1, -1), (2, 0), (3, 1), (4, 1), (5, -1), (2, 4), (3, 5)]
    assert [(node.token, node.parent) for node in guess_tree([(1, 2), (1, 3)], 1)] == [(1, -1)]
    assert guess_tree([(1, 2)], 0) == []


@pytest.mark.parametrize("changes", [{}, SAMPLED])
def test_iterations_are_consistent(changes):
    settings = Settings(max_new_tokens=80, **sizes(5, 4, 3), **changes)
    first, *run = lookahead(tiny_pair(), PROMPTS[1], settings)
    check_first(first, PROMPTS[1])
    for each in run:
        guesses, window = guesses_of(each), window_of(each)
        assert each.checked[: len(guesses)] == guesses and each.checked[len(guesses) : -1] == window
        path = [place for place, node in enumerate(guesses) if node.status == "accepted"]
        assert [guesses[place].parent for place in path] == [-1, *path][: len(path)]
        last = path[-1] if path else -1
        refused = [node for node in guesses if node.status == "rejected"]
        assert refused == [node for node in guesses if node.parent == last]
        assert len(path) + len(refused) + sum(node.status == "discarded" for node in guesses) == len(guesses)
        assert (each.accepted, each.tested) == (len(path), len(path) + bool(refused))
        assert each.outcome == ("rejection" if refused else "hit" if path else "none")
        assert all(node.p is None and node.q is None for node in window)
        own = each.checked[-1]
        assert (own.status, own.source, own.parent) == ("correction", "target", last)
        if each.stop is None:
            assert tokens([each]) == [*(guesses[place].token for place in path), own.token]
        assert each.target.tokens == len(guesses) + len(window) + 1
    assert any(each.accepted for each in run)


def test_a_prompt_of_one_token():
    pair = tiny_pair()
    settings = Settings(max_new_tokens=30)
    assert tokens(lookahead(pair, [6], settings)) == tokens(vanilla(pair, [6], settings))


def test_stops_at_the_end_inside_an_accepted_run():
    run = list(lookahead(counting_pair(10, eos=frozenset({7})), [*range(10), 0, 1, 2], Settings(max_new_tokens=60)))
    assert tokens(run) == [3, 4, 5, 6, 7] and run[-1].stop == "eos"
    assert len(run[-1].committed) <= run[-1].accepted


@pytest.mark.parametrize("count", [1, 2, 7, 23])
def test_stops_at_the_length(count):
    run = list(lookahead(counting_pair(6), [*range(6), 0], Settings(max_new_tokens=count)))
    assert len(tokens(run)) == count and run[-1].stop == "length"
    left = count
    for each in run:
        assert max([0, *depths(guesses_of(each))]) < left
        assert bool(window_of(each)) == (1 < left < count)
        left -= len(each.committed)


@pytest.mark.parametrize("size", [(7, 5, 7), (32, 8, 32), (1, 2, 1)])
@pytest.mark.parametrize("length", [1, 30, 60, 62, 63])
def test_stops_at_the_context(size, length):
    pair = tiny_pair(context=64)
    prompt = [2 + each % 7 for each in range(length)]
    settings = Settings(max_new_tokens=200, **sizes(*size))
    run = list(lookahead(pair, prompt, settings))
    assert tokens(run) == tokens(vanilla(pair, prompt, settings))
    assert len(tokens(run)) == 64 - length and run[-1].stop == "context"


def test_a_target_without_trees_is_refused():
    pair = tiny_pair()
    pair.target.supports_tree = False
    with pytest.raises(SettingsError, match="several continuations"):
        lookahead(pair, PROMPTS[0], Settings())
