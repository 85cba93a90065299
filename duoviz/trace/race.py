"""A race as one file (`.duorace.json`): its traces, and what it came to. The page writes and reads it.

    {"schema": 1, "repeats": 3,
     "lanes": [{"name": "Vanilla", "method": "vanilla", "baseline": false}, …],
     "recordings": [{"lane": "Vanilla", "repeat": 0, "trace": {"header": …, "iterations": …, "end": …}}, …],
     "result": {…}}

lanes: the two sides first, then what only the speed-up φ compares with (`baseline`).
recordings: every round of every lane that wrote something, as a trace (see `schema`).
result: what `duoviz.comparison.outcome` says; here are the fields of it that are shown.
"""

from duoviz.trace.agreement import VERDICTS
from duoviz.trace.fields import AMOUNT, COUNT, TEXT, WORD
from duoviz.trace.schema import SCHEMA_VERSION

MAX_LANES = 10
MAX_ROUNDS = 100

MAY_MISS = ["or null", AMOUNT]
FIGURES = [
    "object",
    {
        "runs": COUNT, "tps": MAY_MISS, "tps_lowest": MAY_MISS, "tps_highest": MAY_MISS, "ttft": MAY_MISS,
        "tau": MAY_MISS, "phi": MAY_MISS, "phi_same_cores": MAY_MISS,
    },
]  # fmt: skip
LANE = ["object", {"name": TEXT, "method": WORD, "baseline": ["flag"]}]
LANE_RESULT = [
    "object",
    {"name": TEXT, "error": ["or null", TEXT], "figures": ["or null", FIGURES], "repeat": ["or null", COUNT]},
]
BASELINE = ["or null", ["object", {"device": TEXT, "tps": MAY_MISS}]]
RESULT = [
    "object",
    {
        "lanes": ["list", LANE_RESULT, MAX_LANES], "baselines": ["object", {"all": BASELINE, "target": BASELINE}],
        "verdict": ["or null", ["object", {"verdict": ["one of", *VERDICTS], "sentence": TEXT}]],
        "disturbance": ["or null", TEXT], "headline": TEXT, "sentences": ["list", TEXT, 100],
    },
]  # fmt: skip
RECORDING = ["object", {"lane": TEXT, "repeat": COUNT, "trace": ["object", {}]}]
RACE = [
    "object",
    {
        "schema": ["whole", 1, SCHEMA_VERSION], "repeats": ["whole", 1, MAX_ROUNDS],
        "lanes": ["list", LANE, MAX_LANES],
        "recordings": ["list", RECORDING, MAX_LANES * MAX_ROUNDS], "result": RESULT,
    },
]  # fmt: skip
