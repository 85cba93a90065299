"""Command line and page find the same fault in a trace at the same place."""

import json
import random

from duoviz.folders import ASSETS
from duoviz.trace.reading import wrong_in_trace
from tests.node import node

TEXT = (ASSETS / "traces" / "duotree.duoviz.json").read_text(encoding="utf-8")
# Right in some places: 3.0 is an integer, and a llama is one character.
VALUES = [
    None, True, -2, 0, 3.0, 0.5, 1e10, 10**30, "", "draft", "\ud800", "x" * 50, "🦙" * 15_000, "x" * 20_001, [], {},
    [{}],
]  # fmt: skip
FIND = """
import { readFileSync } from "node:fs";
import { wrongInTrace } from "./visualizer/check.js";

const { text, changes } = JSON.parse(readFileSync(0, "utf8"));
const places = [];
for (const { path, ...change } of changes) {
  const trace = JSON.parse(text);
  const last = path.pop();
  const around = path.reduce((value, key) => value[key], trace);
  if ("value" in change) around[last] = change.value;
  else if (Array.isArray(around)) around.splice(last, 1);
  else delete around[last];
  places.push(await wrongInTrace(trace));
}
console.log(JSON.stringify(places));
"""


def place_in(value, chance):
    """A path into a value, ending anywhere on the way down."""
    path = []
    while isinstance(value, dict | list) and value and (len(path) < 2 or chance.random() < 0.8):
        path.append(chance.choice(list(value) if isinstance(value, dict) else range(len(value))))
        value = value[path[-1]]
    return path


def change(chance):
    """One value as it must not be, or left out."""
    path = place_in(json.loads(TEXT), chance)
    return {"path": path} | ({"value": chance.choice(VALUES)} if chance.random() < 0.8 else {})


def changed(path, **new):
    """The trace with a change."""
    around = trace = json.loads(TEXT)
    *before, last = path
    for key in before:
        around = around[key]
    if new:
        around[last] = new["value"]
    else:
        del around[last]
    return trace


def test_page_and_command_line_name_the_same_place():
    chance = random.Random(1)
    # What methods there are the page learns from Python.
    changes = [each for _ in range(250) if (each := change(chance))["path"] != ["header", "about"]]
    ours = [wrong_in_trace(changed(**each)) for each in changes]
    theirs = json.loads(node(FIND, input=json.dumps({"text": TEXT, "changes": changes})))
    for each, mine, other in zip(changes, ours, theirs, strict=True):
        assert mine == other, str(each)[:200]
    assert len(changes) > 200 and 100 < sum(place is not None for place in ours) < 230
