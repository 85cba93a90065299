"""Reads trace files, and says in one sentence what is wrong with a bad one.

A trace is one JSON object that records a run, for live view, replay, lab and export. Files end in `.duoviz.json`; those
of `assets/traces` are full examples.

`trace.schema.json` (JSON Schema, draft 2020-12) says what each field means and may be, for Python, the page and others.
It cannot say these: a forward does not end before it starts; a tree's nodes come after their parents; `index` counts
from 0 and `sync` never falls; all `committed` have at most so many characters (`x-limits`), for a page that lays out a
longer text is held up, and no run comes near it; and a method that is not known here says itself what it is (`about`).

In older traces `discarded` is also what was beyond what was worth verifying, and `start.seconds` leaves the longer
verification out. In a tree that lives on, `pending` is the next root or under it, and `chance` was counted on other
texts; in older traces that was adjusted to how often such tokens were right in the run.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator

from duoviz.decoding import METHODS
from duoviz.errors import UserError
from duoviz.outside import Reader, Refused, wrong_field


def read_schema(name: str) -> dict:
    """One of the schemas beside this file."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


SCHEMA = read_schema("trace.schema.json")
SCHEMA_VERSION = SCHEMA["$defs"]["header"]["properties"]["schema"]["maximum"]
MAX_WRITTEN, A_TOKEN = SCHEMA["x-limits"]["written"], SCHEMA["x-limits"]["token"]
# Their errors leave out the value, which may be large.
TRACE = Draft202012Validator(SCHEMA, mask="")
RACE = Draft202012Validator(read_schema("race.schema.json"), mask="")


def read_trace(path: Path) -> dict:
    """The trace in a file. Raises UserError."""
    return checked_trace(read_object(path), path)


def read_object(path: Path) -> dict:
    """The JSON object in a file that should be a trace, or a race. Raises UserError."""
    try:
        if not path.is_file():
            raise UserError(f"There is no file {path}: check the name.")
        with path.open("rb") as file:
            value = Reader().file(file)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    except Refused as error:
        raise UserError(f"{path} is not a trace: it {error}.") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} is not a trace: it is not a JSON object.")
    return value


def checked_trace(value: dict, name: object) -> dict:
    """The value, which is a trace; name: what to call it in errors. Raises UserError."""
    header = value.get("header")
    check_schema(header.get("schema") if isinstance(header, dict) else None, name)
    if wrong := wrong_in_trace(value):
        raise UserError(f'{name} is not a trace: "{wrong}" is missing or wrong.')
    if not value["iterations"]:
        raise UserError(f"{name} has no iterations, so there is nothing to show.")
    return value


def checked_race(value: dict, name: object) -> dict:
    """The value, which is a race of which every run is a trace. Raises UserError."""
    check_schema(value.get("schema"), name)
    if wrong := wrong_field(RACE, value):
        raise UserError(f'{name} is not a race: "{wrong}" is missing or wrong.')
    for number, recording in enumerate(value["recordings"], 1):
        checked_trace(recording["trace"], f"Run {number} of {name}")
    return value


def check_schema(schema: Any, name: object) -> None:
    """Raise UserError for a file that another version wrote."""
    if type(schema) in (int, float) and schema == int(schema) != SCHEMA_VERSION:
        remedy = ": it needs a newer duoviz" if schema > SCHEMA_VERSION else ""
        raise UserError(f"{name} has schema {schema:g}, and this duoviz reads schema {SCHEMA_VERSION}{remedy}.")


def wrong_in_trace(value: dict) -> str | None:
    """Where in a value something is not as in a trace; None where all is."""
    if wrong := wrong_field(TRACE, value):
        return wrong
    # A method that this version does not know must say itself how it is shown.
    known = "about" in value["header"] or value["header"]["method"] in METHODS
    return next(faults(value["iterations"]), None) if known else "header.method"


def faults(iterations: list[dict]) -> Iterator[str]:
    """Where iterations break a rule: a forward ends before it starts, a parent comes after its node, numbers or times
    do not go on, or the text is too long.

    A node whose parents all come first is not its own ancestor.
    """
    sync = written = 0
    for i, each in enumerate(iterations):
        place, trees = f"iterations[{i}]", {"checked": 0, "drafted": 0, "rest": len(each["checked"])}
        spans = {"target": each["target"]} | {f"draft[{j}]": step for j, step in enumerate(each["draft"])}
        yield from (f"{place}.{name}.end" for name, span in spans.items() if span["end"] < span["start"])
        for name, before in trees.items():
            nodes = enumerate(each.get(name, []))
            yield from (f"{place}.{name}[{j}].parent" for j, node in nodes if node["parent"] >= before + j)
        written += sum(A_TOKEN + len(token["text"]) for token in each["committed"])
        if each["index"] != i or each["sync"] < sync or written > MAX_WRITTEN:
            yield place
        sync = each["sync"]
