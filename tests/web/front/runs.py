"""The recorded run of each method, and races of a tiny pair."""

import json

from duoviz import runner
from duoviz.comparison import outcome
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.recordings import ENDING, STORY
from duoviz.trace.metrics import metrics
from tests.tiny import tiny_engine
from tests.trace.made import evenly_timed, events_of

LANES = [
    runner.Lane("Vanilla", "vanilla", Settings(max_new_tokens=40)),
    runner.Lane("DuoDecoding", "duodecoding", Settings(max_new_tokens=40)),
]
# Seconds that the slower side of a race takes: long enough to be looked at.
WALL = 1.5


def race_of(change=lambda rows: None):
    """The rows of a real race of a tiny pair, with times of our own; its events; and what it came to."""
    engine = tiny_engine(noise=0.3)
    rows = list(runner.compare(engine, ["hello"], LANES, warmups=0))
    for row, wall in zip(rows, (WALL, 0.7 * WALL), strict=True):
        evenly_timed(row["trace"], wall)
        row["metrics"] = metrics(row["trace"])
    change(rows)
    lanes = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in LANES]
    events = [{"type": "lanes", "lanes": lanes, "repeats": 1}]
    for row in rows:
        told = events_of(row["trace"])
        events += [{"type": "lane", "lane": row["method"], "repeat": 0, "event": event} for event in told]
    result = outcome(engine, LANES, rows, {})
    return rows, [*events, {"type": "end", "result": result}], result


def file_of(race):
    """The race as the page saves it."""
    rows, (begin, *_), result = race
    recordings = [{"lane": row["method"], "repeat": 0, "trace": row["trace"]} for row in rows]
    return {"schema": 1, "repeats": 1, "lanes": begin["lanes"], "recordings": recordings, "result": result}


def written_at(trace, clock):
    """The texts of the tokens that a run had written at a time."""
    return [token["text"] for each in trace["iterations"] if each["sync"] <= clock for token in each["committed"]]


def telling(iterations):
    """The first of two iterations in which all that can become of a guess does, and the draft makes several steps."""
    for first in range(1, len(iterations) - 1):
        both = iterations[first : first + 2]
        statuses = {node["status"] for each in both for node in [*each["checked"], *each["drafted"]]}
        steps = min(len(each["draft"]) for each in both)
        if {"accepted", "rejected", "correction"} <= statuses and steps >= 1 + (both[0]["theta"] is not None):
            return first
    raise AssertionError("no two iterations show it all")


def recorded(method, folder=STORY):
    """The recording of a method that comes along."""
    return json.loads((folder / f"{method}{ENDING}").read_text(encoding="utf-8"))


TRACES = {method: recorded(method) for method in METHODS}
