"""Values as a CSV file."""

import csv
import io
from collections.abc import Iterable, Sequence

# A spreadsheet takes a text that begins so for a formula, which may reach for other files; an apostrophe makes it text.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(lines: Iterable[Sequence]) -> str:
    """The lines of a file; None is an empty cell."""
    text = io.StringIO()
    # Its usual line ends: it quotes a text only for the signs that they consist of.
    csv.writer(text).writerows([map(cell, line) for line in lines])
    return text.getvalue()


def cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
