"""Which iteration a page shows, by what happens in it and never by its number."""

from collections.abc import Callable

# Iterations are the trace's (see `duoviz.trace.schema`).
Iteration = dict


def proposals(iteration: Iteration) -> list[dict]:
    """The proposed tokens that this iteration's target forward could test."""
    checked = [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]
    firsts = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
    return checked + firsts


def discarded(iteration: Iteration) -> int:
    return sum(node["status"] == "discarded" for node in iteration["checked"] + iteration["drafted"])


def begin(iteration: Iteration) -> float:
    """When its first side began, in seconds of the run."""
    return min([iteration["target"]["start"], *(step["start"] for step in iteration["draft"][:1])])


def idle(iteration: Iteration, lane: str) -> float:
    """How long one side (`target` or `draft`) does nothing in this iteration, in seconds."""
    spans = iteration["draft"] if lane == "draft" else [iteration["target"]]
    return iteration["sync"] - begin(iteration) - sum(span["end"] - span["start"] for span in spans)


def known_outcomes(iteration: Iteration) -> list[dict]:
    """The tokens at one place of the text of which both models' probabilities are in the trace: text, p and q.

    That is so where the target refused first tokens: it tells its p of those and of its own token, and
    the draft its q of its eight candidates.
    """
    drafted_here = iteration["drafted"] or iteration["checked"]
    q = {candidate["id"]: candidate["p"] for candidate in iteration["candidates"]}
    nodes = [node for node in drafted_here if node["parent"] == -1 and node["p"] is not None]
    known = [
        {"text": node["text"], "p": node["p"], "q": q[node["id"]], "own": node["status"] == "correction"}
        for node in nodes
        if node["id"] in q
    ]
    return known if any(each["own"] for each in known) else []


def shared(outcomes: list[dict]) -> float | None:
    """How much of both models' probability the known tokens have in common; None where fewer than two are known."""
    return sum(min(each["p"], each["q"]) for each in outcomes) if len(outcomes) >= 2 else None


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
    "none accepted": lambda each: each["verdict"]["tested"] > 0 and each["verdict"]["accepted"] == 0,
    "one sequence": lambda each: each["sequences"] == 1 and each["theta"] is not None,
    "several sequences": lambda each: (each["sequences"] or 0) >= 2 and each["theta"] is not None,
    "three sequences": lambda each: (each["sequences"] or 0) >= 3 and each["theta"] is not None,
    "other sequence taken": lambda each: (each["verdict"]["sequence"] or 1) >= 2,
    "discarded tokens": lambda each: discarded(each) > 0,
    "budget left": lambda each: each.get("longest") is not None and each["longest"] < each["budget"],
    "two distributions": lambda each: len(known_outcomes(each)) >= 2,
}

# What may be large or small in an iteration; None where it has none.
MEASURES: dict[str, Callable[[Iteration], float | None]] = {
    "committed": lambda each: len(each["committed"]),
    "proposed": lambda each: len(proposals(each)) or None,
    "sequences": lambda each: each["sequences"],
    "discarded": discarded,
    "target idle": lambda each: idle(each, "target"),
    "draft idle": lambda each: idle(each, "draft"),
    "shared probability": lambda each: shared(known_outcomes(each)),
    "likely first token": lambda each: each["candidates"][0]["p"] if each["theta"] is not None else None,
}

FORMS = "prefill, middle, last, first CONDITION, last CONDITION, after first CONDITION, most MEASURE"
AND = " and "


def is_condition(text: str) -> bool:
    """Whether this is a condition, or several of them with `and` between."""
    return all(name in CONDITIONS for name in text.split(AND))


def is_predicate(text: str) -> bool:
    """Whether this stands for an iteration."""
    if text in ("prefill", "middle", "last"):
        return True
    if text.startswith("most "):
        return text.removeprefix("most ") in MEASURES
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
        measure = MEASURES[predicate.removeprefix("most ")]
        values = [(measure(each), each["index"]) for each in iterations[1:]]
        present = [(value, -index) for value, index in values if value is not None]
        return -max(present)[1] if present else None
    if predicate.startswith("after first "):
        first = next(iter(matching(predicate.removeprefix("after first "), iterations)), None)
        return None if first is None or first + 1 >= len(iterations) else first + 1
    order, condition = predicate.split(" ", 1)
    indices = matching(condition, iterations)
    return indices[0 if order == "first" else -1] if indices else None
