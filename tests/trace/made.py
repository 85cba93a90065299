"""Hand-made traces with times that are easy to add up, and real ones with even times or made longer."""

from duoviz import runner
from duoviz.trace.metrics import metrics

HERE = "CPU cores 0, 1 (Processor)"
SETTINGS = {"acceptance": "coupled", "temperature": 0.0, "budget": "auto", "cores": "auto", "raw": False}


def node(status, source="draft"):
    return {"source": source, "status": status}


def step(
    target, *, rows=1, before=0.0, beside=0.0, outcome="none", tested=0, accepted=0, checked=(), drafted=(), **tokens
):
    """One iteration, relative to its own start: `before`, the draft worked and then the target; `beside`, both at once.

    tokens: ids, and where they differ from "target" their sources; gap: of all.
    """
    ids = tokens.get("ids", [7])
    sources = tokens.get("sources", ["target"] * len(ids))
    draft = before or beside
    return {
        "target": {"start": before, "end": before + target, "rows": rows},
        "draft": [{"start": 0.0, "end": draft, "tokens": 1}] if draft else [],
        "sync": max(before + target, beside),
        "checked": list(checked),
        "drafted": list(drafted),
        "verdict": {"outcome": outcome, "tested": tested, "accepted": accepted, "sequence": None},
        "committed": [
            {"id": id, "text": f"<{id}>", "source": source, "gap": tokens.get("gap", 1.0)}
            for id, source in zip(ids, sources, strict=True)
        ],
    }


def made(method, steps, *, device=HERE, draft=None, stopped="length", **settings):
    """A trace of the steps, one after the other."""
    iterations, clock = [], 0.0
    for index, each in enumerate(steps):
        spans = {
            "target": moved(each["target"], clock),
            "draft": [moved(span, clock) for span in each["draft"]],
            "sync": clock + each["sync"],
        }
        iterations.append({**each, **spans, "index": index})
        clock += each["sync"]
    header = {
        "method": method,
        "target": {"device": device, "cpu": "CPU core" in device},
        "draft": draft and {"device": draft},
        "can_overlap": method == "duodecoding",
        "settings": SETTINGS | settings,
    }
    return {"header": header, "iterations": iterations, "end": {"stopped": stopped}}


def moved(span, by):
    return {**span, "start": span["start"] + by, "end": span["end"] + by}


def evenly_timed(trace, wall):
    """The trace as if no forward had been slower than the others, `wall` seconds long: ten draft steps take as long as
    one target forward, and come before or after it as they did."""
    clock, spans, syncs = 0, [], []
    for each in trace["iterations"]:
        for span in sorted([*each["draft"], each["target"]], key=lambda span: span["start"]):
            spans.append((span, clock, clock := clock + (10 if span is each["target"] else 1)))
        syncs.append((each, clock := clock + 1))
    for span, start, end in spans:
        span["start"], span["end"] = round(wall * start / clock, 6), round(wall * end / clock, 6)
    for each, sync in syncs:
        each["sync"] = round(wall * sync / clock, 6)
    trace["end"]["wall"] = trace["iterations"][-1]["sync"]
    return trace


def longer(trace, count):
    """A trace of so many iterations: those after the first over and over, each time later by their length."""
    first, *others = trace["iterations"]
    length = others[-1]["sync"] - first["sync"]
    iterations = [first]
    while len(iterations) < count:
        turn, place = divmod(len(iterations) - 1, len(others))
        each, by = others[place], turn * length
        spans = {"target": moved(each["target"], by), "draft": [moved(span, by) for span in each["draft"]]}
        iterations.append({**each, **spans, "sync": each["sync"] + by, "index": len(iterations)})
    return trace | {"iterations": iterations, "end": runner.end(iterations, "length")}


def events_of(trace):
    """As a run tells them, from its header to its end."""
    told = [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
    last = {"type": "end", "end": trace["end"], "metrics": metrics(trace)}
    return [{"type": "header", "header": trace["header"]}, *told, last]
