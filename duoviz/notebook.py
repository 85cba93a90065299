"""Runs, races and the Lab's results as objects: for a notebook, a script, and what was saved earlier."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duoviz import comparison
from duoviz.errors import UserError, check_write
from duoviz.lab import results as lab
from duoviz.lab.answers import answer_line
from duoviz.runs import row, text_of
from duoviz.trace.exports import csv_text, iteration_rows, perfetto_events, token_rows
from duoviz.trace.metrics import metrics
from duoviz.trace.reading import SCHEMA_VERSION, checked_race, checked_trace, read_object

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from duoviz.lab.report import Section


class Saved:
    """What is a table of `lines`, and is written as what a file's name ends with."""

    # What makes the file's content, by the end of its name.
    files: dict[str, Callable[[Any], str | bytes]]

    def lines(self) -> list[dict]:
        """The table's lines, by column."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The table."""
        return frame(self.lines())

    def to_csv(self) -> str:
        """The table, under a line of column names."""
        lines = self.lines()
        return csv_text([[*lines[0]], *([*line.values()] for line in lines)] if lines else [])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as what the name ends with (see docs/python.md). Raises UserError."""
        path = Path(path)
        ending = next((ending for ending in self.files if path.name.endswith(ending)), None)
        if ending is None:
            raise UserError(f"{path.name}: end the file's name with one of {', '.join(self.files)}.")
        self.write(path, ending)
        return path

    def write(self, path: Path, ending: str) -> None:
        """Write what such a name's file holds. Raises UserError."""
        content = self.files[ending](self)
        with check_write(path):
            # Half a character (a lone surrogate) is no text for a file; a table's line ends are its own.
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))


class Run(Saved):
    """One run: its text, its figures, and its whole trace, of whatever engine. Its table has a row an iteration."""

    files = {
        ".html": lambda run: run.to_html(),
        ".csv": Saved.to_csv,
        ".perfetto.json": lambda run: in_json(perfetto_events(run.trace)),
        ".json": lambda run: in_json(run.trace),
    }

    def __init__(self, trace: dict[str, Any]):
        self.trace = trace

    def lines(self) -> list[dict]:
        return iteration_rows(self.trace)

    @property
    def text(self) -> str:
        return text_of(self.iterations)

    @property
    def token_ids(self) -> list[int]:
        return [token["id"] for iteration in self.iterations for token in iteration["committed"]]

    @property
    def iterations(self) -> list[dict]:
        return self.trace["iterations"]

    @property
    def method(self) -> str:
        return self.trace["header"]["method"]

    @property
    def stopped(self) -> str | None:
        """Why it ended: `eos`, `length`, `context`, `stopped` or `error`; None where that is not known."""
        end = self.trace["end"]
        return end and end["stopped"]

    @property
    def message(self) -> str:
        """A sentence on what ended the run or held it up, "" where nothing did."""
        return (self.trace["end"] or {}).get("message", "")

    @cached_property
    def metrics(self) -> dict:
        """See `duoviz.trace.metrics`; times in seconds, None where a figure is not known."""
        return metrics(self.trace)

    def tokens_to_pandas(self) -> pd.DataFrame:
        """A row a token of the text."""
        return frame(token_rows(self.trace))

    def to_html(self) -> str:
        """The page that replays the run without a server."""
        from duoviz.web.replay import replay_page

        return replay_page(in_json(self.trace))

    def _repr_html_(self) -> str:
        from duoviz.web.replay import replay_frame

        return replay_frame(in_json(self.trace))

    def __repr__(self) -> str:
        speed, tau = (self.metrics[name] for name in ("tps", "tau"))
        known = [f"{self.metrics['new_tokens']} tokens", speed and f"{speed:.1f} tokens/s", tau and f"τ {tau:.2f}"]
        return f"<Run of {self.method}: {', '.join(filter(None, [*known, self.message]))}>"


class Race(Saved):
    """Runs of several lanes on the same prompts. Its table has a row a run.

    lanes: name and method of each. rows: see `runs.row`. result: what a race of two lanes on one prompt came to (see
    `comparison.outcome`), None of others.
    """

    files = {".csv": Saved.to_csv, ".json": lambda race: in_json(race.file())}

    def __init__(self, lanes: Sequence[dict], rows: Sequence[dict], result: dict | None = None):
        self.lanes, self.rows, self.result = list(lanes), list(rows), result

    @property
    def runs(self) -> list[Run]:
        """Each run, in the order of `to_pandas()`."""
        return [Run(row["trace"]) for row in self.rows]

    @cached_property
    def disturbance(self) -> str | None:
        """What disturbed the race, in a sentence."""
        return comparison.disturbance(self.rows)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a lane: the means of its runs, and φ where vanilla ran too (see `comparison.table`)."""
        return frame(comparison.table(self.rows))

    def lines(self) -> list[dict]:
        names = ("prompt", "method", "cores", "repeat", "stopped")
        lines = [{name: row[name] for name in names} | row["metrics"] | {"text": row["text"]} for row in self.rows]
        return [{"lane": line.pop("method"), **line} for line in lines]

    def file(self) -> dict:
        """What a race file holds. Raises UserError for a race that is not of two lanes on one prompt."""
        if self.result is None:
            raise UserError("A race file holds two lanes on one prompt: save each of these runs by itself.")
        recordings = [{"lane": row["method"], "repeat": row["repeat"], "trace": row["trace"]} for row in self.rows]
        repeats = 1 + max(row["repeat"] for row in self.rows)
        about = {"schema": SCHEMA_VERSION, "repeats": repeats, "lanes": self.lanes}
        return {**about, "recordings": recordings, "result": self.result}

    def _repr_html_(self) -> str:
        from html import escape

        said = filter(None, [self.disturbance, self.result["headline"] if self.result else None])
        return "".join(f"<p>{escape(words)}</p>" for words in said) + self.table.to_html(index=False, na_rep="–")

    def __repr__(self) -> str:
        return f"<Race of {', '.join(lane['name'] for lane in self.lanes)}: {len(self.rows)} runs>"


class Results(lab.Results, Saved):
    """The Lab's results: `rows` (the answers, see docs/lab.md), `plan` and `environment`. Its table has a row an
    answer; `tables` and `figures` are those of the report, each by its name there."""

    files = {".zip": lab.packed, ".html": lambda results: results.to_html(), ".csv": Saved.to_csv}

    @cached_property
    def sections(self) -> list[Section]:
        from duoviz.lab.report import sections

        return sections(self)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Each table by its name, a row a cell: its value, the standard deviation or the noise around it, and n."""
        from duoviz.lab.report import table_lines

        made = {table.name: table_lines(table) for part in self.sections for table in part.tables}
        return {name: frame(lines, head) for name, (head, *lines) in made.items()}

    @property
    def figures(self) -> dict[str, Figure]:
        """Each figure by its name, as plotly draws it."""
        return {part.name: part.figure.drawing for part in self.sections if part.figure}

    def lines(self) -> list[dict]:
        return [answer_line(row) for row in self.rows]

    def to_html(self) -> str:
        """The report, a page that needs no other file."""
        from duoviz.lab.report import report_html

        return report_html(self, self.sections)

    def _repr_html_(self) -> str:
        from duoviz.lab.report import about, part_html

        first, quick = self.sections[0], self.plan["quick"]
        return part_html("about", *about(self)) + part_html("above", first) + part_html("below", first, quick)

    def __repr__(self) -> str:
        return f"<Results {self.name}: {len(self.rows)} answers>"


def open(path: str | os.PathLike[str]) -> Run | Race | Results:
    """A saved run, a saved race, or the Lab's results in a folder or a zip. Raises UserError."""
    path = Path(path)
    if lab.is_results(path):
        return Results(**vars(lab.load(path)))
    value = read_object(path)
    if "recordings" not in value:
        return Run(checked_trace(value, path))
    race = checked_race(value, path)
    rows = [row(each["trace"], each["lane"], each["repeat"]) for each in race["recordings"]]
    return Race(race["lanes"], rows, race["result"])


def in_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def frame(lines: Sequence, columns: list | None = None) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines, columns=columns)
