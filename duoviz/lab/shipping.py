"""What comes along of the Lab's results: a lean zip of them, and what the page shows of it at first."""

import gzip
import io
import json
import zipfile
from pathlib import Path

from duoviz.folders import ASSETS
from duoviz.lab.files import DATA, opened_zip, own_files, telling
from duoviz.lab.recorded import view_file, view_of
from duoviz.lab.results import is_being_written, is_zip, load
from duoviz.lab.tasks import LabError

# Of a turn: these serve to check it against vanilla's, which is done. Of its metrics, what is read of them here.
NOT_SHIPPED = ("gaps", "token_ids")
METRICS = ("ttft", "overlap")
# Files are the same whenever they are made.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def ship(folder: Path, out: Path, name: str) -> Path:
    """Write NAME.zip and NAME.json.gz of a finished run's folder, or a zip of it, into `out`; returns the zip.

    Raises LabError.
    """
    if not (folder.is_dir() or is_zip(folder)):
        raise LabError(f"{folder} is not a folder of results, nor a zip of one.")
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


def texts_in(path: Path) -> dict[str, str]:
    """The data of a folder or a zip of results, by file, without reports, tables and figures, which are made of it."""
    if not is_zip(path):
        return {name: file.read_text(encoding="utf-8") for name, file in own_files(path, DATA).items()}
    with opened_zip(path) as files:
        return {name: file().read().decode() for name, file in files.items()}


def lean_zip(path: Path) -> bytes:
    """The data of a folder or a zip of results as a zip, without what is not shipped."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in texts_in(path).items():
            if name.endswith(".jsonl"):
                # A torn last line is left out.
                text = text[: text.rfind("\n") + 1]
            if name.startswith("answers/"):
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
