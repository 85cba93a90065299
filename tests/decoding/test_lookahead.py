"""Lookahead on tiny models: the window is Jacobi's, the pool forgets the oldest."""

from duoviz.decoding.lookahead import NgramPool, Window, guess_tree
from duoviz.decoding.settings import Settings
from tests.decoding.counting import counting_engine
from tests.decoding.proposals import tokens
from tests.tiny import run, tiny_engine

PROMPT = [5, 9, 3]


def sizes(w, n, g):
    return {"lookahead_window": w, "lookahead_ngram": n, "lookahead_guesses": g}


def window_of(iteration):
    return [node for node in iteration.checked if node.status == "window"]


def test_the_window_depends_on_the_seed_and_the_text_does_not():
    runs = [list(run(tiny_engine(), "lookahead", PROMPT, Settings(max_new_tokens=40, seed=seed))) for seed in (1, 2)]
    assert tokens(runs[0]) == tokens(runs[1])
    assert window_of(runs[0][1]) != window_of(runs[1][1])


def test_what_the_window_found_is_accepted_when_the_text_gets_there():
    # The columns that begin with the prompt's 40 count on from there while the text is still at 8.
    iterations = list(run(counting_engine(150), "lookahead", [40, 7], Settings(max_new_tokens=60)))
    assert tokens(iterations) == list(range(8, 68))
    starts = [iteration.committed[0].token for iteration in iterations if iteration.accepted]
    assert min(starts) == 41 and len(iterations) < 45


def test_nothing_is_guessed_where_nothing_of_it_would_be_used():
    for count in (1, 2, 7, 23):
        left = count
        for iteration in run(counting_engine(6), "lookahead", [*range(6), 0], Settings(max_new_tokens=count)):
            assert bool(window_of(iteration)) == (1 < left < count)
            left -= len(iteration.committed)


def test_the_window_by_hand():
    window = Window([4], Settings(**sizes(2, 3, 1)), frozenset())
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
    assert [node.token for node in guess_tree([(1, 2, 3)], 3, frozenset({2}))] == [1, 2]
