"""A race's declared fields fit what races come to."""

import copy
import json

import pytest

from duoviz import runner
from duoviz.comparison import outcome
from duoviz.decoding.settings import Settings
from duoviz.trace.reading import validator, wrong_field
from duoviz.trace.schema import read_schema
from tests.tiny import tiny_engine

LANES = [runner.Lane(name, name, Settings(max_new_tokens=8)) for name in ("rest", "speculative", "vanilla")]
CHECK = validator(read_schema("race.schema.json"))


@pytest.fixture(scope="module")
def race():
    """Two rounds in which the first side could not run."""
    engine = tiny_engine(noise=0.3)
    rows = list(runner.compare(engine, ["hello"], LANES[1:], repeats=2, warmups=0))
    lanes = [{"name": each.name, "method": each.method, "baseline": each.name == "vanilla"} for each in LANES]
    told = [{"lane": row["method"], "repeat": row["repeat"], "trace": row["trace"]} for row in rows]
    result = outcome(engine, LANES, rows, {"rest": "There is no datastore."})
    return json.loads(json.dumps({"schema": 1, "repeats": 2, "lanes": lanes, "recordings": told, "result": result}))


def test_what_a_race_comes_to_has_the_fields_that_are_declared(race):
    assert wrong_field(CHECK, race) is None
    assert race["result"]["lanes"][0]["error"] and race["result"]["lanes"][1]["figures"]["phi"] > 0


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), 2), (("repeats",), 0), (("lanes",), {}), (("lanes", 0, "baseline"), "no"),
        (("recordings", 1, "lane"), None), (("recordings", 0, "trace"), []), (("result", "headline"), 1),
        (("result", "verdict"), {"verdict": "same"}), (("result", "baselines", "all", "tps"), -1),
        (("result", "lanes", 1, "figures", "phi"), "2"), (("result", "sentences"), [1]),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(race, path, value):
    changed = copy.deepcopy(race)
    *before, last = path
    place = changed
    for key in before:
        place = place[key]
    place[last] = value
    named = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    assert wrong_field(CHECK, changed).startswith(named)
