"""Figures in a lesson's text, read from a recorded trace: none is ever typed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from duoviz.decoding import METHODS
from duoviz.trace.metrics import iteration_seconds, metrics
from duoviz.web.lessons.predicates import (
    Iteration,
    discarded,
    guesses,
    idle,
    looked_up,
    proposals,
    second_choices,
    steps_before,
    survivors,
)

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
NAMED = re.compile(r"(?:([a-z_]+)\.)?([A-Za-z_]+)(?:\((\d+)\))?(?: ([a-z][a-z ]*))?$")
# The token with which a model ends its answer: it is no text.
END_OF_ANSWER = re.compile(r"<\|(im_end|endoftext|eot_id|end_of_text)\|>|</s>")

# Two speeds closer than this are called equal: one run's speed is not more certain.
EQUAL_SPEED = 0.03


class UnknownPlaceholder(ValueError):
    """No figure has this name; the message is a sentence."""


class NotInTrace(LookupError):
    """The trace does not hold this figure; the message says what, as in "there is no …"."""


@dataclass(frozen=True)
class Facts:
    """What a page's placeholders are read from.

    traces: the recorded trace of each method. method: the page's. iteration: the one that the page
    shows, None where its predicate finds none or the page shows none. places: what both models expected
    at each place of the recorded text (see `recordings.places`).
    """

    traces: dict[str, dict]
    method: str
    iteration: Iteration | None = None
    places: Sequence[list[dict]] = ()

    @property
    def trace(self) -> dict:
        return self.traces[self.method]


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.{1 if value < 0.01 else 0}f} ms"


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def counted(number: int, word: str) -> str:
    """As in "1 more token", "2 guesses"."""
    many = "es" if word.endswith("s") else "s"
    return f"{number} {word}{'' if number == 1 else many}"


def fixed(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{digits}f}"


def quoted(text: str) -> str:
    """A token's text as words on the page."""
    if END_OF_ANSWER.fullmatch(text):
        return "the end of the answer"
    return f"“{text.strip(' ') or text.replace(' ', '␣')}”".replace("\n", "↵")


# Of the whole run: `trace.metrics`.
METRICS: dict[str, Callable[[float], str]] = {
    "tps": fixed(1),
    "tau": fixed(2),
    "ttft": seconds,
    "wall": seconds,
    "acceptance": percent,
    "yield": percent,
    "overlap": percent,
    "idle_target": percent,
    "idle_draft": percent,
    "new_tokens": str,
    "target_forwards": str,
}

HEADER: dict[str, Callable[[dict], str | int | None]] = {
    "method": lambda header: METHODS[header["method"]].title,
    "target": lambda header: header["target"]["name"],
    "target_device": lambda header: header["target"]["device"],
    "draft": lambda header: header["draft"] and header["draft"]["name"],
    "draft_device": lambda header: header["draft"] and header["draft"]["device"],
    "prompt": lambda header: header["prompt"],
    "prompt_tokens": lambda header: header["prompt_tokens"],
    "way": lambda header: header["draft"] and ("at the same time" if header["can_overlap"] else "in turn"),
}


def first_text(nodes: list[dict]) -> str | None:
    return quoted(nodes[0]["text"]) if nodes else None


def node_text(iteration: Iteration, status: str) -> str | None:
    """The first proposed or own token with this status, quoted."""
    return first_text([node for node in iteration["checked"] + iteration["drafted"] if node["status"] == status])


def free_tokens(iteration: Iteration) -> list[dict]:
    """The proposed tokens that were found in a text, those that were accepted first."""
    return sorted(filter(looked_up, guesses(iteration)), key=lambda node: node["status"] != "accepted")


def free_token_fate(iteration: Iteration) -> str | None:
    """As in "Here …"."""
    tokens = free_tokens(iteration)
    if not tokens:
        return None
    return "it was right" if tokens[0]["status"] == "accepted" else "the answer continued differently"


def of_second_choice(iteration: Iteration, name: str) -> str | None:
    """A probability of the first accepted token that was not the draft's most probable."""
    choices = second_choices(iteration)
    return written_as(choices[0][0].get(name), fixed(3)) if choices else None


def second_best(iteration: Iteration) -> float | None:
    """p(2,1): θ over p(1,1)."""
    return None if iteration["theta"] is None else iteration["theta"] / iteration["candidates"][0]["p"]


def drafting(iteration: Iteration) -> float | None:
    """Seconds that the draft worked in an iteration; None where it did not."""
    return sum(step["end"] - step["start"] for step in iteration["draft"]) or None


def draft_meanwhile(iteration: Iteration) -> str:
    """As in "While the target checked, the draft …"; of a tree that lives on, with what this gave."""
    late = {number for number, step in enumerate(iteration["draft"]) if step["end"] > iteration["target"]["start"]}
    new = sum(node.get("step") in late for node in iteration.get("rest", ()))
    if not late:
        return "waited"
    # No more than the likeliest are recorded.
    return f"went on, and added {counted(new, 'token')} or more" if new else "went on"


def begun(iteration: Iteration, name: str, form: Callable[[float], str]) -> str | None:
    """Of why the target began when it did (`start`); None where the trace does not tell."""
    value = (iteration.get("start") or {}).get(name)
    # What a step would bring is the difference of two estimates.
    return None if value is None else form(max(0.0, value))


def written_as(value: float | None, form: Callable[[float], str]) -> str | None:
    """A value in a form; None stays None."""
    return None if value is None else form(value)


# Of the iteration shown.
ITERATION: dict[str, Callable[[Iteration], str | int | None]] = {
    "iteration": lambda iteration: iteration["index"],
    "k": lambda iteration: iteration["sequences"],
    "gamma": lambda iteration: iteration["budget"],
    "longest": lambda iteration: iteration.get("longest"),
    "theta": lambda iteration: written_as(iteration["theta"], fixed(3)),
    "first_p": lambda iteration: written_as(next((each["p"] for each in iteration["candidates"]), None), fixed(3)),
    "second_p": lambda iteration: written_as(second_best(iteration), fixed(3)),
    "rows": lambda iteration: iteration["target"]["rows"],
    "target_time": lambda iteration: seconds(iteration["target"]["end"] - iteration["target"]["start"]),
    "draft_time": lambda iteration: written_as(drafting(iteration), seconds),
    "draft_steps": lambda iteration: len(iteration["draft"]) or None,
    "target_idle_time": lambda iteration: seconds(idle(iteration, "target")),
    "draft_idle_time": lambda iteration: seconds(idle(iteration, "draft")),
    "proposed": lambda iteration: len(proposals(iteration)) or None,
    "pending": lambda iteration: sum(node["status"] != "correction" for node in iteration["checked"]),
    "tested": lambda iteration: iteration["verdict"]["tested"],
    "accepted": lambda iteration: iteration["verdict"]["accepted"],
    "committed": lambda iteration: len(iteration["committed"]),
    "discarded": discarded,
    "kept": lambda iteration: sum(node["status"] == "pending" for node in iteration["drafted"]),
    "taken": lambda iteration: iteration["verdict"]["sequence"],
    "rejected_token": lambda iteration: node_text(iteration, "rejected"),
    "accepted_token": lambda iteration: node_text(iteration, "accepted"),
    "free_token": lambda iteration: first_text(free_tokens(iteration)),
    "free_token_fate": free_token_fate,
    "second_choice": lambda iteration: first_text([node for node, _ in second_choices(iteration)]),
    "preferred_token": lambda iteration: first_text([best for _, best in second_choices(iteration)]),
    "second_choice_q": lambda iteration: of_second_choice(iteration, "q"),
    "second_choice_chance": lambda iteration: of_second_choice(iteration, "chance"),
    "own_token": lambda iteration: node_text(iteration, "correction"),
    "survived": lambda iteration: len(survivors(iteration)) or None,
    "draft_meanwhile": draft_meanwhile,
    "steps_before": steps_before,
    "gain": lambda iteration: begun(iteration, "gain", fixed(2)),
    "gain_time": lambda iteration: begun(iteration, "seconds", seconds),
    "rate": lambda iteration: begun(iteration, "rate", fixed(0)),
}


def cost(trace: dict, side: str, count: int) -> float:
    """Calibrated seconds of the target's forward with `count` rows or the draft's step of `count` sequences."""
    calibration = trace["header"].get("calibration")
    if not calibration:
        raise NotInTrace("calibration, for its method has no draft")
    counts, times = zip(*calibration[side], strict=True)
    if not counts[0] <= count <= counts[-1]:
        raise UnknownPlaceholder(f"the calibration goes from {counts[0]} to {counts[-1]}, and {count} is beyond it")
    return float(np.interp(count, counts, times))


def rows_within(trace: dict, factor: float) -> int:
    """How many rows, at most, one target forward has that takes no longer than `factor` forwards of one row."""
    limit = factor * cost(trace, "target", 1)
    last = trace["header"]["calibration"]["target"][-1][0]
    return max(rows for rows in range(1, last + 1) if cost(trace, "target", rows) <= limit)


def steps_that_fit(trace: dict, rows: int) -> int:
    """γ by the calibration: how many draft steps fit into one target forward of so many rows; at least 1."""
    return max(1, int(cost(trace, "target", rows) / cost(trace, "draft", 1)))


# Of the calibration; those with a number in brackets take one.
COSTS: dict[str, Callable[[dict, int], str | int]] = {
    "T_target": lambda trace, n: seconds(cost(trace, "target", n)),
    "T_draft": lambda trace, k: seconds(cost(trace, "draft", k)),
    "target_ratio": lambda trace, n: fixed(1)(cost(trace, "target", n) / cost(trace, "target", 1)),
    "draft_ratio": lambda trace, k: fixed(1)(cost(trace, "draft", k) / cost(trace, "draft", 1)),
    "rows_within": rows_within,
    "steps_that_fit": steps_that_fit,
}


def comparable(traces: dict[str, dict]) -> dict[str, dict]:
    """The traces that answer vanilla's prompt with vanilla's sampling, vanilla's own first."""
    if "vanilla" not in traces:
        raise NotInTrace("run of Vanilla beside it")
    names = ("max_new_tokens", "temperature", "top_k", "top_p", "seed", "raw")

    def asked(trace: dict) -> tuple:
        return (trace["header"]["prompt"], *(trace["header"]["settings"].get(name) for name in names))

    ordered = [name for name in METHODS if name in traces]
    return {name: traces[name] for name in ordered if asked(traces[name]) == asked(traces["vanilla"])}


def speeds(traces: dict[str, dict]) -> dict[str, float]:
    """Tokens per second of the traces that can be compared."""
    return {name: metrics(trace)["tps"] for name, trace in comparable(traces).items()}


def same_text(traces: dict[str, dict]) -> int:
    """How many of the other comparable runs wrote vanilla's tokens."""
    vanilla, *others = (
        [token["id"] for iteration in trace["iterations"] for token in iteration["committed"]]
        for trace in comparable(traces).values()
    )
    return others.count(vanilla)


def fastest(traces: dict[str, dict]) -> str:
    by_method = speeds(traces)
    return METHODS[max(by_method, key=by_method.__getitem__)].title


def speed_up(facts: Facts) -> float:
    """φ of the page's trace: its tokens per second over vanilla's."""
    by_method = speeds(facts.traces)
    if facts.method not in by_method:
        raise NotInTrace("run of Vanilla on the same prompt beside it")
    return by_method[facts.method] / by_method["vanilla"]


def against_vanilla(facts: Facts) -> str:
    """As in "SpS was … Vanilla"."""
    ratio = speed_up(facts)
    if abs(ratio - 1) < EQUAL_SPEED:
        return "about as fast as"
    return f"{percent(abs(ratio - 1))} {'faster' if ratio > 1 else 'slower'} than"


# Of the recorded runs, of one or of all together.
RUNS: dict[str, Callable[[Facts], str | int | None]] = {
    "iteration_time": lambda facts: written_as(iteration_seconds(facts.trace), seconds),
    "phi": lambda facts: fixed(2)(speed_up(facts)),
    "against_vanilla": against_vanilla,
    "fastest": lambda facts: fastest(facts.traces),
    "other_runs": lambda facts: len(comparable(facts.traces)) - 1,
    "same_text": lambda facts: same_text(facts.traces),
}

NAMES = (*METRICS, *HEADER, *ITERATION, *COSTS, *RUNS)


def value(name: str, facts: Facts) -> str:
    """What a placeholder stands for. Raises UnknownPlaceholder and NotInTrace."""
    match = NAMED.match(name)
    method, word, argument, noun = match.groups() if match else (None,) * 4
    if word not in NAMES or (method and method not in METHODS) or (argument is not None) != (word in COSTS):
        raise UnknownPlaceholder(f"there is no placeholder {{{name}}}; see the list in README.md")
    if method and method != facts.method:
        if word in ITERATION:
            raise UnknownPlaceholder(f"{{{name}}} is of an iteration, and the page shows one of another method")
        if method not in facts.traces:
            raise UnknownPlaceholder(f"there is no recorded trace of {method}")
        facts = replace(facts, method=method, iteration=None)
    answer = look_up(word, argument, facts)
    if answer is None:
        raise NotInTrace(f"value for “{name}”")
    if not noun:
        return str(answer)
    if not isinstance(answer, int):
        raise UnknownPlaceholder(f"{{{name}}} counts “{noun}”, and {word} is not a whole number")
    return counted(answer, noun)


def look_up(word: str, argument: str | None, facts: Facts) -> str | int | None:
    if word in METRICS:
        return written_as(metrics(facts.trace)[word], METRICS[word])
    if word in HEADER:
        return HEADER[word](facts.trace["header"])
    if word in COSTS and argument is not None:
        return COSTS[word](facts.trace, int(argument))
    if word in RUNS:
        return RUNS[word](facts)
    if facts.iteration is None:
        raise UnknownPlaceholder(f"{{{word}}} is of an iteration, and the page shows none; give it an `at`")
    return ITERATION[word](facts.iteration)
