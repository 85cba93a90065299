"""Guess, then check: what is known at each moment of an iteration, by the times of its trace."""

import pytest

from tests.node import evaluate
from tests.web.front.runs import recorded, telling

# How each node looks at each moment.
LOOKS = """async ([header, iteration, moments]) => {
  const { lookAt, timesOf } = await import("http://plain.test/visualizer/moments.js");
  const looks = (list, moment) => timesOf(iteration, list, header).map((times, index) => (
    lookAt(times, iteration[list][index].status, moment)));
  return moments.map((moment) => ({ checked: looks("checked", moment), drafted: looks("drafted", moment) }));
}"""


def depth(nodes, index):
    return 0 if nodes[index]["parent"] < 0 else 1 + depth(nodes, nodes[index]["parent"])


def root_of(nodes, index):
    return index if nodes[index]["parent"] < 0 else root_of(nodes, nodes[index]["parent"])


def judged(iteration, name):
    return iteration["sync"] if name == "drafted" else iteration["target"]["end"]


def born(iteration, name, index, *, parallel):
    """When a node came to be, by the times of the draft's steps."""
    node, nodes, ends = iteration[name][index], iteration[name], [step["end"] for step in iteration["draft"]]
    if node["status"] == "correction":
        return judged(iteration, name)
    if name == "checked":
        return 0 if parallel else ends[depth(nodes, index)]
    # The first sequence is a token ahead of the others, which begin when θ is known.
    return ends[depth(nodes, index) + (root_of(nodes, index) > 0)]


def look(iteration, name, index, moment, *, parallel):
    if moment < born(iteration, name, index, parallel=parallel):
        return "unborn"
    return "pending" if moment < judged(iteration, name) else iteration[name][index]["status"]


@pytest.mark.parametrize("method", ["duodecoding", "speculative"])
def test_each_nodes_look_at_each_moment_agrees_with_the_traces_times(method):
    trace = recorded(method)
    first, seen = telling(trace["iterations"]), set()
    for at in (first, first + 1):
        iteration, begin = trace["iterations"][at], trace["iterations"][at - 1]["sync"]
        moments = [begin + part / 60 * (iteration["sync"] - begin) for part in range(60)] + [iteration["sync"]]
        for moment, looks in zip(moments, evaluate(LOOKS, [trace["header"], iteration, moments]), strict=True):
            for name, shown in looks.items():
                ways = range(len(iteration[name]))
                expected = [look(iteration, name, each, moment, parallel=method == "duodecoding") for each in ways]
                assert shown == expected, (name, moment)
                seen |= set(shown)
    assert {"unborn", "pending", "accepted", "rejected", "correction"} <= seen
