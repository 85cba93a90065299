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

from jsonschema_rs import Draft202012Validator

from duoviz.decoding import METHODS
from duoviz.errors import UserError
from duoviz.outside import Reader, Refused, wrong_field

MAX_FILE_BYTES = 50_000_000


def read_schema(name: str) -> dict:
    """One of the schemas beside this file."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


SCHEMA = read_schema("trace.schema.json")
SCHEMA_VERSION = SCHEMA["$defs"]["header"]["properties"]["schema"]["maximum"]
MAX_WRITTEN, A_TOKEN = SCHEMA["x-limits"]["written"], SCHEMA["x-limits"]["token"]
# Their errors leave out the value, which may be large.
TRACE = Draft202012Validator(SCHEMA, mask="")
RACE = Draft202012Validator(read_schema("race.schema.json"), mask="")


def faults(iteration: dict) -> Iterator[str]:
    """Where in an iteration a forward ends before it starts, or a parent comes after its node.

    A node whose parents all come first is not its own ancestor.
    """
    target, steps, checked = iteration["target"], iteration["draft"], iteration["checked"]
    if target["end"] < target["start"]:
        yield ".target.end"
    yield from (f".draft[{i}].end" for i, step in enumerate(steps) if step["end"] < step["start"])
    for name, before in (("checked", 0), ("drafted", 0), ("rest", len(checked))):
        nodes = enumerate(iteration.get(name, []))
        yield from (f".{name}[{i}].parent" for i, node in nodes if node["parent"] >= before + i)


def out_of_order(iterations: list[dict]) -> str | None:
    """Where iterations break a rule: their numbers and times go on, and their text is not too long."""
    sync = written = 0
    for i, iteration in enumerate(iterations):
        if fault := next(faults(iteration), None):
            return f"iterations[{i}]{fault}"
        written += sum(A_TOKEN + len(token["text"]) for token in iteration["committed"])
        if iteration["index"] != i or iteration["sync"] < sync or written > MAX_WRITTEN:
            return f"iterations[{i}]"
        sync = iteration["sync"]
    return None


def wrong_in_trace(value: dict) -> str | None:
    """Where in a value something is not as in a trace; None where all is."""
    if wrong := wrong_field(TRACE, value):
        return wrong
    # A method that this version does not know must say itself how it is shown.
    known = "about" in value["header"] or value["header"]["method"] in METHODS
    return out_of_order(value["iterations"]) if known else "header.method"


def read_text(path: Path) -> str:
    """A trace file's text. Raises UserError."""
    try:
        if not path.is_file():
            raise UserError(f"There is no file {path}: check the name.")
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES // 1_000_000
            raise UserError(f"{path} has {-(-size // 1_000_000)} MB, and a trace may have at most {most} MB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UserError(f"{path} cannot be read: it is not a text file, or you may not open it.") from error


def parse_trace(text: str, name: object) -> dict:
    """The trace that a file's text holds; name: what to call the file. Raises UserError."""
    return checked_trace(parse_object(text, name, "trace"), name)


def parse_object(text: str, name: object, kind: str) -> dict:
    """The JSON object that a file's text holds; kind: what the file should be. Raises UserError."""
    try:
        # Exports replace half a character as they write it.
        value = Reader(refuse_surrogates=False).parse(text.encode("utf-8", "surrogatepass"))
    except Refused as error:
        raise UserError(f"{name} is not a {kind}: it {error}.") from error
    if not isinstance(value, dict):
        raise UserError(f"{name} is not a {kind}: it is not a JSON object.")
    return value


def check_schema(schema: object, name: object) -> None:
    """Raise UserError for a file that another version wrote."""
    if isinstance(schema, int | float) and not isinstance(schema, bool) and schema == int(schema) != SCHEMA_VERSION:
        remedy = ": it needs a newer duoviz" if schema > SCHEMA_VERSION else ""
        raise UserError(f"{name} has schema {schema:g}, and this duoviz reads schema {SCHEMA_VERSION}{remedy}.")


def checked_trace(value: dict, name: object) -> dict:
    """The value, which is a trace. Raises UserError."""
    header = value.get("header")
    check_schema(header.get("schema") if isinstance(header, dict) else None, name)
    if (wrong := wrong_in_trace(value)) is not None:
        raise UserError(f'{name} is not a trace: "{wrong}" is missing or wrong.')
    if not value["iterations"]:
        raise UserError(f"{name} has no iterations, so there is nothing to show.")
    return value


def checked_race(value: dict, name: object) -> dict:
    """The value, which is a race of which every run is a trace. Raises UserError."""
    check_schema(value.get("schema"), name)
    if (wrong := wrong_field(RACE, value)) is not None:
        raise UserError(f'{name} is not a race: "{wrong}" is missing or wrong.')
    for number, recording in enumerate(value["recordings"], 1):
        checked_trace(recording["trace"], f"Run {number} of {name}")
    return value


def read_trace(path: Path) -> dict:
    """The trace in a file. Raises UserError."""
    return parse_trace(read_text(path), path)
