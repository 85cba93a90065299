"""Traces: the page computes, writes and refuses the same as Python."""

import copy
import json
import random

import pytest

from duoviz.errors import UserError
from duoviz.trace.metrics import metrics
from duoviz.trace.reading import checked_trace
from tests.node import evaluate
from tests.trace.wrong_fields import WRONG_FIELDS, changed, places
from tests.web.front.runs import TRACES

FIGURES = ("tps", "tau", "acceptance", "overlap", "ttft")

# Shows each to its end, as a page does that is given it as a file.
NUMBERS = """async (traces) => {
  const { applyEvent, emptyState, eventsOf, runningNumbers } = await import("./visualizer/state.js");
  return traces.map((trace) => {
    const state = emptyState();
    for (const event of eventsOf(trace, "run")) applyEvent(state, event);
    return runningNumbers(state, state.iterations.length - 1);
  });
}"""


def test_the_page_computes_what_python_does():
    told = evaluate(NUMBERS, [*TRACES.values()])
    for trace, numbers in zip(TRACES.values(), told, strict=True):
        expected = metrics(trace)
        assert numbers == pytest.approx({name: expected[name] for name in FIGURES}), trace["header"]["method"]
    # Each figure is one of some recording.
    assert all(any(numbers[name] is not None for numbers in told) for name in FIGURES)


# Right in some places: 3.0 is an integer, and a llama is one character.
VALUES = [
    None, True, -2, 0, 1, 3.0, 0.5, 1e12, 10**30, "", "draft", "accepted", "x" * 50, "🦙" * 15_000,
    "x" * 20_001, [], {}, [{}],
]  # fmt: skip


def spoilt(trace, chance):
    """The trace with one value replaced by another kind of value, or left out."""
    other = copy.deepcopy(trace)
    *before, last = chance.choice([path for path in places(other) if len(path) > 1 or chance.random() < 0.1])
    place = other
    for key in before:
        place = place[key]
    if chance.random() < 0.2:
        del place[last]
    else:
        place[last] = chance.choice(VALUES)
    return json.dumps(other)


READ = """async (texts) => {
  const { readTrace } = await import("./visualizer/check.js");
  return Promise.all(texts.map(async (text) => (await readTrace(text)).problem ?? null));
}"""


def accepted(text):
    try:
        checked_trace(json.loads(text), "x")
    except UserError as error:
        return str(error)


def test_page_and_command_line_refuse_the_same_files_for_the_same_field():
    chance = random.Random(3)
    short = [trace | {"iterations": trace["iterations"][:3]} for trace in TRACES.values()]
    texts = [spoilt(chance.choice(short), chance) for _ in range(400)]
    whole = TRACES["duodecoding"]
    texts += [changed(whole, path, value) for path, value, _ in WRONG_FIELDS]
    # An older trace says nothing of its method, which may be unknown; a newer one has more fields.
    older = {name: value for name, value in whole["header"].items() if name not in ("about", "date", "pair")}
    headers = [older, older | {"method": "unheard_of"}, whole["header"] | {"method": "unheard_of", "later": 1}]
    texts += [json.dumps(whole | {"header": header, "later": 1}) for header in headers]
    texts += [json.dumps(trace) for trace in TRACES.values()]
    refused = 0
    for text, problem in zip(texts, evaluate(READ, texts), strict=True):
        told = accepted(text)
        assert (told is None) == (problem is None), (told, problem, text[:2000])
        if told and '"' in told:
            assert told.split('"')[1] == problem.split('"')[1]
        refused += told is not None
    assert 100 < refused < 400
