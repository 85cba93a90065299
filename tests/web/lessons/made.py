"""Hand-made traces and lessons: what happens in each iteration is chosen, and all figures are easy."""

import json
import re
from html import unescape

from duoviz.recordings import ENDING
from tests.trace.made import made, step

CALIBRATION = {
    "context": 64,
    "target": [[1, 0.02], [2, 0.022], [4, 0.026], [8, 0.03], [16, 0.05], [32, 0.1]],
    "draft": [[1, 0.004], [2, 0.005], [8, 0.008]],
}
SETTINGS = {"max_new_tokens": 12, "temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0, "raw": False}


def node(text, status, *, parent=-1, q=0.5, p=None, source="draft"):
    """The id is the text's number."""
    return {
        "id": number(text), "text": text, "parent": parent, "source": source, "q": q, "count": None, "p": p,
        "status": status,
    }  # fmt: skip


def number(text):
    return sum(map(ord, text))


def own(text, *, parent=-1, p=0.6):
    return node(text, "correction", parent=parent, q=None, p=p, source="target")


def candidate(text, p, over):
    return {"id": number(text), "text": text, "p": p, "over": over}


def iteration(committed, outcome="none", *, mode=None, target=0.02, draft=0, sequence=None, candidates=(), **more):
    """One iteration of `target` seconds with `draft` steps of 4 ms beside it; the target's own token ends it."""
    shown = {name: more.pop(name, None) for name in ("budget", "longest", "theta", "sequences")}
    sources = ["draft" if each < more.get("accepted", 0) else "target" for each in range(len(committed))]
    rows, ids = 1 + len(more.get("checked", ())), [number(text) for text in committed]
    told = step(target, rows=rows, outcome=outcome, ids=ids, sources=sources, **more)
    for token, text in zip(told["committed"], committed, strict=True):
        token["text"] = text
    told["draft"] = [{"start": 0.004 * each, "end": 0.004 * (each + 1), "tokens": 1} for each in range(draft)]
    told["verdict"]["sequence"] = sequence
    return told | shown | {"mode": mode, "candidates": list(candidates), "sync": max(target, 0.004 * draft)}


def trace(method, iterations, **header):
    """The iterations one after another, with a header and an end."""
    has_draft = method in ("duodecoding", "speculative")
    told = made(method, iterations, draft="core 0" if has_draft else None, device="core 1")
    told["header"]["target"] |= {"name": "a target", "precision": "float32"}
    if has_draft:
        told["header"]["draft"] |= {"name": "a draft", "precision": "int8"}
    told["header"] |= {
        "schema": 1, "pair": "made", "settings": SETTINGS, "prompt": "Why?", "prompt_tokens": 5,
        "calibration": CALIBRATION if has_draft else None, "versions": {"duoviz": "1"},
        "date": "2026-01-01T00:00:00+00:00", **header,
    }  # fmt: skip
    told["end"] |= {"wall": told["iterations"][-1]["sync"], "text": ""}
    return told


def vanilla_trace(words="The sky is blue and wide .".split()):
    return trace("vanilla", [iteration([word]) for word in words])


def duo_trace():
    """Prefill, a miss of two sequences, a hit of the second one of three, a rejection, and one with nothing pending."""
    first = [candidate("is", 0.5, True), candidate("has", 0.3, True), candidate("was", 0.1, False)]
    sure = [candidate("and", 0.9, True), candidate("or", 0.05, False)]
    return trace(
        "duodecoding",
        [
            iteration(["The"], "hit", mode="prefill", accepted=1, tested=1, draft=2,
                      drafted=[node("The", "accepted", p=0.9), node("sky", "pending", parent=0)], sequence=1,
                      sequences=1),
            iteration(["sky", "was"], "miss", mode="post", tested=2, accepted=1, draft=4, budget=5, longest=5,
                      theta=0.25, sequences=2, candidates=first, checked=[node("sky", "accepted", p=0.7)],
                      drafted=[node("is", "rejected", q=0.5, p=0.2), node("blue", "discarded", parent=0),
                               node("has", "rejected", q=0.3, p=0.1), own("was", p=0.6)]),
            iteration(["blue"], "hit", mode="pre", tested=1, accepted=1, draft=5, budget=5, longest=3,
                      theta=0.1, sequences=3, sequence=2, candidates=first,
                      drafted=[node("is", "discarded"), node("blue", "accepted", p=0.8),
                               node("and", "pending", parent=1), node("so", "discarded", parent=2),
                               node("grey", "discarded")]),
            iteration(["wide"], "rejection", mode="post", target=0.024, tested=1, accepted=0, draft=5, budget=6,
                      theta=0.6, sequences=1, candidates=sure, checked=[node("and", "rejected", p=0.1), own("wide")],
                      drafted=[node("far", "discarded"), node("off", "discarded", parent=0)]),
            iteration(["."], "none", mode="pre", checked=[own(".")]),
        ],
    )  # fmt: skip


def write_traces(folder, *traces):
    folder.mkdir(exist_ok=True)
    for each in traces:
        (folder / f"{each['header']['method']}{ENDING}").write_text(json.dumps(each), encoding="utf-8")
    return folder


LESSON = """---
title: A lesson
summary: About guesses.
trace: duodecoding
live: method=speculative temperature=0.5
prompt: Why?
---

## First page
at: first rejection
highlight: rejected

The draft proposed {rejected_token | quoted}.
"""


def words(html):
    """The text of HTML."""
    return unescape(re.sub("<.*?>", "", html)).strip()


def write_lesson(folder, text=LESSON, name="01-a-lesson.md"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name
