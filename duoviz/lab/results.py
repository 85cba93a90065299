"""A folder of results (docs/lab.md says what is in it): rows as they finish; loading one, or a zip of one."""

import io
import json
import os
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from duoviz.errors import UserError, check_write
from duoviz.lab.files import DATA, REPORT, opened_zip, own_files, plain_name, write_atomically, wrong_in
from duoviz.lab.machine import in_words
from duoviz.lab.rows import Row, key
from duoviz.lab.tasks import MAX_TASKS
from duoviz.outside import DAMAGED_ZIP, Reader, Refused, open_file

LOCK = ".lock"
# What must not differ between rows that stand in one table.
SAME = ("source", "max_new_tokens", "pair", "models", "devices", "cores", "precision", "versions")
# Bytes of a line, which is one answer (of a context that a model fills to its end, some 600 kB), and of plan.json or
# environment.json, of which tables are made.
LINE_BYTES, OBJECT_BYTES = 4_000_000, 200_000
# A zip may be anyone's, so what it comes to in memory and in time is bounded too: 480 questions, as many as Spec-Bench
# has, are three quarters of each. A folder holds what was measured here, however much.
ZIP_VALUES, ZIP_LINES, ZIP_TURNS = 15_000_000, 12_000, 15_000
# What tables and figures grow with, beside MAX_TASKS.
MAX_LANES, MAX_LENGTHS = 50, 100
# The date of all files in a zip.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


# How to open each file of a folder or a zip, by its name.
Files = Mapping[str, Callable[[], BinaryIO]]


@dataclass
class Results:
    """What a folder of results holds."""

    name: str
    environment: dict
    plan: dict
    rows: list[Row] = field(default_factory=list)
    failed: list[Row] = field(default_factory=list)
    forwards: list[dict] = field(default_factory=list)


class Folder:
    """A folder that is being written; one process at a time (see `opened`)."""

    def __init__(self, path: Path):
        self.path = path

    def begin(self, plan: dict, environment: dict) -> None:
        """Note what is run and where. Raises UserError where the folder's rows are of another run."""
        if is_results(self.path):
            before = self.load()
            held, asked = before.environment | before.plan, environment | plan
            for name in SAME:
                if held[name] != asked[name]:
                    raise UserError(
                        f"{self.path} holds results with a different {name.replace('_', ' ')} ({in_words(held[name])}, "
                        f"now {in_words(asked[name])}): choose another folder."
                    )
            environment |= {"date": before.environment["date"]}
        self.write("plan", plan)
        self.write("environment", environment)
        # Every failed answer is tried again.
        with check_write(self.path):
            (self.path / "failed.jsonl").unlink(missing_ok=True)

    def note(self, environment: dict) -> None:
        """Put the costs that the run has shown into the environment. Raises UserError."""
        self.write("environment", environment | {"date": self.load().environment["date"]})

    def write(self, name: str, content: dict) -> None:
        with check_write(self.path):
            write_atomically(self.path / f"{name}.json", json.dumps(content, ensure_ascii=False, indent=1))

    def load(self) -> Results:
        return load(self.path)

    def append(self, name: str, row: dict) -> None:
        """Add a line to a file; it is on the disk before this returns. Raises UserError."""
        with check_write(self.path):
            # A folder that was deleted meanwhile is not made again: it would hold half of a run.
            (self.path / "answers").mkdir(exist_ok=True)
            with (self.path / name).open("ab") as lines:
                lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                lines.flush()
                os.fsync(lines.fileno())


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder, made if need be, for this process alone. Raises UserError."""
    with check_write(path):
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise UserError(f"Another run is writing to {path}: wait for it or choose another folder.") from None
    try:
        with check_write(path):
            for name, file in own_files(path, DATA, REPORT).items():
                if name.endswith(".jsonl"):
                    # A process that was killed while it wrote leaves a line without an end.
                    os.truncate(file, file.read_bytes().rfind(b"\n") + 1)
        yield Folder(path)
    finally:
        lock.release()


def is_being_written(path: Path) -> bool:
    """Whether a run has the folder open; none has one that nobody can write to."""
    if is_zip(path):
        return False
    try:
        with FileLock(path / LOCK, timeout=0):
            return False
    except OSError as error:
        return isinstance(error, Timeout)


def is_zip(path: Path) -> bool:
    return path.suffix == ".zip" and path.is_file()


def is_results(path: Path) -> bool:
    """Whether this looks like a folder of results, or a zip of one."""
    return is_zip(path) or (path / "environment.json").is_file()


def load(path: Path) -> Results:
    """The results in a folder or a zip of one, read row by row. Raises UserError."""
    name = plain_name(path.stem if is_zip(path) else path.name)
    try:
        if not is_zip(path):
            files = {each: partial(open_file, file) for each, file in own_files(path, DATA).items()}
            return read_results(name, files, Reader(most_bytes=LINE_BYTES, most_values=inf))
        with opened_zip(path) as files:
            reader = Reader(most_bytes=LINE_BYTES, most_values=ZIP_VALUES, most_lines=ZIP_LINES)
            results = read_results(name, files, reader)
        refuse_more(ZIP_TURNS, "turns", [turn for row in results.rows for turn in row["measured"]])
        return results
    except Refused as error:
        raise UserError(f"{plain_name(path.name)} holds no Lab results, or damaged ones: it {error}.") from error
    except DAMAGED_ZIP as error:
        raise UserError(f"{plain_name(path.name)} holds no Lab results, or damaged ones.") from error


def read_results(name: str, files: Files, reader: Reader) -> Results:
    """Raises Refused."""
    for needed in ("environment.json", "plan.json"):
        if needed not in files:
            raise Refused(f"has no {needed}")
    answers = [
        row
        for file in sorted(files)
        if file.startswith("answers/")
        for row in objects_in(file, files, reader)
        # An older version also measured other engines, each against a baseline of its own.
        if "baseline" not in row
    ]
    environment, plan = (next(objects_in(file, files, reader)) for file in ("environment.json", "plan.json"))
    rows = list({key(row): row for row in answers}.values())
    for turn in (turn for row in rows for turn in row["measured"]):
        # An older version did not keep them: as if each step had had one token.
        turn["iterations"].setdefault("draft_rows", turn["iterations"]["draft_steps"])
    failed, forwards = (list(objects_in(file, files, reader)) for file in ("failed.jsonl", "forwards.jsonl"))
    refuse_more(MAX_TASKS, "tasks", {row["task"] for row in rows + failed})
    refuse_more(MAX_LANES, "methods", {row["model_id"] for row in rows + failed})
    refuse_more(MAX_LENGTHS, "lengths in forwards.jsonl", forwards)
    return Results(name, environment, plan, rows, failed, forwards)


def refuse_more(most: int, what: str, found: Collection) -> None:
    """Raise Refused where more than so many were found."""
    if len(found) > most:
        raise Refused(f"has more than {most:,} {what}")


def objects_in(name: str, files: Files, reader: Reader) -> Iterator[dict]:
    """The objects of a .jsonl file, where it is there, or the one of another file; each is checked before the next is
    read. Raises Refused, which says in which file."""
    with files.get(name, io.BytesIO)() as file:
        try:
            # A torn last line is left out.
            lines = (reader.parse(line) for line in reader.lines(file) if line.endswith(b"\n"))
            for value in lines if name.endswith(".jsonl") else [Reader(most_bytes=OBJECT_BYTES).file(file)]:
                if not isinstance(value, dict):
                    raise Refused("is not a JSON object")
                if (wrong := wrong_in(name, value)) is not None:
                    raise Refused(f'lacks "{wrong}", or has a wrong one')
                yield value
        except Refused as error:
            raise Refused(f"has a file {name} that {error}") from error


def packed(results: Results) -> bytes:
    """The results as a zip of their folder, without the report; the same bytes whenever it is made."""
    files: dict[str, list] = defaultdict(list)
    for row in results.rows:
        files[f"answers/{row['model_id']}.jsonl"].append(row)
    files |= {"failed.jsonl": results.failed, "forwards.jsonl": results.forwards}
    files |= {"environment.json": [results.environment], "plan.json": [results.plan]}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, rows in files.items():
            lines = "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows)
            entry = zipfile.ZipInfo(f"{plain_name(results.name)}/{name}", LONG_AGO)
            archive.writestr(entry, lines, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def zipped(path: Path) -> bytes:
    """The folder's results and their report as a zip, without anything else that lies there. Raises UserError."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in own_files(path, DATA, REPORT).items():
            archive.write(file, f"{plain_name(path.name)}/{name}")
    return buffer.getvalue()
