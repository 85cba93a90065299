"""What the files of a folder of results must hold for tables and figures to be made of them."""

import dataclasses

from duoviz.decoding import METHODS
from duoviz.decoding.acceptance_table import RANKS
from duoviz.decoding.costs import CONTEXTS, LONGEST, ROW_COUNTS, SHORTEST
from duoviz.decoding.settings import MAX_NEW_TOKENS, MAX_SEQUENCES
from duoviz.decoding.theory import Acceptance
from duoviz.lab.environment import IN_TURN, ON_TARGET, TOGETHER
from duoviz.lab.rows import ARRAYS, BEYOND, TIME_PARTS
from duoviz.lab.tasks import is_id, is_name
from duoviz.shape import (
    FLAG,
    Check,
    all_of,
    fields,
    integer,
    items,
    maybe,
    number,
    numbers,
    one_of,
    only,
    optional,
    string,
    when,
)

# Far beyond what is ever measured or written.
MAX_TEXT, MAX_LABEL = 1_000_000, 10_000
MAX_NUMBER, MAX_COUNT = 1e15, 100_000
# Of seconds, those of a forward are between SHORTEST and LONGEST.
MAX_SECONDS = 1e6
MAX_PLACES, MAX_REPEATS = 100, 1_000

NAME, LABEL, TEXT = when(is_name), string(MAX_LABEL), string(MAX_TEXT)
COUNT = integer(0, MAX_COUNT)
NUMBER, SECONDS = number(-MAX_NUMBER, MAX_NUMBER), number(-MAX_SECONDS, MAX_SECONDS)
TIMES = numbers(SHORTEST, MAX_SECONDS, least=1)
COUNTS = numbers(1, MAX_COUNT, integers=True)


def at_most(part: str, total: str) -> Check:
    """Of an object's counts, one is no more than another."""
    return lambda counts: None if counts[part] <= counts[total] else f".{part}"


def add_up(row: dict) -> str | None:
    """Turns and iterations of an answer are as many everywhere."""
    answer, turns = row["choices"][0], row["measured"]
    steps = answer["decoding_steps"]
    alike = all(len(answer[name]) == len(turns) for name in ("turns", "decoding_steps", "new_tokens", "wall_time"))
    if not alike or len(answer["accept_lengths"]) != sum(steps):
        return ".choices[0]"
    for place, (turn, count) in enumerate(zip(turns, steps, strict=True)):
        for name in ARRAYS:
            if len(turn["iterations"].get(name, [None] * count)) != count:
                return f".measured[{place}].iterations.{name}"
    return None


COUNTED = all_of(
    only(**dict.fromkeys((field.name for field in dataclasses.fields(Acceptance)), COUNT)),
    at_most("accepted", "tested"),
    at_most("pending_accepted", "pending_tested"),
    at_most("hits", "tries"),
    at_most("sequences_taken", "hits"),
    at_most("sequences_taken", "taken"),
)
ITERATIONS = fields(
    **dict.fromkeys(("seconds", "target", "draft"), numbers(-MAX_SECONDS, MAX_SECONDS)),
    **dict.fromkeys(("rows", "draft_steps", "drafted"), numbers(0, MAX_COUNT, integers=True)),
    # Results from before it was kept have none.
    draft_rows=optional(numbers(0, MAX_COUNT, integers=True)),
    budget=numbers(0, MAX_COUNT, integers=True, may_miss=True),
    k=numbers(1, MAX_SEQUENCES, integers=True, may_miss=True),
    needed=numbers(1, BEYOND, integers=True, may_miss=True),
)
MEASURED = fields(
    prompt_tokens=COUNT, token_ids=optional(numbers(0, MAX_NUMBER, integers=True)),
    gaps=optional(numbers(0, MAX_NUMBER, may_miss=True)), metrics=fields(ttft=number(SHORTEST, MAX_SECONDS)),
    time=only(**dict.fromkeys(TIME_PARTS, SECONDS)), counts=COUNTED, iterations=ITERATIONS,
)  # fmt: skip
ANSWER = fields(turns=items(TEXT), decoding_steps=COUNTS, new_tokens=COUNTS, wall_time=TIMES, accept_lengths=COUNTS)
SETTINGS = fields(
    method=one_of(METHODS), cores=one_of(("auto", "all", "target")), max_new_tokens=integer(1, MAX_NEW_TOKENS),
)  # fmt: skip
IDENTITY = {"question_id": when(is_id), "model_id": NAME, "task": NAME, "repeat": COUNT}
ANSWERED = all_of(
    fields(
        **IDENTITY, choices=items(ANSWER, least=1), measured=items(MEASURED, least=1), settings=SETTINGS,
        verdict=maybe(one_of(("equal", "tie", "defect"))), tstamp=optional(NUMBER),
    ),
    add_up,
)  # fmt: skip
FAILED = fields(**IDENTITY, message=TEXT)
REPEATED = numbers(SHORTEST, MAX_SECONDS, MAX_REPEATS, least=1)
FORWARDS = fields(length=integer(1, MAX_NUMBER), draft=REPEATED, target=REPEATED)


def cost_table(columns: int) -> Check:
    """Seconds by context, and in each line by so many row counts or sequences."""
    row = numbers(SHORTEST, LONGEST, columns, least=columns)
    return items(row, len(CONTEXTS), least=len(CONTEXTS))


COSTS = fields(target=cost_table(len(ROW_COUNTS)), draft=cost_table(MAX_SEQUENCES))
CORES = numbers(0, MAX_COUNT, MAX_COUNT, integers=True)
CORES_OF = fields(target=optional(CORES), draft=optional(CORES))
THREADS = fields(**dict.fromkeys(("all", "target", "draft"), optional(COUNT)))
SIDES = fields(target=LABEL, draft=LABEL)
# Kinds of places, each its share and the chances by rank.
PLACES = items(numbers(0.0, 1.0, RANKS + 1, least=RANKS + 1), MAX_PLACES, least=1)
ENVIRONMENT = fields(
    date=LABEL, pair=LABEL, models=SIDES, devices=fields(target=LABEL), precision=SIDES, cores=CORES_OF,
    cpu=optional(FLAG), threads=optional(THREADS), versions=fields(torch=LABEL), delta=NUMBER,
    places=optional(PLACES), machines=optional(fields()),
    costs=only(**{TOGETHER: COSTS, IN_TURN: COSTS, ON_TARGET: optional(COSTS)}),
)  # fmt: skip
PLAN = fields(quick=FLAG, source=LABEL, max_new_tokens=COUNT, questions=integer(0, MAX_NUMBER), repeats=COUNT)
