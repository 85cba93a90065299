"""Which iteration a page shows, by what happens in it and never by its number."""

from collections.abc import Callable

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
FORMS = (
    "prefill, middle, last, first CONDITION, last CONDITION, after first CONDITION, most MEASURE, "
    "most MEASURE where CONDITION"
)
AND = " and "
WHERE = " where "


def is_condition(text: str) -> bool:
    """Whether this is a condition, or several of them with `and` between."""
    return all(name in CONDITIONS for name in text.split(AND))


def is_predicate(text: str) -> bool:
    """Whether this stands for an iteration."""
    if text in POSITIONS:
        return True
    if text.startswith("most "):
        measure, where, condition = text.removeprefix("most ").partition(WHERE)
        return measure in MEASURES and (not where or is_condition(condition))
    form = next((form for form in ("after first ", "first ", "last ") if text.startswith(form)), None)
    return form is not None and is_condition(text.removeprefix(form))


def matching(condition: str, iterations: list[Iteration]) -> list[int]:
    """The indices of the iterations for which a condition holds; the prefill is never one of them."""
    tests = [CONDITIONS[name] for name in condition.split(AND)]
    return [iteration["index"] for iteration in iterations[1:] if all(test(iteration) for test in tests)]


def find(predicate: str, iterations: list[Iteration]) -> int | None:
    """The index of the iteration that a predicate stands for, or None where there is none."""
    if predicate in POSITIONS:
        return POSITIONS[predicate](len(iterations))
    if predicate.startswith("most "):
        name, where, condition = predicate.removeprefix("most ").partition(WHERE)
        wanted = matching(condition, iterations) if where else range(1, len(iterations))
        values = [(MEASURES[name](iterations[index]), index) for index in wanted]
        present = [(value, -index) for value, index in values if value is not None]
        return -max(present)[1] if present else None
    order, condition = predicate.removeprefix("after ").split(" ", 1)
    indices = matching(condition, iterations)
    if not indices:
        return None
    index = indices[0 if order == "first" else -1] + predicate.startswith("after ")
    return index if index < len(iterations) else None
