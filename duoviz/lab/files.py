"""The files of a folder or zip of results, which may be anyone's: which are read and written, what they must hold."""

import dataclasses
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from typing import BinaryIO

from jsonschema_rs import Draft4Validator

from duoviz.decoding import METHODS
from duoviz.decoding.acceptance_table import RANKS
from duoviz.decoding.costs import CONTEXTS, LONGEST, ROW_COUNTS, SHORTEST
from duoviz.decoding.settings import MAX_NEW_TOKENS, MAX_SEQUENCES
from duoviz.decoding.theory import Acceptance
from duoviz.errors import UserError
from duoviz.lab.machine import IN_TURN, ON_TARGET, TOGETHER
from duoviz.lab.rows import ARRAYS, BEYOND, TIME_PARTS
from duoviz.lab.tasks import ID, NAME
from duoviz.outside import Refused, wrong_field

# Of a zip too; nothing else is read.
DATA = re.compile(r"(environment|plan)\.json|(failed|forwards)\.jsonl|answers(/[\w .,+-]{1,100}\.jsonl)?")
# What a report is made of.
REPORT = re.compile(r"report\.html|tables(/[\w.+-]+\.csv)?|figures(/[\w.+-]+\.(csv|html|js))?")
# Their folders.
FOLDERS = ("answers", "tables", "figures")
LONGEST_NAME = 60
# Bytes of the zip itself, and of what is read of it, unpacked.
MAX_PACKED, MAX_UNPACKED = 100_000_000, 200_000_000
MAX_FILES = 1_000
# Far beyond what is ever measured or written. Of seconds, those of a forward are between SHORTEST and LONGEST.
MAX_NUMBER, MAX_COUNT, MAX_SECONDS = 1e15, 100_000, 1e6

# Its errors leave out the value, which may be large.
compiled = partial(Draft4Validator, mask="")
LABEL, TEXT = {"type": "string", "maxLength": 10_000}, {"type": "string", "maxLength": 1_000_000}


def own_files(folder: Path, *kinds: re.Pattern[str]) -> dict[str, Path]:
    """The folder's files of these kinds, by their names in it, in order.

    Raises UserError where one is a link, which may lead to anybody's file, or a pipe, which may never end.
    """
    found = {}
    for file in sorted([*folder.glob("*"), *(file for part in FOLDERS for file in folder.glob(f"{part}/*"))]):
        name = file.relative_to(folder).as_posix()
        if not any(kind.fullmatch(name) for kind in kinds):
            continue
        if file.is_symlink() or not (file.is_file() or file.is_dir()):
            raise UserError(f"The results in {plain_name(folder.name)} have a link or a pipe named {name}: remove it.")
        if file.is_file():
            found[name] = file
    return found


def plain_name(name: str) -> str:
    """What results are called that anyone may have named: in letters, digits and few signs."""
    return re.sub(r"[^\w .+-]", "_", name).strip()[:LONGEST_NAME] or "results"


def write_atomically(file: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one."""
    part = file.with_name(file.name + ".part")
    # What is left of a killed one goes; so does a link, which would lead what is written elsewhere.
    part.unlink(missing_ok=True)
    with part.open("x", encoding="utf-8") as out:
        out.write(text)
    os.replace(part, file)


@contextmanager
def opened_zip(path: Path) -> Iterator[dict[str, Callable[[], BinaryIO]]]:
    """How to open each file of the results in a zip that is read, by its name; their folder may lie in others.

    Nothing is written to the disk. Raises Refused, and what is in DAMAGED_ZIP.
    """
    if path.stat().st_size > MAX_PACKED:
        raise Refused(f"has more than {MAX_PACKED // 1_000_000} MB")
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if len(archive.infolist()) > MAX_FILES:
            raise Refused(f"has more than {MAX_FILES:,} files")
        if not (tops := [name for name in entries if name.endswith("environment.json")]):
            raise Refused("has no environment.json")
        top = min(tops, key=len).removesuffix("environment.json")
        names = {name.removeprefix(top): entry for name, entry in entries.items() if name.startswith(top)}
        wanted = {name: entry for name, entry in names.items() if DATA.fullmatch(name)}
        for name, entry in wanted.items():
            # Other ways of packing may take any amount of memory.
            if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused(f"has {name} encrypted, or packed with an unknown method")
        if sum(entry.file_size for entry in wanted.values()) > MAX_UNPACKED:
            raise Refused(f"has more than {MAX_UNPACKED // 1_000_000} MB, unpacked")
        yield {name: partial(unpacked, archive, entry) for name, entry in wanted.items()}


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> BinaryIO:
    """A file of the zip, unpacked as it is read."""
    return io.BufferedReader(archive.open(entry), 1 << 16)  # pyright: ignore[reportArgumentType]


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
        "tstamp", **IDENTITY, choices=array(CHOICE, least=1),
        measured=array(MEASURED, least=1), settings=SETTINGS,
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
        "cpu", "threads", "places", date=LABEL, pair=LABEL, models=SIDES, devices=record(target=LABEL),
        precision=SIDES, cores=record("target", "draft", target=CORES, draft=CORES), cpu={"type": "boolean"},
        threads=record("all", "target", "draft", **dict.fromkeys(("all", "target", "draft"), COUNT)),
        versions=record(torch=LABEL), delta=number(-MAX_NUMBER, MAX_NUMBER), places=PLACES,
        costs=record(ON_TARGET, only=True, **{TOGETHER: COSTS, IN_TURN: COSTS, ON_TARGET: COSTS}),
    )
)  # fmt: skip
PLAN = compiled(
    record(quick={"type": "boolean"}, source=LABEL, max_new_tokens=COUNT, questions=whole(0, MAX_NUMBER), repeats=COUNT)
)
SCHEMAS = {"environment.json": ENVIRONMENT, "plan.json": PLAN, "failed.jsonl": FAILED, "forwards.jsonl": FORWARDS}


def wrong_in(name: str, value: dict) -> str | None:
    """Where in an object of this file something is missing or wrong, or contradicts the rest; None where all is
    right."""
    return wrong_field(SCHEMAS[name], value) if name in SCHEMAS else wrong_field(ANSWER, value) or contradiction(value)


def contradiction(row: dict) -> str | None:
    """Where counts are more than their total, or turns and iterations not as many as elsewhere."""
    answer, turns = row["choices"][0], row["measured"]
    steps = answer["decoding_steps"]
    if "baseline" not in row and row["settings"]["method"] not in METHODS:
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
