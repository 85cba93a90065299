"""The trace: one JSON object that records a run, for live view, replay, lab and export.

Files end in `.duoviz.json`. One full example (a run cut short; only two of eight candidates and a few of the settings
are shown):

    {"header": {
       "schema": 1,
       "method": "duodecoding",
       "about": {"title": "DuoDecoding", "name": "DuoDecoding", "draft": true, "parallel": true,
                 "proposers": [{"id": "draft", "token": "token from the draft", "origin": "from the draft",
                                "counts": ""}],
                 "statuses": ["pending", "accepted", "rejected", "discarded", "correction"],
                 "numbers": ["acceptance", "overlap", "k", "gamma", "longest", "theta"],
                 "caption": "", "verified": "", "nothing": ""},
       "pair": "embedded",
       "target": {"name": "SmolLM2-135M-Instruct (Q4_1, dequantised to float32)",
                  "device": "CPU core 1 (AMD EPYC)", "precision": "float32"},
       "draft": {"name": "duoviz draft", "device": "CPU core 0 (AMD EPYC)", "precision": "int8"},
       "can_overlap": true,
       "settings": {"max_new_tokens": 3, "temperature": 0.0, "seed": 0, "acceptance": "coupled", "raw": false},
       "prompt": "Why is the sky blue?",
       "prompt_tokens": 37,
       "calibration": {"context": 64, "target": [[1, 0.031], [8, 0.036]], "draft": [[1, 0.004], [8, 0.006]]},
       "versions": {"duoviz": "0.1.0", "torch": "2.13.0+cpu", "numba": "0.68.1", "transformers": "5.23.0",
                    "python": "3.11.7"},
       "date": "2026-11-21T10:00:00+00:00"},
     "iterations": [
       {"index": 0, "mode": "prefill",
        "target": {"start": 0.010, "end": 0.092, "rows": 37},
        "draft": [{"start": 0.011, "end": 0.043, "tokens": 37}, {"start": 0.043, "end": 0.047, "tokens": 1}],
        "sync": 0.093, "budget": 2, "longest": 2, "theta": 0.38, "sequences": 1,
        "candidates": [{"id": 504, "text": "The", "p": 0.61, "over": true},
                       {"id": 1626, "text": "It", "p": 0.11, "over": false}],
        "matched": null, "checked": [],
        "drafted": [{"id": 504, "text": "The", "parent": -1, "source": "draft", "q": 0.61,
                     "count": null, "p": 0.83, "status": "accepted"},
                    {"id": 6376, "text": " sky", "parent": 0, "source": "draft", "q": 0.62,
                     "count": null, "p": null, "status": "pending"}],
        "verdict": {"outcome": "hit", "tested": 1, "accepted": 1, "sequence": 1},
        "committed": [{"id": 504, "text": "The", "source": "draft", "gap": 2.1}]},
       {"index": 1, "mode": "post",
        "target": {"start": 0.094, "end": 0.127, "rows": 2},
        "draft": [{"start": 0.094, "end": 0.098, "tokens": 1}],
        "sync": 0.127, "budget": 1, "longest": 1, "theta": null, "sequences": 1,
        "candidates": [{"id": 314, "text": " is", "p": 0.55, "over": false},
                       {"id": 3814, "text": " appears", "p": 0.2, "over": false}],
        "matched": null,
        "checked": [{"id": 6376, "text": " sky", "parent": -1, "source": "draft", "q": 0.62,
                     "count": null, "p": 0.71, "status": "accepted"}],
        "drafted": [{"id": 314, "text": " is", "parent": -1, "source": "draft", "q": 0.55,
                     "count": null, "p": 0.18, "status": "rejected"},
                    {"id": 3814, "text": " appears", "parent": -1, "source": "target", "q": null,
                     "count": null, "p": 0.66, "status": "correction"}],
        "verdict": {"outcome": "miss", "tested": 2, "accepted": 1, "sequence": null},
        "committed": [{"id": 6376, "text": " sky", "source": "draft", "gap": 0.9},
                      {"id": 3814, "text": " appears", "source": "target", "gap": 1.3}]}],
     "end": {"stopped": "length", "wall": 0.127, "text": "The sky appears"}}

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
