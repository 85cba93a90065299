"""The files of a folder of results: which of them are read, and which are saved with these."""

import re
from pathlib import Path

from duoviz.lab.tasks import LabError

# Of a zip too; nothing else is read.
DATA = re.compile(r"(environment|plan)\.json|(failed|forwards)\.jsonl|answers(/[\w .+-]{1,100}\.jsonl)?")
# What a report is made of.
REPORT = re.compile(r"report\.html|tables(/[\w.+-]+\.csv)?|figures(/[\w.+-]+\.(csv|html|js))?")
# Its folders.
PARTS = ("answers", "tables", "figures")
LONGEST_NAME = 60


def own_files(folder: Path, *kinds: re.Pattern[str]) -> dict[str, Path]:
    """The folder's files of these kinds, by their names in it, in order.

    Raises LabError where one is a link, which may lead to anybody's file, or a pipe, which may never end.
    """
    found = {}
    for file in sorted([*folder.glob("*"), *(file for part in PARTS for file in folder.glob(f"{part}/*"))]):
        name = file.relative_to(folder).as_posix()
        if not any(kind.fullmatch(name) for kind in kinds):
            continue
        if file.is_symlink() or not (file.is_file() or file.is_dir()):
            raise LabError(f"The results in {plain_name(folder.name)} have a link or a pipe named {name}: remove it.")
        if file.is_file():
            found[name] = file
    return found


def plain_name(name: str) -> str:
    """What results are called that anyone may have named: in letters, digits and few signs."""
    return re.sub(r"[^\w .+-]", "_", name).strip()[:LONGEST_NAME] or "results"
