"""A run of the Lab as a job on the hardware, and the folders that its results lie in."""

import math
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from duoviz.folders import ASSETS
from duoviz.lab.bench import bench
from duoviz.lab.plan import Plan
from duoviz.lab.report import write_report
from duoviz.lab.results import Results, is_results, is_zip, opened
from duoviz.lab.shipping import recorded_name
from duoviz.lab.tasks import LabError
from duoviz.lab.view import first_view, parts_of
from duoviz.models.cache import cache_folder
from duoviz.models.pair import Pair
from duoviz.web.jobs import Job

# Recorded results that come along, as zips.
RECORDED = ASSETS / "results"
NAME = re.compile(r"[\w+-][\w .+-]{0,59}")
LONGEST_STEM = 60

# Seconds between two looks at the tables and figures while a run goes on. They are drawn between two
# answers and not during one, so that no answer is slowed by it.
LOOK_EVERY = 30


def own_folder() -> Path:
    """Where the page keeps its runs: a folder for each name."""
    return cache_folder() / "lab"


def loaded_folder() -> Path:
    """Where the page keeps what was loaded: zips."""
    return cache_folder() / "lab-loaded"


def available(*, recorded_only: bool) -> dict[str, Path]:
    """All results that can be shown, by the names they are shown under: those that come along, then the latest first.

    Those that are not the page's own runs say so in their names, as no run's name can.
    """
    found = []
    if not recorded_only:
        own = [path for path in own_folder().glob("*") if is_results(path)]
        # Earlier versions kept zips beside the runs.
        zips = [path for path in (*own, *loaded_folder().glob("*")) if is_zip(path)]
        found += [(path.name, path) for path in own if path not in zips]
        found += [(f"{path.stem} (loaded)", path) for path in zips]
    recorded = {recorded_name(path): path for path in sorted(RECORDED.glob("*.zip"))}
    return recorded | dict(sorted(found, key=lambda each: each[1].stat().st_mtime, reverse=True))


def folder_named(name: object) -> Path:
    """The folder of the user's run with this name. Raises LabError."""
    if not isinstance(name, str) or not NAME.fullmatch(name.strip()):
        raise LabError("A name has letters, digits, spaces, dots, + and − only, and 60 characters at most.")
    if name.strip().lower().endswith(".zip"):
        raise LabError("A name does not end in .zip: a run's results are a folder, which is saved as a zip.")
    return own_folder() / name.strip()


def keep_loaded(file: Path) -> str:
    """Keep a copy of a zip of results, beside all others; the name that it is shown under. Raises LabError."""
    stem = re.sub(r"[^\w .+-]", "_", file.stem).strip()[:LONGEST_STEM] or "results"
    folder = loaded_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{uuid.uuid4().hex}.part"
        shutil.copy(file, part)
        place = free_place(folder, stem)
        os.replace(part, place)
    except OSError as error:
        raise LabError(f"The results cannot be kept in {folder}: {error.strerror or error}.") from error
    return f"{place.stem} (loaded)"


def free_place(folder: Path, stem: str) -> Path:
    """An empty file with a name that nothing is shown under; two visitors never get the same."""
    taken = available(recorded_only=False)
    for number in count(1):
        place = folder / f"{stem if number == 1 else f'{stem} {number}'}.zip"
        with suppress(FileExistsError):
            if f"{place.stem} (loaded)" not in taken:
                place.touch(exist_ok=False)
                return place


@dataclass(eq=False, kw_only=True)
class LabRun(Job):
    """What a plan asks for, measured into a folder; it goes on where the folder's last run ended."""

    plan: Plan
    path: Path

    def stream(self, pair: Pair) -> Iterator[dict]:
        """`progress` events, and every now and then `results`, with what there is to show of them."""
        # It may take hours, so it has no deadline; but its decoding has begun.
        self.deadline = math.inf
        looked = time.monotonic()
        try:
            with opened(self.path) as folder:
                for progress in bench(pair, self.plan, folder, stopped=self.over):
                    yield {"type": "progress", "progress": progress}
                    if time.monotonic() - looked > LOOK_EVERY and is_results(folder.path):
                        yield results_event(folder.load())
                        looked = time.monotonic()
        except LabError as error:
            self.fail(str(error))

    def take(self, event: dict) -> None:
        self.events.put(event)

    def finish(self, pair: Pair, reason: tuple[str, ...]) -> None:
        """Write the report, also of a run that was stopped or whose visitor has left."""
        if self.error:
            return
        if is_results(self.path):
            try:
                with opened(self.path) as folder:
                    results = folder.load()
                    write_report(folder.path, results)
            except LabError as error:
                return self.fail(str(error))
            self.events.put(results_event(results))
        self.events.put({"type": "end", "stopped": self.stop.is_set()})


def results_event(results: Results) -> dict:
    answers, view = len(results.rows), first_view(results)
    return {"type": "results", "answers": answers, "view": view, "parts": parts_of(results)}
