"""Traces: the page writes and refuses the same as the command line."""

import copy
import json
import random

from duoviz.trace.exports import perfetto_events
from duoviz.trace.reading import TraceError, parse_trace
from tests.node import evaluate
from tests.trace.wrong_fields import WRONG_FIELDS, changed

TIMELINES = """async (traces) => {
  const { chromeTrace } = await import("http://plain.test/visualizer/export.js");
  return traces.map((trace) => chromeTrace(trace));
}"""


def test_page_and_command_line_give_the_same_timeline(traces):
    for trace, events in zip(traces.values(), evaluate(TIMELINES, list(traces.values())), strict=True):
        assert perfetto_events(trace) == events


def places(value, path=()):
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(inner, (*path, key))


def spoilt(trace, chance):
    """The trace with one value replaced by another kind of value, or left out."""
    other = copy.deepcopy(trace)
    *before, last = chance.choice([path for path in places(other) if len(path) > 1 or chance.random() < 0.1])
    place = other
    for key in before:
        place = place[key]
    if chance.random() < 0.2 and isinstance(place, dict):
        del place[last]
    else:
        place[last] = chance.choice([None, True, -1, 0, 1, 0.5, 3, 1e12, "", "draft", "accepted", [], {}, "x" * 20_001])
    return other


READ = """async (texts) => {
  const { readTrace } = await import("http://plain.test/visualizer/check.js");
  return Promise.all(texts.map(async (text) => (await readTrace(text)).problem ?? null));
}"""


def accepted(text):
    try:
        parse_trace(text, "x")
    except TraceError as error:
        return str(error)


def test_page_and_command_line_refuse_the_same_files_for_the_same_field(traces):
    chance = random.Random(3)
    short = [trace | {"iterations": trace["iterations"][:3]} for trace in traces.values()]
    texts = [json.dumps(spoilt(chance.choice(short), chance)) for _ in range(300)]
    refused = 0
    for text, problem in zip(texts, evaluate(READ, texts), strict=True):
        told = accepted(text)
        assert (told is None) == (problem is None), (told, problem, text[:2000])
        if told and '"' in told:
            assert told.split('"')[1] == problem.split('"')[1]
        refused += told is not None
    assert 100 < refused < 290


def test_a_bad_file_gives_a_sentence(traces):
    trace = traces["duodecoding"]
    cases = [(changed(trace, path, value), f'"{told}"') for path, value, told in WRONG_FIELDS]
    cases += [("", "it is not JSON"), ("[1]", "not a JSON object"), ("{" * 9, "it is not JSON"), ("{}", '"header"')]
    cases += [("{" * 50, "it is nested deeper than 32 levels"), ("9" * 310, "it has a number that is too large")]
    cases += [(changed(trace, ("header", "schema"), 2), "has schema 2, and this page reads schema 1 at most")]
    cases += [(changed(trace, ("iterations",), []), "no iterations")]
    cases += [('{"recordings": []}', "This file holds a race: open it in the Compare tab.")]
    problems = evaluate(READ, [content for content, _ in cases])
    for problem, (content, sentence) in zip(problems, cases, strict=True):
        assert problem and sentence in problem, (problem, sentence, content[:200])
