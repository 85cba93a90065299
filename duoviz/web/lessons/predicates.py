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
    found = []
    for node in accepted(iteration):
        rivals = [each for each in guesses(iteration) if each["parent"] == node["parent"] and each["q"] is not None]
        best = max(rivals, key=lambda each: each["q"], default=node)
        if node["source"] == "draft" and best is not node and best["q"] > node["q"]:
            found.append((node, best))
    return found


def accepted(iteration: Iteration) -> list[dict]:
    """The checked tokens that were accepted."""
    return [node for node in iteration["checked"] if node["status"] == "accepted"]


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
    return sum(each["over"] for each in iteration["candidates"])


def discarded(iteration: Iteration) -> int:
    return sum(node["status"] == "discarded" for node in iteration["checked"] + iteration["drafted"])


def begin(iteration: Iteration) -> float:
    """When its first side began, in seconds of the run."""
    return min([iteration["target"]["start"], *(step["start"] for step in iteration["draft"][:1])])


def idle(iteration: Iteration, lane: str) -> float:
    """How long one side (`target` or `draft`) does nothing in this iteration, in seconds."""
    spans = iteration["draft"] if lane == "draft" else [iteration["target"]]
    return iteration["sync"] - begin(iteration) - sum(span["end"] - span["start"] for span in spans)


# What may be true of an iteration.
CONDITIONS: dict[str, Callable[[Iteration], bool]] = {
    "hit": lambda each: each["verdict"]["outcome"] == "hit",
    "miss": lambda each: each["verdict"]["outcome"] == "miss",
    "rejection": lambda each: each["verdict"]["outcome"] == "rejection",
    "nothing proposed": lambda each: not proposals(each),
    "nothing pending": lambda each: each["mode"] == "pre",
    "something pending": lambda each: each["mode"] == "post",
    "all accepted": lambda each: each["verdict"]["outcome"] == "hit" and each["verdict"]["accepted"] >= 2,
    "some accepted": lambda each: each["verdict"]["outcome"] == "rejection" and each["verdict"]["accepted"] > 0,
    "three guesses": lambda each: len(guesses(each)) >= 3,
    "free token proposed": lambda each: any(looked_up(node) for node in guesses(each)),
    "second choice accepted": lambda each: bool(second_choices(each)),
    "own token written": owns_last,
    "step declined": lambda each: (each.get("start") or {}).get("gain") is not None and steps_before(each) > 0,
    "tree lives on": lives_on,
    "one step": lambda each: len(each["draft"]) == 1,
    "several steps": lambda each: len(each["draft"]) > 1,
    "none accepted": lambda each: each["verdict"]["tested"] > 0 and each["verdict"]["accepted"] == 0,
    "one sequence": lambda each: each["sequences"] == 1 and each["theta"] is not None,
    "several sequences": lambda each: (each["sequences"] or 0) >= 2 and each["theta"] is not None,
    "few sequences": lambda each: 2 <= (each["sequences"] or 0) <= 4 and each["sequences"] == over_threshold(each),
    "three sequences": lambda each: (each["sequences"] or 0) >= 3 and each["theta"] is not None,
    "other sequence taken": lambda each: (each["verdict"]["sequence"] or 1) >= 2,
    "discarded tokens": lambda each: discarded(each) > 0,
    "budget left": lambda each: each.get("longest") is not None and each["longest"] < each["budget"],
}

# What may be large or small in an iteration; None where it has none.
MEASURES: dict[str, Callable[[Iteration], float | None]] = {
    "committed": lambda each: len(each["committed"]),
    "proposed": lambda each: len(proposals(each)) or None,
    "sequences": lambda each: each["sequences"],
    "discarded": discarded,
    "survivors": lambda each: len(survivors(each)) or None,
    "target idle": lambda each: idle(each, "target"),
    "draft idle": lambda each: idle(each, "draft"),
    "likely first token": lambda each: each["candidates"][0]["p"] if each["theta"] is not None else None,
}

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
    if text in ("prefill", "middle", "last"):
        return True
    if text.startswith("most "):
        measure, where, condition = text.removeprefix("most ").partition(WHERE)
        return measure in MEASURES and (not where or is_condition(condition))
    form = next((form for form in ("after first ", "first ", "last ") if text.startswith(form)), None)
    return form is not None and is_condition(text.removeprefix(form))


def matching(condition: str, iterations: list[Iteration]) -> list[int]:
    """The indices of the iterations for which a condition holds; the prefill is never one of them."""
    tests = [CONDITIONS[name] for name in condition.split(AND)]
    return [each["index"] for each in iterations[1:] if all(test(each) for test in tests)]


def find(predicate: str, iterations: list[Iteration]) -> int | None:
    """The index of the iteration that a predicate stands for, or None where there is none."""
    if predicate == "prefill":
        return 0
    if predicate == "last":
        return len(iterations) - 1
    if predicate == "middle":
        return len(iterations) // 2
    if predicate.startswith("most "):
        name, where, condition = predicate.removeprefix("most ").partition(WHERE)
        wanted = matching(condition, iterations) if where else range(1, len(iterations))
        values = [(MEASURES[name](iterations[index]), index) for index in wanted]
        present = [(value, -index) for value, index in values if value is not None]
        return -max(present)[1] if present else None
    if predicate.startswith("after first "):
        first = next(iter(matching(predicate.removeprefix("after first "), iterations)), None)
        return None if first is None or first + 1 >= len(iterations) else first + 1
    order, condition = predicate.split(" ", 1)
    indices = matching(condition, iterations)
    return indices[0 if order == "first" else -1] if indices else None
