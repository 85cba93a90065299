"""Fields of a trace as they must not be."""

import copy
import json


def changed(trace, path, value):
    """The trace as JSON, with one field set."""
    other = copy.deepcopy(trace)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(other)


def places(value, path=()):
    """The paths to all that is in a value."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(inner, (*path, key))


# A page that shows ten thousand of these is held up.
TOKEN = {"id": 1, "text": "x" * 100, "source": "target", "gap": None}
# In a tree that lives on, before its own parent.
ORPHAN = {"id": 1, "text": "x", "parent": 9999, "source": "draft", "q": None, "count": None, "p": None}
WRONG_FIELDS = [
    (("header", "method"), "m" * 41, "header.method"),
    (("header", "about", "statuses"), ["x", 5], "header.about.statuses[1]"),
    (("header", "about", "proposers", 0, "id"), None, "header.about.proposers[0].id"),
    (("header", "target"), None, "header.target"),
    (("header", "prompt"), ["x"], "header.prompt"),
    (("header", "settings", "max_new_tokens"), True, "header.settings.max_new_tokens"),
    (("iterations", 1, "target", "start"), "now", "iterations[1].target.start"),
    (("iterations", 1, "target"), {"start": 2, "end": 1, "rows": 1}, "iterations[1].target.end"),
    (("iterations", 1, "draft", 0, "end"), 0, "iterations[1].draft[0].end"),
    (("iterations", 1, "rest"), [ORPHAN | {"status": "discarded"}], "iterations[1].rest[0].parent"),
    (("iterations", 1, "sync"), -1, "iterations[1].sync"),
    (("iterations", 2, "sync"), 0, "iterations[2]"),
    (("iterations", 2, "index"), 7, "iterations[2]"),
    (("iterations", 1, "sequences"), 2.5, "iterations[1].sequences"),
    (("iterations", 1, "candidates"), {}, "iterations[1].candidates"),
    (("iterations", 1, "drafted", 0, "parent"), 5, "iterations[1].drafted[0].parent"),
    (("iterations", 1, "drafted", 0, "text"), {"toString": 1}, "iterations[1].drafted[0].text"),
    (("iterations", 1, "drafted", 0, "status"), "<b>", "iterations[1].drafted[0].status"),
    (("iterations", 1, "committed", 0, "text"), "x" * 30_000, "iterations[1].committed[0].text"),
    (("iterations", 1, "committed", 0, "gap"), -1, "iterations[1].committed[0].gap"),
    (("iterations", 1, "committed"), [TOKEN] * 10_000, "iterations[1]"),
    (("iterations", 1, "committed"), [TOKEN] * 10_001, "iterations[1].committed"),
    (("header", "prompt"), "x" * 2_000_001, "header.prompt"),
    (("iterations", 2), None, "iterations[2]"),
    (("end",), "eos", "end"),
]
