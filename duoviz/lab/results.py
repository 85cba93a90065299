"""A folder of results: rows as they finish, in files that other programs can read; loading one, or a zip of one.

environment.json   the machine, models, versions, costs
plan.json          what was asked for
answers/LANE.jsonl Spec-Bench's answer format, one file a lane (see `rows`)
failed.jsonl       answers that could not be had, and why
forwards.jsonl     the times of Figure 1
"""

import io
import json
import math
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from duoviz.decoding.budget import CONTEXTS
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.lab.rows import ARRAYS, BEYOND, COUNTS, MAY_MISS, TIME_PARTS, Row, key
from duoviz.lab.tasks import LabError
from duoviz.models.linear import ROW_COUNTS

LOCK = ".lock"
# What must not differ between rows that stand in one table.
SAME_PLAN = ("source", "max_new_tokens")
SAME_MACHINE = ("pair", "models", "devices", "cores", "precision", "versions")
# Bytes of a zip, unpacked.
LARGEST = 500_000_000
# What reading damaged results may raise.
DAMAGE = (
    OSError, zipfile.BadZipFile, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError
)  # fmt: skip


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
        """Note what is run and where. Raises LabError where the folder's rows are of another run."""
        if is_results(self.path):
            before = self.load()
            for name, old, new in (
                *((name, before.plan[name], plan[name]) for name in SAME_PLAN),
                *((name, before.environment[name], environment[name]) for name in SAME_MACHINE),
            ):
                if old != new:
                    raise LabError(
                        f"{self.path} holds results with another {name.replace('_', ' ')} ({shown(old)}, now "
                        f"{shown(new)}): choose another folder."
                    )
            environment |= {"date": before.environment["date"]}
        for name, content in (("plan", plan), ("environment", environment)):
            write_whole(self.path / f"{name}.json", json.dumps(content, ensure_ascii=False, indent=1))
        # Every failed answer is tried again.
        (self.path / "failed.jsonl").unlink(missing_ok=True)

    def load(self) -> Results:
        return load(self.path)

    def add_answer(self, row: Row) -> None:
        self.append(f"answers/{row['model_id']}.jsonl", row)

    def add_failed(self, row: Row) -> None:
        self.append("failed.jsonl", row)

    def add_forwards(self, row: dict) -> None:
        self.append("forwards.jsonl", row)

    def append(self, name: str, row: dict) -> None:
        """Add a line to a file; it is on the disk before this returns."""
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        with file.open("ab") as lines:
            lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            lines.flush()
            os.fsync(lines.fileno())


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder, made if need be, for this process alone. Raises LabError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise LabError(f"Another run is writing to {path}: wait for it or choose another folder.") from None
    except OSError as error:
        raise LabError(f"The results cannot be written to {path}: {error.strerror or error}.") from error
    try:
        for file in (*path.glob("answers/*.jsonl"), *path.glob("*.jsonl")):
            drop_torn_line(file)
        yield Folder(path)
    finally:
        lock.release()


def is_being_written(path: Path) -> bool:
    """Whether a run has the folder open."""
    if path.suffix == ".zip":
        return False
    try:
        with FileLock(path / LOCK, timeout=0):
            return False
    except Timeout:
        return True


def drop_torn_line(file: Path) -> None:
    """Cut off a last line without an end: the process was killed while it wrote."""
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(file, whole)


def write_whole(file: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one."""
    part = file.with_name(file.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, file)


def shown(value: object) -> str:
    """A value of a plan or an environment, in a sentence."""
    return ", ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def is_results(path: Path) -> bool:
    """Whether this looks like a folder of results, or a zip of one."""
    return path.suffix == ".zip" or (path / "environment.json").is_file()


def load(path: Path) -> Results:
    """The results in a folder or a zip of one. Raises LabError."""
    try:
        files = read_zip(path) if path.is_file() else read_folder(path)
        answers = [row for name in sorted(files) if name.startswith("answers/") for row in lines_of(files[name])]
        results = Results(
            name=path.stem,
            environment=json.loads(files["environment.json"]),
            plan=json.loads(files["plan.json"]),
            rows=list({key(row): row for row in answers}.values()),
            failed=lines_of(files.get("failed.jsonl", "")),
            forwards=lines_of(files.get("forwards.jsonl", "")),
        )
        check_shape(results)
    except DAMAGE as error:
        raise LabError(f"{path.name} holds no results of the Lab, or damaged ones.") from error
    return results


def read_folder(path: Path) -> dict[str, str]:
    """The text of each file that `load` needs, by its name in the folder."""
    wanted = [path / "environment.json", path / "plan.json", *path.glob("*.jsonl"), *path.glob("answers/*.jsonl")]
    return {file.relative_to(path).as_posix(): file.read_text(encoding="utf-8") for file in wanted}


def read_zip(path: Path) -> dict[str, str]:
    """The same of a zip, whose folder may lie in others. Nothing is written to the disk."""
    with zipfile.ZipFile(path) as archive:
        names = [info.filename for info in archive.infolist()]
        top = min((name for name in names if name.endswith("environment.json")), key=len)[: -len("environment.json")]
        wanted = [info for info in archive.infolist() if info.filename.endswith((".json", ".jsonl"))]
        wanted = [info for info in wanted if info.filename.startswith(top)]
        if sum(info.file_size for info in wanted) > LARGEST:
            raise ValueError("too large")
        return {info.filename[len(top) :]: archive.read(info).decode("utf-8") for info in wanted}


def lines_of(text: str) -> list[dict]:
    """The objects of a .jsonl file; a torn last line is left out."""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def check_shape(results: Results) -> None:
    """Raise ValueError, LookupError or TypeError unless all that tables and figures read is there."""
    environment, plan = results.environment, results.plan
    expect(all(isinstance(environment[name], str) for name in ("date", "pair")))
    expect(all(isinstance(environment[name]["target"], str) for name in ("models", "devices", "precision")))
    expect(isinstance(environment["models"]["draft"], str) and isinstance(plan["quick"], bool))
    expect(numbers([environment["delta"], *(plan[name] for name in ("max_new_tokens", "questions", "repeats"))]))
    for costs in (environment["costs"]["together"], environment["costs"]["in turn"]):
        for side, count in (("target", len(ROW_COUNTS)), ("draft", MAX_SEQUENCES)):
            expect(len(costs[side]) == len(CONTEXTS) and all(len(row) == count for row in costs[side]))
            expect(all(numbers(row) and min(row) > 0 for row in costs[side]))
    for row in results.rows:
        check_row(row)
    for each in results.forwards:
        expect(numbers([each["length"], *each["draft"], *each["target"]]) and each["draft"] and each["target"])
    for row in results.failed:
        expect(all(isinstance(row[name], str) for name in ("task", "model_id", "message")))


def check_row(row: Row) -> None:
    answer, turns = row["choices"][0], len(row["measured"])
    expect(all(isinstance(row[name], str) for name in ("task", "model_id")) and isinstance(row["repeat"], int))
    expect(all(isinstance(row["settings"][name], str) for name in ("method", "cores")))
    expect(turns and all(len(answer[name]) == turns for name in ("turns", "decoding_steps", "new_tokens", "wall_time")))
    for name in ("wall_time", "new_tokens", "accept_lengths"):
        expect(numbers(answer[name]) and min(answer[name]) > 0)
    for steps, turn in zip(answer["decoding_steps"], row["measured"], strict=True):
        expect(numbers([turn["prompt_tokens"], *turn["time"].values()]) and turn["metrics"]["ttft"] > 0)
        expect(set(turn["time"]) == set(TIME_PARTS) and set(turn["counts"]) == set(COUNTS))
        expect(numbers(turn["counts"].values()))
        arrays = turn["iterations"]
        for name in ARRAYS:
            expect(len(arrays[name]) == steps and numbers(value for value in arrays[name] if value is not None))
            expect(name in MAY_MISS or None not in arrays[name])
        expect({None, *range(1, MAX_SEQUENCES + 1)}.issuperset(arrays["k"]))
        expect({None, *range(1, BEYOND + 1)}.issuperset(arrays["needed"]))


def expect(holds: object) -> None:
    if not holds:
        raise ValueError("not as it should be")


def numbers(values: Iterable) -> bool:
    """Whether all are finite numbers."""
    return all(isinstance(value, int | float) and math.isfinite(value) for value in values)


def zipped(path: Path) -> bytes:
    """The folder as a zip, without what is only there while it is written."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.name != LOCK and file.suffix != ".part":
                archive.write(file, Path(path.name) / file.relative_to(path))
    return buffer.getvalue()
