"""A run of the Lab as a job on the hardware."""

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

from duoviz.decoding.engine import Engine
from duoviz.lab.bench import bench
from duoviz.lab.plan import Plan
from duoviz.lab.report import write_report
from duoviz.lab.results import Results, is_results, opened
from duoviz.lab.tasks import LabError
from duoviz.lab.view import first_view, parts_of
from duoviz.web.jobs import Job

# Seconds between two looks at the tables and figures while a run goes on. They are drawn between two
# answers and not during one, so that no answer is slowed by it.
LOOK_EVERY = 30


@dataclass(eq=False, kw_only=True)
class Measurement(Job):
    """What a plan asks for, measured into a folder; it goes on where the folder's last run ended."""

    plan: Plan
    path: Path

    def stream(self, engine: Engine) -> Generator[dict]:
        """`progress` events, and every now and then `results` where there are any."""
        # It may take hours, so it has no deadline; but its decoding has begun.
        self.deadline = math.inf
        looked = time.monotonic()
        try:
            with opened(self.path) as folder:
                for progress in bench(engine, self.plan, folder, stopped=self.over):
                    yield {"type": "progress", "progress": progress}
                    if time.monotonic() - looked > LOOK_EVERY and is_results(folder.path):
                        yield from results_events(folder.load())
                        looked = time.monotonic()
        except LabError as error:
            self.fail(str(error))

    def take(self, event: dict) -> None:
        self.events.put(event)

    def finish(self, engine: Engine, reason: tuple[str, ...]) -> None:
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
            for event in results_events(results):
                self.events.put(event)
        self.events.put({"type": "end", "stopped": self.stop.is_set()})


def results_events(results: Results) -> Iterator[dict]:
    """What the page shows of results, as an event of the job; of none it goes on showing what it shows."""
    if answers := len(results.rows):
        yield {"type": "results", "answers": answers, "view": first_view(results), "parts": parts_of(results)}
