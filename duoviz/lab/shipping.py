"""Results that come along with the program: a lean zip of them, and what the page shows of it at first."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

from duoviz.errors import UserError, check_write
from duoviz.folders import ASSETS
from duoviz.lab.results import Results, is_being_written, is_zip, load, packed
from duoviz.lab.rows import Row

# Of a turn: these serve to check it against vanilla's, which is done. Of its metrics, what is read of them here.
NOT_SHIPPED = ("gaps", "token_ids")
METRICS = ("ttft", "overlap")


def ship(folder: Path, out: Path, name: str) -> Path:
    """Write NAME.zip and NAME.json.gz of a finished run's folder, or a zip of it, into `out`; returns the zip.

    Raises UserError.
    """
    if not (folder.is_dir() or is_zip(folder)):
        raise UserError(f"{folder} is not a folder of results, nor a zip of one.")
    results = replace(load(folder), name=name)
    if is_being_written(folder):
        raise UserError(f"A run is writing to {folder}: wait until it ends.")
    file = out / f"{name}.zip"
    with check_write(out):
        out.mkdir(parents=True, exist_ok=True)
        file.write_bytes(packed(lean(results)))
        text = json.dumps(view_of(file), ensure_ascii=False, separators=(",", ":"))
        view_file(file).write_bytes(gzip.compress(text.encode(), mtime=0))
    return file


def lean(results: Results) -> Results:
    """The results without what is not shipped, and without the names of this machine's folders."""
    told = json.dumps([results.environment, results.plan, results.failed])
    for place, short in ((ASSETS, "assets"), (Path.home(), "~")):
        told = told.replace(json.dumps(str(place))[1:-1], short)
    environment, plan, failed = json.loads(told)
    rows = [lean_row(row) for row in results.rows]
    return replace(results, environment=environment, plan=plan, rows=rows, failed=failed)


def lean_row(row: Row) -> Row:
    """An answer's row without what is not shipped; a text that is vanilla's stands with vanilla's answer only."""
    choice, *_ = row["choices"]
    if row["verdict"] == "equal":
        choice = choice | {"turns": [""] * len(row["measured"])}
    turns = [
        {name: value for name, value in turn.items() if name not in NOT_SHIPPED}
        | {"metrics": {name: turn["metrics"].get(name) for name in METRICS}}
        for turn in row["measured"]
    ]
    return row | {"choices": [choice], "measured": turns}


def recorded_name(file: Path) -> str:
    """What shipped results are called on the page."""
    return f"{file.stem} (recorded)"


def shipped(file: Path) -> Results:
    """Shipped results, under the name that the page gives them. Raises UserError."""
    return replace(load(file), name=recorded_name(file))


def view_of(file: Path) -> dict:
    """What the page shows of shipped results: `first`, and its `parts`."""
    # It draws, with plotly, which the page need not wait for: what was kept is all that it shows at first.
    from duoviz.lab.report import first_view, parts_of

    results = shipped(file)
    return {"first": first_view(results), "parts": parts_of(results)}


def view_file(file: Path) -> Path:
    """Where the view of shipped results stands: beside their zip."""
    return file.with_suffix(".json.gz")


def kept_view(file: Path) -> dict | None:
    """The `view_of` that was kept beside shipped results; None where there is none."""
    kept = view_file(file)
    return json.loads(gzip.decompress(kept.read_bytes())) if kept.is_file() else None
