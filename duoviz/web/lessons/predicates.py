"""Which iteration a page shows, by what happens in it and never by its number."""

import re
from collections.abc import Callable

from duoviz.web.lessons.source import Mistake, NotInTrace

# Iterations are the trace's (see `duoviz.trace.schema`).
Iteration = dict


def guesses(iteration: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward read."""
    return [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]


def proposals(iteration: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward could test."""
    firsts = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
    return guesses(iteration) + firsts


def looked_up(node: dict) -> bool:
    """Whether a token was found in a text, and not computed."""
    return node["source"] not in ("draft", "target")


def second_choices(iteration: Iteration) -> list[tuple[dict, dict]]:
    """The draft's accepted tokens that it did not think the most probable there, each with the one that it did."""
    choices = []
    for node in (node for node in iteration["checked"] if node["status"] == "accepted"):
        rivals = [rival for rival in guesses(iteration) if rival["parent"] == node["parent"] and rival["q"] is not None]
        best = max(rivals, key=lambda rival: rival["q"], default=node)
        if node["source"] == "draft" and best is not node and best["q"] > node["q"]:
            choices.append((node, best))
    return choices


def outcome(iteration: Iteration) -> str:
    return iteration["verdict"]["outcome"]


def owns_last(iteration: Iteration) -> bool:
    """Whether the last token written is the target's own, and not one that was proposed."""
    return bool(iteration["committed"]) and iteration["committed"][-1]["source"] == "target"


def steps_before(iteration: Iteration) -> int:
    """How many draft steps had ended when the target's forward began."""
    return sum(step["end"] <= iteration["target"]["start"] for step in iteration["draft"])


def survivors(iteration: Iteration) -> list[dict]:
    """Of a tree that lives on, its next root and what is under it: tokens that were not verified."""
    return [node for node in iteration.get("rest", ()) if node["status"] == "pending"]


def lives_on(iteration: Iteration) -> bool:
    """Whether the target's own token was an unverified one of the tree; not so where the answer ends with it."""
    return bool(survivors(iteration)) and owns_last(iteration) and bool(iteration["committed"][-1]["text"])


def over_threshold(iteration: Iteration) -> int:
    """How many of the first tokens listed are more probable than θ."""
    return sum(candidate["over"] for candidate in iteration["candidates"])


def discarded(iteration: Iteration) -> int:
    return sum(node["status"] == "discarded" for node in iteration["checked"] + iteration["drafted"])


def idle(iteration: Iteration, lane: str) -> float:
    """How long one side (`target` or `draft`) does nothing in this iteration, in seconds."""
    spans = iteration["draft"] if lane == "draft" else [iteration["target"]]
    begin = min(span["start"] for span in (iteration["target"], *iteration["draft"][:1]))
    return iteration["sync"] - begin - sum(span["end"] - span["start"] for span in spans)


# What may be true of an iteration.
CONDITIONS: dict[str, Callable[[Iteration], bool]] = {
    "hit": lambda iteration: outcome(iteration) == "hit",
    "miss": lambda iteration: outcome(iteration) == "miss",
    "rejection": lambda iteration: outcome(iteration) == "rejection",
    "nothing proposed": lambda iteration: not proposals(iteration),
    "nothing pending": lambda iteration: iteration["mode"] == "pre",
    "something pending": lambda iteration: iteration["mode"] == "post",
    "all accepted": lambda iteration: outcome(iteration) == "hit" and iteration["verdict"]["accepted"] >= 2,
    "some accepted": lambda iteration: outcome(iteration) == "rejection" and iteration["verdict"]["accepted"] > 0,
    "three guesses": lambda iteration: len(guesses(iteration)) >= 3,
    "free token proposed": lambda iteration: any(looked_up(node) for node in guesses(iteration)),
    "second choice accepted": lambda iteration: bool(second_choices(iteration)),
    "own token written": owns_last,
    "step declined": lambda iteration: (
        (iteration.get("start") or {}).get("gain") is not None and steps_before(iteration) > 0
    ),
    "tree lives on": lives_on,
    "one step": lambda iteration: len(iteration["draft"]) == 1,
    "several steps": lambda iteration: len(iteration["draft"]) > 1,
    "none accepted": lambda iteration: iteration["verdict"]["tested"] > 0 and iteration["verdict"]["accepted"] == 0,
    "one sequence": lambda iteration: iteration["sequences"] == 1 and iteration["theta"] is not None,
    "several sequences": lambda iteration: (iteration["sequences"] or 0) >= 2 and iteration["theta"] is not None,
    "few sequences": lambda iteration: (
        2 <= (iteration["sequences"] or 0) <= 4 and iteration["sequences"] == over_threshold(iteration)
    ),
    "three sequences": lambda iteration: (iteration["sequences"] or 0) >= 3 and iteration["theta"] is not None,
    "other sequence taken": lambda iteration: (iteration["verdict"]["sequence"] or 1) >= 2,
    "discarded tokens": lambda iteration: discarded(iteration) > 0,
    "budget left": lambda iteration: (
        iteration.get("longest") is not None and iteration["longest"] < iteration["budget"]
    ),
}

# What may be large or small in an iteration; None where it has none.
MEASURES: dict[str, Callable[[Iteration], float | None]] = {
    "committed": lambda iteration: len(iteration["committed"]),
    "proposed": lambda iteration: len(proposals(iteration)) or None,
    "sequences": lambda iteration: iteration["sequences"],
    "discarded": discarded,
    "survivors": lambda iteration: len(survivors(iteration)) or None,
    "target idle": lambda iteration: idle(iteration, "target"),
    "draft idle": lambda iteration: idle(iteration, "draft"),
    "likely first token": lambda iteration: iteration["candidates"][0]["p"] if iteration["theta"] is not None else None,
}

# Which of so many iterations a word alone stands for.
POSITIONS = {"prefill": lambda count: 0, "middle": lambda count: count // 2, "last": lambda count: count - 1}
FORM = re.compile("(first|last|after first|most) (.+)")
FORMS = (
    "prefill, middle, last, first CONDITION, last CONDITION, after first CONDITION, most MEASURE, "
    "most MEASURE where CONDITION"
)


def matching(condition: str, iterations: list[Iteration]) -> list[int]:
    """The indices of the iterations, never the prefill, for which a condition, or several with `and`, hold.

    Raises Mistake where it is none, and NotInTrace where there is no such iteration.
    """
    names = condition.split(" and ")
    if not CONDITIONS.keys() >= {*names}:
        raise Mistake(
            f'"{condition}" is not a condition of an iteration: choose one of {", ".join(CONDITIONS)}', condition
        )
    indices = [each["index"] for each in iterations[1:] if all(CONDITIONS[name](each) for name in names)]
    if not indices:
        raise NotInTrace(f"iteration with “{condition}”")
    return indices


def find(predicate: str, iterations: list[Iteration]) -> int:
    """The index of the iteration that a predicate stands for. Raises Mistake and NotInTrace as `matching` does."""
    if predicate in POSITIONS:
        return POSITIONS[predicate](len(iterations))
    match = FORM.fullmatch(predicate)
    if not match:
        raise Mistake(f'"{predicate}" names no iteration: write {FORMS}', predicate)
    order, what = match.groups()
    if order == "most":
        return of_the_most(what, iterations)
    index = matching(what, iterations)[-1 if order == "last" else 0] + (order == "after first")
    if index == len(iterations):
        raise NotInTrace(f"iteration with “{what}”")
    return index


def of_the_most(what: str, iterations: list[Iteration]) -> int:
    """The first index of those with the largest measure: MEASURE or MEASURE where CONDITION."""
    name, where, condition = what.partition(" where ")
    if name not in MEASURES:
        raise Mistake(f'"{name}" is not a measure of an iteration: choose one of {", ".join(MEASURES)}', what)
    wanted = matching(condition, iterations) if where else range(1, len(iterations))
    values = {index: value for index in wanted if (value := MEASURES[name](iterations[index])) is not None}
    if not values:
        raise NotInTrace(f"iteration with “{what}”")
    return max(values, key=values.__getitem__)
