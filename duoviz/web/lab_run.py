"""A run of the Lab as a job on the hardware, and the folders that its results lie in."""

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from duoviz.lab.bench import bench
from duoviz.lab.plan import Plan
from duoviz.lab.report import write_report
from duoviz.lab.results import Results, is_results, opened
from duoviz.lab.sections import sections
from duoviz.lab.tasks import LabError
from duoviz.models.cache import cache_folder
from duoviz.models.embedded import ASSETS
from duoviz.models.pairs import Pair
from duoviz.web.jobs import Job

# Recorded results that come along, as zips.
RECORDED = ASSETS / "lab"
NAME = re.compile(r"[\w+-][\w .+-]{0,59}")

# Seconds between two looks at the tables and figures while a run goes on. They are drawn between two
# answers and not during one, so that no answer is slowed by it.
LOOK_EVERY = 30


def own_folder() -> Path:
    """Where the page keeps results: a folder, or a zip that was loaded, for each name."""
    return cache_folder() / "lab"


def available(*, recorded_only: bool) -> dict[str, Path]:
    """All results that can be shown, the latest first."""
    places = [] if recorded_only else [path for path in own_folder().glob("*") if is_results(path)]
    found = sorted([*places, *RECORDED.glob("*.zip")], key=lambda path: path.stat().st_mtime, reverse=True)
    return {path.stem if path.suffix == ".zip" else path.name: path for path in found}


def folder_named(name: str) -> Path:
    """The folder of the user's results with this name. Raises LabError."""
    if not NAME.fullmatch(name):
        raise LabError("A name has letters, digits, spaces, dots, + and − only, and 60 characters at most.")
    return own_folder() / name


@dataclass(eq=False, kw_only=True)
class LabRun(Job):
    """What a plan asks for, measured into a folder; it goes on where the folder's last run ended."""

    plan: Plan
    path: Path
    prompt: str = ""
    raw: bool = False

    def check_request(self, longest: int) -> None:
        """Nothing that shows before the models are loaded: the plan was checked when it was made."""

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
            with opened(self.path) as folder:
                results = folder.load()
                write_report(folder.path, results)
            self.events.put(results_event(results))
        self.events.put({"type": "end", "stopped": self.stop.is_set()})


def results_event(results: Results) -> dict:
    return {"type": "results", "results": results, "sections": sections(results)}
