"""Results that come along with the program: a zip of the Lab's own files, and beside it what the page shows of them."""

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path

from duoviz.folders import ASSETS
from duoviz.lab.files import DATA, own_files
from duoviz.lab.results import Results, is_being_written, load, telling
from duoviz.lab.tasks import LabError

# Of a turn: these serve to check it against vanilla's, which is done. Of its metrics, what is read of them here.
NOT_SHIPPED = ("gaps", "token_ids")
METRICS = ("ttft", "overlap")
# Files are the same whenever they are made.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def recorded_name(file: Path) -> str:
    """What shipped results are called on the page."""
    return f"{file.stem} (recorded)"


def ship(folder: Path, out: Path, name: str) -> Path:
    """Write NAME.zip and NAME.json.gz of a finished run's folder into `out`; returns the zip. Raises LabError."""
    if not folder.is_dir():
        raise LabError(f"{folder} is not a folder of results.")
    load(folder)
    if is_being_written(folder):
        raise LabError(f"A run is writing to {folder}: wait until it ends.")
    file = out / f"{name}.zip"
    with telling(out):
        out.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lean_zip(folder))
        text = json.dumps(view_of(file), ensure_ascii=False, separators=(",", ":"))
        view_file(file).write_bytes(gzip.compress(text.encode(), mtime=0))
    return file


def lean_zip(folder: Path) -> bytes:
    """The folder's data as a zip, without reports, tables and figures, which are made of it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, file in own_files(folder, DATA).items():
            text = file.read_text(encoding="utf-8")
            if file.suffix == ".jsonl":
                # A torn last line is left out.
                text = text[: text.rfind("\n") + 1]
            if file.parent != folder:
                text = "".join(f"{lean(line)}\n" for line in text.split("\n") if line)
            # Why an answer failed may name a place on this machine.
            for place, short in ((ASSETS, "assets"), (Path.home(), "~")):
                text = text.replace(json.dumps(str(place))[1:-1], short)
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return buffer.getvalue()


def lean(line: str) -> str:
    """An answer's line without what is not shipped; a text that is vanilla's stands with vanilla's answer only."""
    row = json.loads(line)
    if row["verdict"] == "equal":
        row["choices"][0]["turns"] = [""] * len(row["measured"])
    for turn in row["measured"]:
        turn["metrics"] = {name: turn["metrics"].get(name) for name in METRICS}
        for name in NOT_SHIPPED:
            turn.pop(name, None)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def shipped(file: Path) -> Results:
    """Shipped results, under the name that the page gives them. Raises LabError."""
    results = load(file)
    results.name = recorded_name(file)
    return results


def view_of(file: Path) -> dict:
    """What the page shows of shipped results: `first`, and its `parts`."""
    # It draws, with plotly, which the page need not wait for: what was kept is all that it shows at first.
    from duoviz.lab.view import first_view, parts_of

    results = shipped(file)
    return {"first": first_view(results), "parts": parts_of(results)}


def view_file(file: Path) -> Path:
    """Where the view of shipped results stands: beside their zip."""
    return file.with_suffix(".json.gz")


def kept_view(file: Path) -> dict | None:
    """The `view_of` that was kept beside shipped results; None where there is none."""
    try:
        return json.loads(gzip.decompress(view_file(file).read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error):
        return None
