"""The trace: one JSON object that records a run, for live view, replay, lab and export.

Files end in `.duoviz.json`; those of `assets/traces` are full examples.

`trace.schema.json` (JSON Schema, draft 2020-12) says what each field means and may be, for Python, the page and others.
It cannot say these: a forward does not end before it starts; a tree's nodes come after their parents; `index` counts
from 0 and `sync` never falls; all `committed` have at most so many characters (`x-limits`), for a page that lays out a
longer text is held up, and no run comes near it; and a method that is not known here says itself what it is (`about`).

In older traces `discarded` is also what was beyond what was worth verifying, and `start.seconds` leaves the longer
verification out. In a tree that lives on, `pending` is the next root or under it, and `chance` was counted on other
texts, times how much oftener or rarer that has come true in this run.
"""

import json
from pathlib import Path


def read_schema(name: str) -> dict:
    """One of the schemas beside this file."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


SCHEMA = read_schema("trace.schema.json")
SCHEMA_VERSION = SCHEMA["$defs"]["header"]["properties"]["schema"]["maximum"]
