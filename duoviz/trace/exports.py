"""What a trace is exported as: a table with one row an iteration (docs/python.md describes its columns), a timeline
for Perfetto; and values as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from duoviz.errors import UserError
from duoviz.trace.metrics import timed

# A spreadsheet takes a text that begins so for a formula, which may reach for other files; an apostrophe makes it text.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
NOT_PROPOSED = {"correction", "window"}
CHOSEN = {"accepted", "correction"}
OF_TIME = ("target_start", "target_end", "draft_start", "draft_end", "draft_busy", "sync")


def csv_text(lines: Iterable[Sequence]) -> str:
    """The lines of a file; None is an empty cell."""
    text = io.StringIO()
    # Its usual line ends: it quotes a text only for the signs that they consist of.
    csv.writer(text).writerows([map(cell, line) for line in lines])
    return text.getvalue()


def cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def csv_lines(lines: Sequence[dict]) -> str:
    """A line of column names, and these."""
    return csv_text([list(lines[0]), *(list(line.values()) for line in lines)] if lines else [])


def csv_table(trace: dict) -> str:
    """One row an iteration, under a row of column names."""
    return csv_lines(iteration_rows(trace))


def iteration_rows(trace: dict) -> list[dict]:
    """The lines of the table, by column."""
    unknown = {} if timed(trace) else dict.fromkeys(OF_TIME)
    is_tree = trace["header"]["method"] == "duotree"
    return [
        iteration_row(each) | unknown | ({"mode": tree_mode(each)} if is_tree else {}) for each in trace["iterations"]
    ]


def tree_mode(iteration: dict) -> str | None:
    """How DuoTree's draft worked in an iteration: with the target, or before it; None where it did not work."""
    if iteration["index"] == 0 or not iteration["draft"]:
        return None if iteration["index"] else "prefill"
    beside = any(step["end"] > iteration["target"]["start"] for step in iteration["draft"])
    return "parallel" if beside else "sequential"


def token_rows(trace: dict) -> list[dict]:
    """A line for each token of the text, by column; q and p: its probability to what drafted it and to the target."""
    known = timed(trace)
    return [
        {
            "iteration": iteration["index"],
            "id": token["id"],
            "text": token["text"],
            "source": token["source"],
            "sync": iteration["sync"] if known else None,
            **{name: node and node[name] for name in ("q", "p")},
            "gap": token["gap"],
        }
        for iteration in trace["iterations"]
        for token, node in chosen(iteration)
    ]


def chosen(iteration: dict) -> Iterator[tuple[dict, dict | None]]:
    """The tokens committed in an iteration, each with its node in a tree where there is one."""
    nodes = [node for node in iteration["checked"] + iteration["drafted"] if node["status"] in CHOSEN]
    for token in iteration["committed"]:
        at = next((at for at, node in enumerate(nodes) if node["id"] == token["id"]), None)
        yield token, None if at is None else nodes.pop(at)


def iteration_row(iteration: dict) -> dict:
    """An iteration as a line of the table, by column."""
    target, draft, verdict, committed = (iteration[name] for name in ("target", "draft", "verdict", "committed"))
    return {
        "index": iteration["index"],
        "mode": iteration["mode"],
        "target_start": target["start"],
        "target_end": target["end"],
        "rows": target["rows"],
        "draft_start": draft[0]["start"] if draft else None,
        "draft_end": draft[-1]["end"] if draft else None,
        "draft_steps": len(draft),
        "draft_busy": round(sum(step["end"] - step["start"] for step in draft), 6),
        "sync": iteration["sync"],
        "gamma": iteration["budget"],
        "longest": iteration.get("longest"),
        "theta": iteration["theta"],
        "k": iteration["sequences"],
        "checked": proposed(iteration["checked"]),
        "drafted": proposed(iteration["drafted"]),
        **{name: verdict[name] for name in ("outcome", "tested", "accepted", "sequence")},
        "new_tokens": len(committed),
        "from_target": sum(token["source"] == "target" for token in committed),
        "text": "".join(token["text"] for token in committed),
    }


def proposed(nodes: list[dict]) -> int:
    """How many tokens of a tree were proposals."""
    return sum(node["status"] not in NOT_PROPOSED for node in nodes)


def perfetto_events(trace: dict) -> list[dict]:
    """The JSON array format of Chrome's trace viewer, which Perfetto opens too: complete events in microseconds.

    Raises UserError where the run's times are not known.
    """
    if not timed(trace):
        raise UserError("This run's times are not known, so it has no timeline.")
    header = trace["header"]
    names = [named("process_name", 0, {"name": f"duoviz {header['method']}"})]
    for lane, thread in (("target", 1), ("draft", 2)):
        if header[lane]:
            names.append(named("thread_name", thread, {"name": f"{lane.capitalize()} · {header[lane]['device']}"}))
            names.append(named("thread_sort_index", thread, {"sort_index": thread}))
    return names + [event for iteration in trace["iterations"] for event in iteration_events(iteration)]


def named(name: str, thread: int, arguments: dict) -> dict:
    """A metadata event, which names a process or a thread."""
    return {"name": name, "ph": "M", "pid": 1, "tid": thread, "args": arguments}


def iteration_events(iteration: dict) -> list[dict]:
    """An iteration's target forward and draft steps."""
    target, verdict = iteration["target"], iteration["verdict"]
    facts = {
        "iteration": iteration["index"],
        "rows": target["rows"],
        "committed": "".join(token["text"] for token in iteration["committed"]),
        "outcome": verdict["outcome"],
    }
    own = {"gamma": "budget", "longest": "longest", "theta": "theta", "k": "sequences"}
    facts |= {name: iteration[field] for name, field in own.items() if iteration.get(field) is not None}
    steps = [
        complete("draft", 2, step, "draft step", {"iteration": iteration["index"], "tokens": step["tokens"]})
        for step in iteration["draft"]
    ]
    return [complete("target", 1, target, "target forward", facts), *steps]


def complete(lane: str, thread: int, span: dict, name: str, arguments: dict) -> dict:
    """An event with a beginning and a duration."""
    times = {"ts": micro(span["start"]), "dur": micro(span["end"] - span["start"])}
    return {"name": name, "cat": lane, "ph": "X"} | times | {"pid": 1, "tid": thread, "args": arguments}


def micro(seconds: float) -> float:
    """Microseconds with three digits after the point, rounded as the page does."""
    return math.floor(1e6 * seconds * 1000 + 0.5) / 1000
