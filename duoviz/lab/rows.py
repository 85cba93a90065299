"""One question answered by one lane, as a row: Spec-Bench's answer format, with what duoviz measured beside."""

import time
from collections.abc import Sequence
from dataclasses import asdict

from duoviz.decoding import METHODS
from duoviz.decoding.theory import acceptance_of
from duoviz.lab.tasks import Question
from duoviz.runs import Lane
from duoviz.trace.agreement import written
from duoviz.trace.metrics import busy, metrics, total

# A rank beyond the candidates that a trace keeps.
BEYOND = 9

# What `time_parts` and `per_iteration` give.
TIME_PARTS = ("prompt", "target", "both", "draft", "neither")
ARRAYS = ("seconds", "target", "rows", "draft", "draft_steps", "draft_rows", "drafted", "budget", "k", "needed")

# docs/lab.md shows one.
Row = dict


def answer_row(question: Question, lane: Lane, repeat: int, traces: Sequence[dict]) -> Row:
    """The row of a whole conversation, one trace a turn; its verdict is still to be found."""
    iterations = [trace["iterations"] for trace in traces]
    return identity(question, lane, repeat) | {
        "answer_id": f"{lane.name}-{question.id}-{repeat}",
        "tstamp": time.time(),
        "choices": [
            {
                "index": 0,
                "turns": [trace["end"]["text"] for trace in traces],
                "decoding_steps": [len(turn) for turn in iterations],
                "new_tokens": [len(written(trace).ids) for trace in traces],
                "wall_time": [trace["end"]["wall"] for trace in traces],
                "accept_lengths": [len(iteration["committed"]) for turn in iterations for iteration in turn],
            }
        ],
        "verdict": None,
        "settings": {"method": lane.method, **asdict(lane.settings)},
        "measured": [measured(trace) for trace in traces],
    }


def identity(question: Question, lane: Lane, repeat: int) -> Row:
    """What a row begins with: whose answer it is, and to what."""
    about = {"question_id": question.id, "category": question.category, "task": question.task}
    return about | {"model_id": lane.name, "repeat": repeat}


def key(row: Row) -> tuple:
    """What a row is the answer to; no two rows of a folder share it."""
    return row["model_id"], row["question_id"], row["repeat"]


def measured(trace: dict) -> dict:
    """What a row keeps of one turn's trace."""
    text = written(trace)
    return {
        "prompt_tokens": trace["header"]["prompt_tokens"],
        "stopped": trace["end"]["stopped"],
        "token_ids": text.ids,
        "gaps": text.gaps,
        "metrics": metrics(trace),
        "time": time_parts(trace["iterations"]),
        "counts": asdict(acceptance_of(trace["iterations"])),
        "iterations": per_iteration(trace["header"]["method"], trace["iterations"]),
    }


def time_parts(iterations: Sequence[dict]) -> dict[str, float]:
    """Where the wall time went, in seconds; the parts, which docs/lab.md explains, add up to it."""
    begin, wall = iterations[0]["sync"], iterations[-1]["sync"]
    target, draft = ([(max(start, begin), end) for start, end in side if end > begin] for side in busy(iterations))
    working = total(target + draft)
    both = total(target) + total(draft) - working
    parts = {"prompt": begin, "target": working - total(draft), "both": both, "draft": working - total(target)}
    parts["neither"] = wall - begin - working
    return {name: round(seconds, 6) for name, seconds in parts.items()}


def per_iteration(method: str, iterations: Sequence[dict]) -> dict[str, list]:
    """One entry for each target forward, in seconds and tokens; docs/lab.md says what each is."""
    starts = [0.0, *(iteration["sync"] for iteration in iterations)]
    # What a method that works in parallel checks was drafted one iteration before.
    tree = "drafted" if METHODS[method].parallel else "checked"
    proposals = [
        [node for node in iteration[tree] if node["source"] != "target" and node["status"] != "window"]
        for iteration in iterations
    ]
    drafting = [iteration["draft"] for iteration in iterations]
    return {
        "seconds": [round(iteration["sync"] - start, 5) for iteration, start in zip(iterations, starts, strict=False)],
        "target": [round(iteration["target"]["end"] - iteration["target"]["start"], 5) for iteration in iterations],
        "rows": [iteration["target"]["rows"] for iteration in iterations],
        "draft": [round(sum(step["end"] - step["start"] for step in steps), 5) for steps in drafting],
        "draft_steps": [len(steps) for steps in drafting],
        "draft_rows": [sum(step["tokens"] for step in steps) for steps in drafting],
        "drafted": [len(nodes) for nodes in proposals],
        "budget": [iteration["budget"] for iteration in iterations],
        "k": [iteration["sequences"] if iteration["theta"] is not None else None for iteration in iterations],
        "needed": [needed_k(iteration) for iteration in iterations],
    }


def needed_k(iteration: dict) -> int | None:
    """How many sequences it would have taken: the rank, from 1, of the target's token among the draft's first tokens.

    BEYOND: it is not among the candidates kept. None: a token before it was rejected, or there was no θ to choose k by.
    """
    if iteration["theta"] is None or iteration["verdict"]["outcome"] not in ("hit", "miss"):
        return None
    roots = [node for node in iteration["drafted"] if node["parent"] == -1]
    wanted = next(node["id"] for node in roots if node["status"] in ("accepted", "correction"))
    ids = [candidate["id"] for candidate in iteration["candidates"]]
    return ids.index(wanted) + 1 if wanted in ids else BEYOND
