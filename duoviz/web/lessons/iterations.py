"""What a lesson may say of an iteration: its names, which one a page shows, what can be highlighted in it."""

import re
from typing import Any, NamedTuple

from duoviz.web.lessons.text import Mistake, value_of

# Iterations are the trace's (`trace/trace.schema.json`).
Iteration = dict

LIKE_A_WORD = re.compile(r" [^\W\d_]+|[.,;:!?]|'s")


def guesses(it: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward read."""
    return [node for node in it["checked"] if node["status"] not in ("correction", "window")]


def choices_of(it: Iteration) -> tuple[dict | None, dict | None]:
    """The draft's first accepted token that it did not think the most probable there, and the one that it did."""
    for node in guesses(it):
        if node["status"] == "accepted" and node["source"] == "draft":
            rivals = [rival for rival in guesses(it) if rival["parent"] == node["parent"] and rival["q"] is not None]
            best = max(rivals, key=lambda rival: rival["q"], default=node)
            if best is not node and best["q"] > node["q"]:
                return node, best
    return None, None


def is_readable(it: Iteration) -> bool:
    """Whether all tokens that were proposed and written in its place read like words and punctuation."""
    return all(LIKE_A_WORD.fullmatch(node["text"]) for node in it["checked"] + it["drafted"])


def names_of(it: Iteration) -> dict[str, Any]:
    """What an expression may name of an iteration, beside its record; None where it has none of it."""
    read, nodes, steps, began = guesses(it), it["checked"] + it["drafted"], it["draft"], it["target"]["start"]
    roots = [node for node in it["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
    # Found in a text, and not computed; an accepted one first.
    found = [node for node in read if node["source"] not in ("draft", "target")]
    late = {number for number, step in enumerate(steps) if step["end"] > began}
    second_choice, preferred_token = choices_of(it)
    of_status = {node["status"]: node for node in reversed(nodes)}
    return {
        "iteration": it,
        "readable": is_readable(it),
        **{outcome: it["verdict"]["outcome"] == outcome for outcome in ("hit", "miss", "rejection")},
        "guesses": len(read),
        "proposed": len(read + roots),
        "committed": len(it["committed"]),
        "discarded": sum(node["status"] == "discarded" for node in nodes),
        "kept": sum(node["status"] == "pending" for node in it["drafted"]),
        "sequences": it["sequences"],
        "over_threshold": sum(candidate["over"] for candidate in it["candidates"]),
        "likely_first_token": None if it["theta"] is None else it["candidates"][0]["p"],
        "accepted_token": of_status.get("accepted"),
        "rejected_token": of_status.get("rejected"),
        "own_token": of_status.get("correction"),
        "free_token": min(found, key=lambda node: node["status"] != "accepted", default=None),
        "second_choice": second_choice,
        "preferred_token": preferred_token,
        # The target's own, and not one that was proposed.
        "own_token_written": it["committed"][-1:] and it["committed"][-1]["source"] == "target",
        "target_time": it["target"]["end"] - began,
        "draft_time": sum(step["end"] - step["start"] for step in steps),
        "draft_steps": len(steps),
        "steps_before": len(steps) - len(late),
        "late_steps": len(late),
        # Of a tree that lives on, what the late steps added, and what is under its next root: none of it is verified.
        "grown": sum(node.get("step") in late for node in it.get("rest", ())),
        "survivors": sum(node["status"] == "pending" for node in it.get("rest", ())),
    }


def matching(condition: str, iterations: list[Iteration]) -> list[int]:
    """The indices of the iterations, never the prefill, for which an expression is true. Raises Mistake for none."""
    return existing([each["index"] for each in iterations[1:] if value_of(condition, names_of(each))], condition)


def existing(indices: list[int], wanted: str) -> list[int]:
    """The indices of the iterations that were wanted. Raises Mistake where there are none."""
    if not indices:
        raise Mistake(f'the recorded run has no iteration for "{wanted}"')
    return indices


FORM = re.compile("(prefill|middle|last)|(first|last|after first) (.+)|most (.+?)(?: where (.+))?")


def find(at: str, iterations: list[Iteration]) -> int:
    """The index of the iteration that an `at` stands for; with `most`, the first of the largest. Raises Mistake.

    Where several fulfil a condition, one that is readable; `most` is the largest of all.
    """
    if not (match := FORM.fullmatch(at)):
        raise Mistake(
            f'"{at}" names no iteration: write prefill, middle, last, first CONDITION, last CONDITION, '
            "after first CONDITION, most MEASURE or most MEASURE where CONDITION"
        )
    place, order, condition, measure, where = match.groups()
    if place:
        return {"prefill": 0, "middle": len(iterations) // 2, "last": len(iterations) - 1}[place]
    if order:
        found = matching(condition, iterations)
        found = [index for index in found if is_readable(iterations[index])] or found
        index = found[-1 if order == "last" else 0] + (order == "after first")
        return existing([index] if index < len(iterations) else [], at)[0]
    values = {index: value_of(measure, names_of(iterations[index])) for index in matching(where or "true", iterations)}
    return max(existing([index for index in values if values[index]], at), key=values.__getitem__)


# The visualizer's parts, each a section of the page.
PARTS = {name: f".dv-{name}" for name in ("numbers", "player", "text", "tree", "timeline", "charts", "legend")}
PARTS["player"] = ".dv-transport"


class Mark(NamedTuple):
    """Something inside a part. choices: what a reader may click there to answer a question."""

    part: str
    selector: str
    choices: str


LANES = ".dv-bar, .dv-idle"
TOKEN = ".dv-shown .dv-token"
FOUND = '.dv-node:is([data-source="prompt"], [data-source="datastore"])'
NUMBERS = {
    "tokens/s": "tps", "τ": "tau", "acceptance": "acceptance", "overlap": "overlap", "first token": "ttft",
    "k": "k", "γ": "gamma", "longest sequence": "longest", "θ": "theta",
}  # fmt: skip

STATUSES = ("accepted", "rejected", "discarded", "unchecked", "pending", "correction")
MARKS = {
    **{status: Mark("tree", f'.dv-node[data-status="{status}"]', ".dv-node") for status in STATUSES},
    "looked up": Mark("tree", FOUND, ".dv-node"),
    "candidates": Mark("tree", ".dv-candidates", ".dv-node, .dv-candidates"),
    "target forward": Mark("timeline", '.dv-bar[data-lane="target"]', LANES),
    "draft steps": Mark("timeline", '.dv-bar[data-lane="draft"]', LANES),
    "target idle": Mark("timeline", '.dv-idle[data-lane="target"]', LANES),
    "draft idle": Mark("timeline", '.dv-idle[data-lane="draft"]', LANES),
    "token from the draft": Mark("text", f'{TOKEN}[data-source="draft"]', TOKEN),
    "token from the target": Mark("text", f'{TOKEN}[data-source="target"]', TOKEN),
    **{name: Mark("numbers", f'.dv-number:has([data-number="{id}"])', ".dv-number") for name, id in NUMBERS.items()},
}
# What can be clicked in the figure `classical rule`.
FIGURE_MARKS = {
    f"more likely for the {model}": Mark("figure", f'[data-likelier="{model}"]', "[data-likelier]")
    for model in ("draft", "target")
}
