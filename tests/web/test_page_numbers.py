"""The page's own figures of a run are Python's, over all recorded runs."""

import json

import pytest

from duoviz.recordings import ENDING, FOLDER
from duoviz.trace.metrics import metrics
from duoviz.trace.reading import read_trace
from tests.node import node

TRACES = sorted(FOLDER.glob(f"*{ENDING}"))
FIGURES = ("tps", "tau", "acceptance", "overlap", "ttft")

# Shows each recording to its end, as a page does that is given it as a file.
SHOW_ALL = """
import { readFileSync } from "node:fs";
import { applyEvent, emptyState, eventsOf, runningNumbers } from "./visualizer/state.js";

function numbersOf(file) {
  const state = emptyState();
  for (const event of eventsOf(JSON.parse(readFileSync(file, "utf8")), file)) applyEvent(state, event);
  return runningNumbers(state, state.iterations.length - 1);
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(numbersOf)));
"""


def test_the_page_computes_what_python_does():
    told = json.loads(node(SHOW_ALL, input=json.dumps([str(file) for file in TRACES])))
    assert len(told) == len(TRACES) > 0
    for file, numbers in zip(TRACES, told, strict=True):
        expected = metrics(read_trace(file))
        assert numbers == pytest.approx({name: expected[name] for name in FIGURES}), file.name
    # Each figure is one of some recording.
    assert all(any(numbers[name] is not None for numbers in told) for name in FIGURES)
