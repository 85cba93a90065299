"""A race as one file (`.duorace.json`): its traces, and what it came to. The page writes and reads it.

    {"schema": 1, "repeats": 3,
     "lanes": [{"name": "Vanilla", "method": "vanilla", "baseline": false}, …],
     "recordings": [{"lane": "Vanilla", "repeat": 0, "trace": {"header": …, "iterations": …, "end": …}}, …],
     "result": {…}}

lanes: the two sides first, then what only the speed-up φ compares with (`baseline`).
recordings: every round of every lane that wrote something, as a trace (see `schema`).
result: what `duoviz.comparison.outcome` says; `race.schema.json` has the fields of it that are shown.
"""

from duoviz.trace.schema import read_schema

SCHEMA = read_schema("race.schema.json")
