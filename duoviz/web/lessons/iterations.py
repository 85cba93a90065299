"""What a lesson may say of an iteration: which one it means, what happens in it, what can be pointed at."""

import re
from collections.abc import Callable
from typing import NamedTuple

from duoviz.web.lessons.text import Mistake, one_of

# Iterations are the trace's (`trace/trace.schema.json`).
Iteration = dict


def guesses(it: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward read."""
    return [node for node in it["checked"] if node["status"] not in ("correction", "window")]


def proposals(it: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward could test."""
    return guesses(it) + [node for node in it["drafted"] if node["parent"] == -1 and node["status"] != "correction"]


def looked_up(node: dict) -> bool:
    """Whether a token was found in a text, and not computed."""
    return node["source"] not in ("draft", "target")


def second_choice(it: Iteration) -> tuple[dict | None, dict | None]:
    """The draft's first accepted token that it did not think the most probable there, and the one that it did."""
    for node in it["checked"]:
        if node["status"] == "accepted" and node["source"] == "draft":
            rivals = [rival for rival in guesses(it) if rival["parent"] == node["parent"] and rival["q"] is not None]
            best = max(rivals, key=lambda rival: rival["q"], default=node)
            if best is not node and best["q"] > node["q"]:
                return node, best
    return None, None


def owns_last(it: Iteration) -> bool:
    """Whether the last token written is the target's own, and not one that was proposed."""
    return bool(it["committed"]) and it["committed"][-1]["source"] == "target"


def steps_before(it: Iteration) -> int:
    """How many draft steps had ended when the target's forward began."""
    return sum(step["end"] <= it["target"]["start"] for step in it["draft"])


def survivors(it: Iteration) -> list[dict]:
    """Of a tree that lives on, its next root and what is under it: tokens that were not verified."""
    return [node for node in it.get("rest", ()) if node["status"] == "pending"]


def idle(lane: str, it: Iteration) -> float:
    """How long one side (`target` or `draft`) does nothing in this iteration, in seconds."""
    spans = it["draft"] if lane == "draft" else [it["target"]]
    begin = min(span["start"] for span in (it["target"], *it["draft"][:1]))
    return it["sync"] - begin - sum(span["end"] - span["start"] for span in spans)


CONDITIONS: dict[str, Callable[[Iteration], bool]] = {
    "hit": lambda it: it["verdict"]["outcome"] == "hit",
    "miss": lambda it: it["verdict"]["outcome"] == "miss",
    "rejection": lambda it: it["verdict"]["outcome"] == "rejection",
    "nothing pending": lambda it: it["mode"] == "pre",
    "something pending": lambda it: it["mode"] == "post",
    "some accepted": lambda it: it["verdict"]["outcome"] == "rejection" and it["verdict"]["accepted"] > 0,
    "three guesses": lambda it: len(guesses(it)) >= 3,
    "free token proposed": lambda it: any(map(looked_up, guesses(it))),
    "second choice accepted": lambda it: second_choice(it)[0] is not None,
    "own token written": owns_last,
    "step declined": lambda it: (it.get("start") or {}).get("gain") is not None and steps_before(it) > 0,
    # The target's own token was an unverified one of the tree; where the answer ends with it nothing lives on.
    "tree lives on": lambda it: bool(survivors(it)) and owns_last(it) and bool(it["committed"][-1]["text"]),
    "several committed": lambda it: len(it["committed"]) > 2,
    "several steps": lambda it: len(it["draft"]) > 1,
    "one sequence": lambda it: it["theta"] is not None and it["sequences"] == 1,
    # One for each first token over the threshold.
    "few sequences": lambda it: it["sequences"] in {2, 3, 4} & {sum(each["over"] for each in it["candidates"])},
    "other sequence taken": lambda it: (it["verdict"]["sequence"] or 1) >= 2,
    "budget left": lambda it: it.get("longest") is not None and it["longest"] < it["budget"],
}

# What may be large or small in an iteration; None where it has none.
MEASURES: dict[str, Callable[[Iteration], float | None]] = {
    "committed": lambda it: len(it["committed"]),
    "proposed": lambda it: len(proposals(it)) or None,
    "sequences": lambda it: it["sequences"],
    "discarded": lambda it: sum(node["status"] == "discarded" for node in it["checked"] + it["drafted"]),
    "survivors": lambda it: len(survivors(it)) or None,
    "likely first token": lambda it: None if it["theta"] is None else it["candidates"][0]["p"],
}

FORM = re.compile("(prefill|middle|last)|(first|last|after first) (.+)|most (.+?)(?: where (.+))?")
FORMS = (
    "prefill, middle, last, first CONDITION, last CONDITION, after first CONDITION, most MEASURE, "
    "most MEASURE where CONDITION"
)


def matching(condition: str, iterations: list[Iteration]) -> list[int]:
    """The indices of the iterations, never the prefill, for which a condition, or several with `and`, hold.

    Raises Mistake where it is none, or holds nowhere.
    """
    names = condition.split(" and ")
    for name in names:
        one_of(name, CONDITIONS, f'"{name}" is not a condition of an iteration')
    return existing([each["index"] for each in iterations[1:] if all(CONDITIONS[name](each) for name in names)])


def existing(indices: list[int]) -> list[int]:
    """The indices. Raises Mistake where there are none."""
    if not indices:
        raise Mistake("the recorded run has no such iteration")
    return indices


def find(at: str, iterations: list[Iteration]) -> int:
    """The index of the iteration that a page's `at` stands for; with `most`, the first of the largest.

    Raises Mistake where it stands for none.
    """
    if not (match := FORM.fullmatch(at)):
        raise Mistake(f'"{at}" names no iteration: write {FORMS}')
    place, order, condition, measure, where = match.groups()
    if place:
        return {"prefill": 0, "middle": len(iterations) // 2, "last": len(iterations) - 1}[place]
    if order:
        index = matching(condition, iterations)[-1 if order == "last" else 0] + (order == "after first")
        return existing([index] if index < len(iterations) else [])[0]
    one_of(measure, MEASURES, f'"{measure}" is not a measure of an iteration')
    wanted = matching(where, iterations) if where else range(1, len(iterations))
    values = {index: value for index in wanted if (value := MEASURES[measure](iterations[index])) is not None}
    return max(existing([*values]), key=values.__getitem__)


# The visualizer's parts, each a section of the page.
PARTS = {name: f".dv-{name}" for name in ("numbers", "player", "text", "tree", "timeline", "charts", "legend")}
PARTS["player"] = ".dv-transport"


class Mark(NamedTuple):
    """Something inside a part. choices: what a reader may click there to answer a question."""

    part: str
    selector: str
    choices: str

    def lit(self, at: int) -> str:
        """The selector of what is highlighted on a page that shows this iteration: of bars, those of it alone."""
        return self.selector + (f'[data-iteration="{at}"]' if self.selector.startswith(".dv-bar") else "")


LANES = ".dv-bar, .dv-idle"
TOKEN = ".dv-shown .dv-token"
FOUND = '.dv-node:is([data-source="prompt"], [data-source="datastore"])'
NUMBERS = {
    "tokens/s": "tps", "τ": "tau", "acceptance": "acceptance", "overlap": "overlap", "first token": "ttft",
    "k": "k", "γ": "gamma", "longest sequence": "longest", "θ": "theta",
}  # fmt: skip

STATUSES = ("accepted", "rejected", "discarded", "pending", "correction")
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


def marks_in(it: Iteration) -> set[str]:
    """Which marks an iteration has; numbers always."""
    nodes = (*it["checked"], *it["drafted"], *it.get("rest", ()))
    of_tokens = {node["status"] for node in nodes} | {f"token from the {token['source']}" for token in it["committed"]}
    others = {
        "target forward": it["target"], "draft steps": it["draft"], "candidates": it["candidates"],
        "looked up": [node for node in guesses(it) if looked_up(node)],
        "target idle": idle("target", it) > 0, "draft idle": idle("draft", it) > 0,
    }  # fmt: skip
    return of_tokens | {name for name, found in others.items() if found} | {*NUMBERS}
