"""Figures in a lesson's text: Jinja2 expressions over a recorded trace; none is ever typed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from duoviz.decoding import METHODS
from duoviz.trace.metrics import iteration_seconds, metrics
from duoviz.web.lessons.predicates import MEASURES, Iteration, guesses, looked_up, second_choices, steps_before
from duoviz.web.lessons.source import Mistake, NotInTrace

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# The token with which a model ends its answer: it is no text.
END_OF_ANSWER = re.compile(r"<\|(im_end|endoftext|eot_id|end_of_text)\|>|</s>")

# Two speeds closer than this are called equal: one run's speed is not more certain.
EQUAL_SPEED = 0.03


@dataclass(frozen=True)
class Facts:
    """What a page's placeholders are read from.

    traces: the recorded trace of each method. method: the page's. iteration: the one that the page
    shows, None where it shows the whole text. places: what both models expected
    at each place of the recorded text (see `recordings.places`).
    """

    traces: dict[str, dict]
    method: str
    iteration: Iteration | None = None
    places: Sequence[list[dict]] = ()

    @property
    def trace(self) -> dict:
        return self.traces[self.method]

    @cached_property
    def names(self) -> dict:
        """What an expression may name; README.md in the lessons' folder lists it."""
        nowhere = StrictUndefined("the page shows no iteration; give it an `at`")
        iteration = self.iteration
        return {
            **{name: StrictUndefined(f"there is no recorded run of {name}") for name in METHODS},
            **{name: of_run(replace(self, method=name)) for name in self.traces},
            **of_run(self),
            "fastest": partial(fastest, self.traces),
            "other_runs": partial(other_runs, self.traces),
            "same_text": partial(same_text, self.traces),
            "iteration": iteration or nowhere,
            **{name: find(iteration) if iteration else nowhere for name, find in ITERATION.items()},
        }


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.{1 if value < 0.01 else 0}f} ms"


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def fixed(value: float, digits: int) -> str:
    return f"{float(value):.{digits}f}"


def counted(number: int, word: str) -> str:
    """As in "1 more token", "2 guesses"."""
    if not isinstance(number, int):
        raise TypeError(f"{number} is not a whole number")
    many = "es" if word.endswith("s") else "s"
    return f"{number} {word}{'' if number == 1 else many}"


def quoted(token: dict) -> str:
    """A token's text as words on the page."""
    text = token["text"]
    if END_OF_ANSWER.fullmatch(text):
        return "the end of the answer"
    return f"“{text.strip(' ') or text.replace(' ', '␣')}”".replace("\n", "↵")


FORMS = {write.__name__: write for write in (seconds, percent, fixed, counted, quoted)}


def form(write: Callable[..., str]) -> Callable[..., str | None]:
    """The form as a filter: None stays None."""
    return lambda value, *options: None if value is None else write(value, *options)


class Environment(SandboxedEnvironment):
    """Of the expressions: a part of None is what the trace does not hold."""

    def getattr(self, obj: object, attribute: str) -> object:
        if obj is None:
            raise NotInTrace(f"value for “{attribute}”")
        return super().getattr(obj, attribute)


environment = Environment(undefined=StrictUndefined)
environment.filters |= {name: form(write) for name, write in FORMS.items()}


def with_status(iteration: Iteration, status: str) -> dict | None:
    """The first proposed or own token with this status."""
    nodes = iteration["checked"] + iteration["drafted"]
    return next((node for node in nodes if node["status"] == status), None)


def free_token(iteration: Iteration) -> dict | None:
    """A proposed token that was found in a text, an accepted one first."""
    free = filter(looked_up, guesses(iteration))
    return min(free, key=lambda node: node["status"] != "accepted", default=None)


def second_choice(iteration: Iteration) -> tuple[dict | None, dict | None]:
    """The first accepted token that was not the draft's most probable, and the one that was."""
    return next(iter(second_choices(iteration)), (None, None))


def draft_meanwhile(iteration: Iteration) -> str:
    """As in "While the target checked, the draft …"; of a tree that lives on, with what this gave."""
    late = {number for number, step in enumerate(iteration["draft"]) if step["end"] > iteration["target"]["start"]}
    new = sum(node.get("step") in late for node in iteration.get("rest", ()))
    if not late:
        return "waited"
    # No more than the likeliest are recorded.
    return f"went on, and added {counted(new, 'token')} or more" if new else "went on"


# Of the iteration shown, beside its record; None where it has none.
ITERATION: dict[str, Callable[[Iteration], object]] = {
    **{name.replace(" ", "_"): measure for name, measure in MEASURES.items()},
    "target_time": lambda iteration: iteration["target"]["end"] - iteration["target"]["start"],
    "draft_time": lambda iteration: sum(step["end"] - step["start"] for step in iteration["draft"]) or None,
    "draft_steps": lambda iteration: len(iteration["draft"]) or None,
    "pending": lambda iteration: sum(node["status"] != "correction" for node in iteration["checked"]),
    "kept": lambda iteration: sum(node["status"] == "pending" for node in iteration["drafted"]),
    "accepted_token": lambda iteration: with_status(iteration, "accepted"),
    "rejected_token": lambda iteration: with_status(iteration, "rejected"),
    "own_token": lambda iteration: with_status(iteration, "correction"),
    "free_token": free_token,
    "second_choice": lambda iteration: second_choice(iteration)[0],
    "preferred_token": lambda iteration: second_choice(iteration)[1],
    "draft_meanwhile": draft_meanwhile,
    "steps_before": steps_before,
}


def cost(trace: dict, side: str, count: int) -> float:
    """Calibrated seconds of the target's forward with `count` rows or the draft's step of `count` sequences."""
    calibration = trace["header"].get("calibration")
    if not calibration:
        raise NotInTrace("calibration, for its method has no draft")
    counts, times = zip(*calibration[side], strict=True)
    if not counts[0] <= count <= counts[-1]:
        raise Mistake(f"the calibration goes from {counts[0]} to {counts[-1]}, and {count} is beyond it")
    return float(np.interp(count, counts, times))


def rows_within(trace: dict, factor: float) -> int:
    """How many rows, at most, one target forward has that takes no longer than `factor` forwards of one row."""
    limit = factor * cost(trace, "target", 1)
    last = trace["header"]["calibration"]["target"][-1][0]
    return max(rows for rows in range(1, last + 1) if cost(trace, "target", rows) <= limit)


def steps_that_fit(trace: dict, rows: int) -> int:
    """γ by the calibration: how many draft steps fit into one target forward of so many rows; at least 1."""
    return max(1, int(cost(trace, "target", rows) / cost(trace, "draft", 1)))


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


def other_runs(traces: dict[str, dict]) -> int:
    """How many runs can be compared with vanilla's."""
    return len(comparable(traces)) - 1


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


def of_run(facts: Facts) -> dict:
    """What an expression may name of one run: its header, its metrics and what its calibration says."""
    trace = facts.trace
    return {
        **trace["header"],
        **metrics(trace),
        "iteration_time": iteration_seconds(trace),
        "T_target": partial(cost, trace, "target"),
        "T_draft": partial(cost, trace, "draft"),
        "rows_within": partial(rows_within, trace),
        "steps_that_fit": partial(steps_that_fit, trace),
        "phi": partial(speed_up, facts),
        "against_vanilla": partial(against_vanilla, facts),
    }


def value(expression: str, facts: Facts) -> str:
    """What a placeholder stands for. Raises Mistake and NotInTrace."""
    try:
        answer = environment.compile_expression(expression, undefined_to_none=False)(facts.names)
        if answer is None:
            raise NotInTrace(f"value for “{expression.partition('|')[0].strip()}”")
        text = str(answer)
        if not isinstance(answer, str | int):
            raise TypeError("say how to write it: " + ", ".join(FORMS))
        return text
    except (TemplateError, TypeError, ValueError, ArithmeticError, KeyError, Mistake) as error:
        raise Mistake(f"{{{expression}}} cannot be computed: {error}; see README.md", f"{{{expression}}}") from None
