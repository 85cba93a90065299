"""What comes from outside: JSON that is read within bounds, and values that are shown in a sentence."""

import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedReader
from math import inf
from pathlib import Path
from reprlib import Repr
from typing import BinaryIO
from zipfile import BadZipFile

import numpy as np
import orjson
from jsonschema_rs import Draft4Validator, Draft202012Validator, ValidationError

# What duoviz writes is nested six levels deep.
MAX_DEPTH = 32
# Bytes of one file or line, and values of all that is read together. A value is some 30 bytes of memory: a list counts
# as LIST, an object as OBJECT, a string and a key as STRING more of them, and so many CHARACTERS as one.
MAX_BYTES = 50_000_000
MAX_VALUES = 20_000_000
LIST, OBJECT, STRING, CHARACTERS = 3, 8, 2, 32
# Characters of a value in a sentence.
MAX_CHARACTERS = 60
SHORT = Repr()
SHORT.maxlevel, SHORT.maxstring, SHORT.maxother = 2, MAX_CHARACTERS, MAX_CHARACTERS

QUOTE = ord('"')
BRACES = bytes.maketrans(b"{}", b"[]")
NO_SIGNS = bytes(set(range(256)) - set(b"[]{},"))
# What zipfile raises for a damaged zip, as it is opened and as it is read.
DAMAGED_ZIP = (OSError, EOFError, RuntimeError, ValueError, BadZipFile, zlib.error)


class Refused(ValueError):
    """What was read is not as it may be; the message ends a sentence: what it is, or has."""


def open_file(path: Path) -> BufferedReader:
    """A user's file, to be read; a pipe that nobody writes to is empty, and not waited for. Raises OSError."""
    return open(path, "rb", opener=open_at_once)


def open_at_once(name: str, flags: int) -> int:
    """An opener for `open` that does not wait for the other end of a pipe."""
    number = os.open(name, flags | os.O_NONBLOCK)
    os.set_blocking(number, True)
    return number


class Reader:
    """Reads JSON, and refuses what would cost much before it is parsed.

    most_bytes: of each file or line; most_values, most_lines: of all that this reader reads.
    """

    def __init__(self, *, most_bytes: int = MAX_BYTES, most_values: float = MAX_VALUES, most_lines: float = inf):
        self.most_bytes, self.most_values, self.most_lines = most_bytes, most_values, most_lines
        self.values_read = self.lines_read = 0

    def parse(self, text: bytes) -> object:
        """The value of a JSON text in UTF-8, also with a mark of it. Its numbers are finite. Raises Refused."""
        bare, strings = without_strings(text)
        # A string that holds any character beyond ASCII may take four bytes for each.
        width = 1 if text.isascii() and rb"\u" not in text else 4
        self.values_read += STRING * strings + width * (len(text) - len(bare)) // CHARACTERS
        self.check_structure(bare.translate(None, NO_SIGNS))
        try:
            return orjson.loads(text.removeprefix(BOM_UTF8))
        except orjson.JSONDecodeError as error:
            if "surrogate in string" in error.msg:
                raise Refused("has an invalid character (an unpaired surrogate)") from error
            raise Refused(f"is not JSON ({error.msg})") from error

    def check_structure(self, signs: bytes) -> None:
        """Count the values of a text of which only brackets and commas are left. Raises Refused."""
        self.values_read += signs.count(b",") + LIST * signs.count(b"[") + OBJECT * signs.count(b"{")
        if self.values_read > self.most_values:
            raise Refused(f"has more than {self.most_values:,} values")
        nested = signs.translate(BRACES, b",")
        for _ in range(MAX_DEPTH):
            nested = nested.replace(b"[]", b"")
        # Other brackets that do not pair are no JSON, which the parser says.
        if b"[]" in nested or nested.count(b"[") > MAX_DEPTH:
            raise Refused(f"is nested deeper than {MAX_DEPTH} levels")

    def file(self, file: BinaryIO) -> object:
        """The value of a whole file. Raises Refused."""
        text = file.read(self.most_bytes + 1)
        if len(text) > self.most_bytes:
            raise Refused(f"has more than {self.most_bytes:,} bytes")
        return self.parse(text)

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """The lines of a file as they are but for a mark of UTF-8, one at a time. Raises Refused."""
        mark = BOM_UTF8
        while line := file.readline(self.most_bytes + 1):
            line, mark = line.removeprefix(mark), b""
            self.lines_read += 1
            if self.lines_read > self.most_lines:
                raise Refused(f"has more than {self.most_lines:,} lines")
            if len(line) > self.most_bytes:
                raise Refused(f"has a line of more than {self.most_bytes:,} bytes")
            yield line

    def values(self, file: BinaryIO) -> Iterator[tuple[int, object]]:
        """(number, from 1, and value) of each line of a file that is not blank. Raises Refused."""
        for number, line in enumerate(self.lines(file), 1):
            if line.strip():
                try:
                    yield number, self.parse(line)
                except Refused as error:
                    raise Refused(f"has a line {number} that {error}") from error


def without_strings(text: bytes) -> tuple[bytes, int]:
    """A JSON text without its strings, and how many there were."""
    # Escapes go first: pairs of backslashes, then quotes after one. What is left of quotes ends or begins a string.
    signs = np.frombuffer(text.replace(rb"\\", b"--").replace(rb"\"", b"--"), np.uint8)
    quotes = signs == QUOTE
    return signs[~(quotes | np.logical_xor.accumulate(quotes))].tobytes(), int(np.count_nonzero(quotes)) // 2


def wrong_field(schema: Draft4Validator | Draft202012Validator, value: object) -> str | None:
    """The first field of a value that is missing or not as the schema has it; None where all is."""
    try:
        schema.validate(value)
    except ValidationError as error:
        missing = [error.kind.value] if error.kind.name == "required" else []
        path = [*error.instance_path, *missing]
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
    return None


def is_text(value: object) -> bool:
    """Whether it is a text that a file and a page can hold: one without half a character (a lone surrogate)."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def in_short(value: object) -> str:
    """A value in a sentence, cut where it is long."""
    if isinstance(value, int) and abs(value) >= 10**MAX_CHARACTERS:
        return f"a number of more than {MAX_CHARACTERS} digits"
    text = SHORT.repr(value)
    return text if len(text) <= MAX_CHARACTERS + 2 else f"{text[:MAX_CHARACTERS]}…"
