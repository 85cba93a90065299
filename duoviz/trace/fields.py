"""The trace's fields, declared once: what Python's reader and the page's check.js hold a file to.

A description is plain data, a list that begins with its kind:

    ["whole", LOW, HIGH]   ["number", LOW, HIGH]   ["text", MOST CHARACTERS]   ["flag"]   ["one of", WORD, …]
    ["list", DESCRIPTION, MOST]   ["object", {NAME: DESCRIPTION, …}]   (an object may have other fields)
    ["or null", DESCRIPTION]   ["or absent", DESCRIPTION]   ["rule", NAME, DESCRIPTION]

The rules: `ordered` (start is not after end), `parents first` (of a list of nodes, each one's parent is an index
of an earlier one, or −1), `rest below` (the same of an iteration's `rest`, counted on from `checked`). `schema` says
what the fields mean.
"""

from sys import float_info

from duoviz.trace.schema import SCHEMA_VERSION

MAX_ITERATIONS = 200_000
MAX_NUMBER = 1e9
# Of a trace's text: characters, of which each token counts as A_TOKEN more. No run comes near it, and a page that lays
# out a longer one is held up.
MAX_WRITTEN, A_TOKEN = 1_000_000, 20

TIME = AMOUNT = ["number", 0, MAX_NUMBER]
SIGNED = ["number", -MAX_NUMBER, MAX_NUMBER]
# Sums of probabilities are rounded.
PROBABILITY = ["number", 0, 1.001]
GAP = ["number", 0, float_info.max]
TEXT = ["text", 20_000]
PROMPT = ["text", 2_000_000]
WORD = ["text", 40]
ID = COUNT = ["whole", 0, MAX_NUMBER]
PLENTY = ["text", 50_000_000]
MODEL = ["object", {"name": TEXT, "device": TEXT, "precision": ["or absent", TEXT]}]
PAIRS = ["list", ["list", ["number", 0, MAX_NUMBER], 2], 100]
CALIBRATION = ["object", {"context": COUNT, "target": PAIRS, "draft": PAIRS}]
PROPOSER = ["object", {"id": WORD, "token": TEXT, "origin": TEXT, "counts": TEXT}]
ABOUT = [
    "object",
    {
        "title": TEXT, "name": TEXT, "draft": ["flag"], "parallel": ["flag"], "proposers": ["list", PROPOSER, 10],
        "statuses": ["list", WORD, 20], "numbers": ["list", WORD, 20], "caption": TEXT,
        "verified": TEXT, "nothing": TEXT,
    },
]  # fmt: skip
NODE = [
    "object",
    {
        "id": ID, "text": TEXT, "parent": ["whole", -1, MAX_NUMBER], "source": WORD, "q": ["or null", PROBABILITY],
        "count": ["or null", ["whole", 1, MAX_NUMBER]], "p": ["or null", PROBABILITY],
        "status": ["one of", "pending", "accepted", "rejected", "discarded", "correction", "window"],
        "chance": ["or absent", ["or null", PROBABILITY]], "step": ["or absent", ["or null", ID]],
        "was": ["or absent", ["or null", ID]],
    },
]  # fmt: skip
NODES = ["list", NODE, 10_000]
TREE = ["rule", "parents first", NODES]
START = ["object", {"expected": AMOUNT, "rate": AMOUNT, "gain": ["or null", SIGNED], "seconds": ["or null", TIME]}]


def span(count: str) -> list:
    """A stretch of time with a count, under that name."""
    return ["rule", "ordered", ["object", {"start": TIME, "end": TIME, count: COUNT}]]


HEADER = [
    "object",
    {
        "schema": ["whole", 1, SCHEMA_VERSION], "method": WORD, "about": ["or absent", ABOUT], "target": MODEL,
        "draft": ["or null", MODEL], "can_overlap": ["flag"],
        "settings": ["object", {"max_new_tokens": ["whole", 1, MAX_NUMBER]}], "prompt": PROMPT,
        "prompt_tokens": COUNT, "pair": ["or absent", TEXT], "calibration": ["or absent", ["or null", CALIBRATION]],
        "versions": ["or absent", ["object", {}]], "date": ["or absent", TEXT],
        "before": ["or absent", ["list", ["list", PROMPT, 2], 10_000]],
    },
]  # fmt: skip
ITERATION = ["rule", "rest below", [
    "object",
    {
        "index": COUNT, "mode": ["or null", ["one of", "prefill", "pre", "post", "alone"]], "target": span("rows"),
        "draft": ["list", span("tokens"), 10_000], "sync": TIME, "budget": ["or null", ["whole", 0, 10_000]],
        "longest": ["or absent", ["or null", ["whole", 0, 10_000]]],
        "factors": ["or absent", ["or null", ["list", ["number", 0, MAX_NUMBER], 2]]],
        "theta": ["or null", PROBABILITY], "sequences": ["or null", ["whole", 0, 64]],
        "candidates": ["list", ["object", {"id": ID, "text": TEXT, "p": PROBABILITY, "over": ["flag"]}], 100],
        "matched": ["or absent", ["or null", ["object", {"tokens": ["whole", 1, MAX_NUMBER], "text": TEXT}]]],
        "checked": TREE, "drafted": TREE,
        "verdict": [
            "object",
            {
                "outcome": ["one of", "hit", "miss", "rejection", "none"], "tested": COUNT, "accepted": COUNT,
                "sequence": ["or null", ["whole", 0, 64]],
            },
        ],
        "committed": ["list", ["object", {"id": ID, "text": TEXT, "source": WORD, "gap": ["or null", GAP]}], 10_000],
        "rest": ["or absent", NODES], "start": ["or absent", START],
    },
]]  # fmt: skip
END = [
    "or null",
    [
        "object",
        {
            "stopped": TEXT, "wall": ["or absent", TIME], "text": ["or absent", PLENTY],
            "message": ["or absent", TEXT],
        },
    ],
]  # fmt: skip
