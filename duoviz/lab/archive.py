"""A zip of a folder of results, which may be anyone's: opened only where it is as small as such a zip is."""

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from duoviz.lab.files import DATA
from duoviz.outside import Refused

# Bytes of the zip itself, and of what is read of it, unpacked.
MAX_PACKED, MAX_UNPACKED = 100_000_000, 200_000_000
MAX_FILES = 1_000
# The list of a zip's files stands at its end, before a record of its size. zipfile reads the list at once.
RECORD = struct.Struct("<4s4H2LH")
RECORD_SIGN, LARGE_SIGN = b"PK\5\6", b"PK\6\7"
LARGE_SIGN_BYTES = 20
LONGEST_COMMENT = 65_536
MAX_LIST = MAX_FILES * 1_000


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
