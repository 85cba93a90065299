"""What the files of a folder of results must hold for tables and figures to be made of them."""

import dataclasses
from functools import partial
from math import inf

from jsonschema_rs import Draft4Validator

from duoviz.decoding import METHODS
from duoviz.decoding.acceptance_table import RANKS
from duoviz.decoding.costs import CONTEXTS, LONGEST, ROW_COUNTS, SHORTEST
from duoviz.decoding.settings import MAX_NEW_TOKENS, MAX_SEQUENCES
from duoviz.decoding.theory import Acceptance
from duoviz.lab.environment import IN_TURN, ON_TARGET, TOGETHER
from duoviz.lab.rows import ARRAYS, BEYOND, TIME_PARTS
from duoviz.lab.tasks import ID, NAME
from duoviz.outside import wrong_field

# Far beyond what is ever measured or written. Of seconds, those of a forward are between SHORTEST and LONGEST.
MAX_NUMBER, MAX_COUNT, MAX_SECONDS = 1e15, 100_000, 1e6

# Its errors leave out the value, which may be large.
compiled = partial(Draft4Validator, mask="")
LABEL, TEXT = {"type": "string", "maxLength": 10_000}, {"type": "string", "maxLength": 1_000_000}


def number(low: float, high: float) -> dict:
    return {"type": "number", "minimum": low, "maximum": high}


def whole(low: float, high: float) -> dict:
    return {"type": "integer", "minimum": low, "maximum": high}


def array(item: dict, *, least: int = 0, most: float = inf) -> dict:
    return {"type": "array", "items": item, "minItems": least} | ({} if most == inf else {"maxItems": most})


def record(*optional: str, only: bool = False, **properties: dict) -> dict:
    """An object with these fields, of which some may be missing; only: and no others."""
    required = [name for name in properties if name not in optional]
    fields = {"type": "object", "properties": properties, "additionalProperties": not only}
    return fields | ({"required": required} if required else {})


COUNT, SECONDS, TIME = whole(0, MAX_COUNT), number(-MAX_SECONDS, MAX_SECONDS), number(SHORTEST, MAX_SECONDS)
SOME = array(whole(1, MAX_COUNT))


def or_none(schema: dict) -> dict:
    return schema | {"type": [schema["type"], "null"]}


# Counts of which the first is no more than the second.
PARTS = (
    ("accepted", "tested"), ("pending_accepted", "pending_tested"), ("hits", "tries"), ("sequences_taken", "hits"),
    ("sequences_taken", "taken"),
)  # fmt: skip
COUNTED = record(only=True, **{field.name: COUNT for field in dataclasses.fields(Acceptance)})
# Results from before `draft_rows` was kept have none.
ITERATIONS = record(
    "draft_rows",
    **dict.fromkeys(("seconds", "target", "draft"), array(SECONDS)),
    **dict.fromkeys(("rows", "draft_steps", "draft_rows", "drafted"), array(COUNT)),
    budget=array(or_none(COUNT)),
    k=array(or_none(whole(1, MAX_SEQUENCES))),
    needed=array(or_none(whole(1, BEYOND))),
)
MEASURED = record(
    "token_ids", "gaps", prompt_tokens=COUNT, token_ids=array(whole(0, MAX_NUMBER)),
    gaps=array(or_none(number(0, MAX_NUMBER))), metrics=record(ttft=TIME),
    time=record(only=True, **dict.fromkeys(TIME_PARTS, SECONDS)), counts=COUNTED, iterations=ITERATIONS,
)  # fmt: skip
CHOICE = record(turns=array(TEXT), decoding_steps=SOME, new_tokens=SOME, wall_time=array(TIME, least=1),
                accept_lengths=SOME)  # fmt: skip
SETTINGS = record(method={"type": "string"}, cores={"enum": ["auto", "all", "target"]},
                  max_new_tokens=whole(1, MAX_NEW_TOKENS))  # fmt: skip
IDENTITY = {"question_id": ID, "model_id": NAME, "task": NAME, "repeat": COUNT}
ANSWER = compiled(
    record(
        "tstamp", **IDENTITY, choices=array(CHOICE, least=1), measured=array(MEASURED, least=1), settings=SETTINGS,
        verdict={"enum": ["equal", "tie", "defect", None]}, tstamp=number(-MAX_NUMBER, MAX_NUMBER),
    )
)  # fmt: skip
FAILED = compiled(record(**IDENTITY, message=TEXT))
REPEATS = array(TIME, least=1, most=1_000)
FORWARDS = compiled(record(length=whole(1, MAX_NUMBER), draft=REPEATS, target=REPEATS))


def cost_table(columns: int) -> dict:
    """Seconds by context, and in each line by so many row counts or sequences."""
    line = array(number(SHORTEST, LONGEST), least=columns, most=columns)
    return array(line, least=len(CONTEXTS), most=len(CONTEXTS))


COSTS = record(target=cost_table(len(ROW_COUNTS)), draft=cost_table(MAX_SEQUENCES))
CORES = array(COUNT, most=MAX_COUNT)
SIDES = record(target=LABEL, draft=LABEL)
# Kinds of places, each its share and the chances by rank.
PLACES = array(array(number(0, 1), least=RANKS + 1, most=RANKS + 1), least=1, most=100)
ENVIRONMENT = compiled(
    record(
        "cpu", "threads", "places", "machines", date=LABEL, pair=LABEL, models=SIDES, devices=record(target=LABEL),
        precision=SIDES, cores=record("target", "draft", target=CORES, draft=CORES), cpu={"type": "boolean"},
        threads=record("all", "target", "draft", **dict.fromkeys(("all", "target", "draft"), COUNT)),
        versions=record(torch=LABEL), delta=number(-MAX_NUMBER, MAX_NUMBER), places=PLACES, machines=record(),
        costs=record(ON_TARGET, only=True, **{TOGETHER: COSTS, IN_TURN: COSTS, ON_TARGET: COSTS}),
    )
)  # fmt: skip
PLAN = compiled(
    record(quick={"type": "boolean"}, source=LABEL, max_new_tokens=COUNT, questions=whole(0, MAX_NUMBER), repeats=COUNT)
)


def wrong_in_answer(row: dict) -> str | None:
    """Where in an answer something is missing or wrong, or contradicts the rest; None where all is right."""
    return wrong_field(ANSWER, row) or contradiction(row)


def contradiction(row: dict) -> str | None:
    """Where counts are more than their total, or turns and iterations not as many as elsewhere."""
    answer, turns = row["choices"][0], row["measured"]
    steps = answer["decoding_steps"]
    if row["settings"]["method"] not in METHODS:
        return "settings.method"
    alike = all(len(answer[name]) == len(turns) for name in ("turns", "decoding_steps", "new_tokens", "wall_time"))
    if not alike or len(answer["accept_lengths"]) != sum(steps):
        return "choices[0]"
    for place, (turn, count) in enumerate(zip(turns, steps, strict=True)):
        if part := next((part for part, total in PARTS if turn["counts"][part] > turn["counts"][total]), None):
            return f"measured[{place}].counts.{part}"
        arrays = turn["iterations"]
        if name := next((name for name in ARRAYS if name in arrays and len(arrays[name]) != count), None):
            return f"measured[{place}].iterations.{name}"
    return None
