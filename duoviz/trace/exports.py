"""What a trace is exported as: a table with one row an iteration (docs/python.md describes its columns), a timeline
for Perfetto; and values as CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from duoviz.errors import UserError
from duoviz.trace.metrics import text_of, timed

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


def iteration_rows(trace: dict) -> list[dict]:
    """A line for each iteration, by column; DuoTree's say how its draft worked."""
    unknown = {} if timed(trace) else dict.fromkeys(OF_TIME)
    is_tree = trace["header"]["method"] == "duotree"
    return [iteration_row(each) | unknown | (tree_mode(each) if is_tree else {}) for each in trace["iterations"]]


def tree_mode(iteration: dict) -> dict:
    """Whether DuoTree's draft worked with the target or before it; None where it did not work."""
    ends = [step["end"] for step in iteration["draft"]]
    if iteration["index"] == 0 or not ends:
        return {"mode": None if iteration["index"] else "prefill"}
    return {"mode": "parallel" if max(ends) > iteration["target"]["start"] else "sequential"}


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
        **{
            tree: sum(node["status"] not in NOT_PROPOSED for node in iteration[tree]) for tree in ("checked", "drafted")
        },
        **{name: verdict[name] for name in ("outcome", "tested", "accepted", "sequence")},
        "new_tokens": len(committed),
        "from_target": sum(token["source"] == "target" for token in committed),
        "text": text_of([iteration]),
    }


def token_rows(trace: dict) -> list[dict]:
    """A line for each token of the text, by column; q and p: its probability to what drafted it and to the target."""
    known = timed(trace)
    return [
        {
            "iteration": iteration["index"],
            **{name: token[name] for name in ("id", "text", "source")},
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


def perfetto_events(trace: dict) -> list[dict]:
    """The JSON array format of Chrome's trace viewer, which Perfetto opens too: complete events in microseconds.

    Raises UserError where the run's times are not known.
    """
    if not timed(trace):
        raise UserError("This run's times are not known, so it has no timeline.")
    header = trace["header"]
    events = [named("process_name", 0, name=f"duoviz {header['method']}")]
    for lane, thread in (("target", 1), ("draft", 2)):
        if header[lane]:
            events.append(named("thread_name", thread, name=f"{lane.capitalize()} · {header[lane]['device']}"))
            events.append(named("thread_sort_index", thread, sort_index=thread))
    for each in trace["iterations"]:
        facts = {"iteration": each["index"], "rows": each["target"]["rows"], "committed": text_of([each])}
        facts |= {"outcome": each["verdict"]["outcome"], "gamma": each["budget"], "longest": each.get("longest")}
        facts |= {"theta": each["theta"], "k": each["sequences"]}
        known = {name: value for name, value in facts.items() if value is not None}
        events.append(complete("target", 1, each["target"], "target forward", known))
        for step in each["draft"]:
            drafted = {"iteration": each["index"], "tokens": step["tokens"]}
            events.append(complete("draft", 2, step, "draft step", drafted))
    return events


def named(event: str, thread: int, **arguments: object) -> dict:
    """A metadata event, which names a process or a thread."""
    return {"name": event, "ph": "M", "pid": 1, "tid": thread, "args": arguments}


def complete(lane: str, thread: int, span: dict, event: str, arguments: dict) -> dict:
    """An event with a beginning and a duration."""
    times = {"ts": round(1e6 * span["start"], 3), "dur": round(1e6 * (span["end"] - span["start"]), 3)}
    return {"name": event, "cat": lane, "ph": "X", **times, "pid": 1, "tid": thread, "args": arguments}
