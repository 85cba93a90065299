"""The files of a folder of results: which are read, which are saved with these, and how they are written and zipped.

Folders and zips may be anyone's: links are not followed, and a zip is opened only where it is as small as those of
results are.
"""

import io
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from duoviz.lab.tasks import LabError
from duoviz.outside import Refused

# Of a zip too; nothing else is read.
DATA = re.compile(r"(environment|plan)\.json|(failed|forwards)\.jsonl|answers(/[\w .+-]{1,100}\.jsonl)?")
# What a report is made of.
REPORT = re.compile(r"report\.html|tables(/[\w.+-]+\.(csv|tex))?|figures(/[\w.+-]+\.(csv|html|js))?")
# Its folders.
PARTS = ("answers", "tables", "figures")
LONGEST_NAME = 60
# Bytes of the zip itself, and of what is read of it, unpacked.
MAX_PACKED, MAX_UNPACKED = 100_000_000, 200_000_000
MAX_FILES = 1_000
# The list of a zip's files stands at its end, before a record of its size. zipfile reads the list at once.
RECORD = struct.Struct("<4s4H2LH")
RECORD_SIGN, LARGE_SIGN = b"PK\5\6", b"PK\6\7"
LARGE_SIGN_BYTES = 20
LONGEST_COMMENT = 65_536
MAX_LIST = MAX_FILES * 1_000


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


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Raise LabError in place of the system's error, where results are written to this path."""
    try:
        yield
    except OSError as error:
        raise LabError(f"The results cannot be written to {path}: {error.strerror or error}.") from error


def write_atomically(file: Path, text: str) -> None:
    """Write a file so that a kill leaves the old one or the new one."""
    part = file.with_name(file.name + ".part")
    # What is left of a killed one goes; so does a link, which would lead what is written elsewhere.
    part.unlink(missing_ok=True)
    with part.open("x", encoding="utf-8") as out:
        out.write(text)
    os.replace(part, file)


@contextmanager
def opened_zip(path: Path) -> Iterator[dict[str, Callable[[], BinaryIO]]]:
    """How to open each file of the results in a zip that is read, by its name; their folder may lie in others.

    Nothing is written to the disk. Raises Refused, and what is in DAMAGED_ZIP.
    """
    check_size(path)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) > MAX_FILES:
            raise Refused(f"has more than {MAX_FILES:,} files")
        if not (tops := [entry.filename for entry in entries if entry.filename.endswith("environment.json")]):
            raise Refused("has no environment.json")
        top = min(tops, key=len).removesuffix("environment.json")
        names = {entry.filename[len(top) :]: entry for entry in entries if entry.filename.startswith(top)}
        wanted = {name: entry for name, entry in names.items() if DATA.fullmatch(name)}
        for name, entry in wanted.items():
            check_entry(name, entry)
        if sum(entry.file_size for entry in wanted.values()) > MAX_UNPACKED:
            raise Refused(f"has more than {MAX_UNPACKED // 1_000_000} MB, unpacked")
        yield {name: partial(unpacked, archive, entry) for name, entry in wanted.items()}


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> BinaryIO:
    """A file of the zip, unpacked as it is read."""
    return io.BufferedReader(archive.open(entry), 1 << 16)  # pyright: ignore[reportArgumentType]


def check_size(path: Path) -> None:
    """Raise Refused for a zip, or a list of files in it, that is too large to be opened."""
    if path.stat().st_size > MAX_PACKED:
        raise Refused(f"has more than {MAX_PACKED // 1_000_000} MB")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - RECORD.size - LONGEST_COMMENT - LARGE_SIGN_BYTES))
        end = file.read()
    place = end.rfind(RECORD_SIGN)
    if place < 0 or place + RECORD.size > len(end):
        raise Refused("is not a complete zip file")
    list_bytes = RECORD.unpack_from(end, place)[5]
    # Of a zip far larger than results are, the size stands elsewhere, and a sign before the record.
    before = end[max(0, place - LARGE_SIGN_BYTES) : place]
    if list_bytes > MAX_LIST or before.startswith(LARGE_SIGN):
        raise Refused(f"has more than {MAX_FILES:,} files")


def check_entry(name: str, entry: zipfile.ZipInfo) -> None:
    """Raise Refused for a file that is packed otherwise than usual: other ways may take any amount of memory."""
    if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(f"has {name} encrypted, or packed with an unknown method")
