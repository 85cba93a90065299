"""What a lesson may point at in the visualizer, and which figures it may show of its own."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from duoviz.web.lessons.predicates import Iteration, guesses, idle, looked_up

# The visualizer's parts, each a section of the page.
PARTS = {name: f".dv-{name}" for name in ("numbers", "player", "text", "tree", "timeline", "charts", "legend")}
PARTS["player"] = ".dv-transport"


class Mark(NamedTuple):
    """Something inside a part.

    choices: what a reader may click there to answer a question. present: whether an iteration has it.
    of_iteration: whether only those of the iteration that the page shows are lit.
    """

    part: str
    selector: str
    choices: str
    present: Callable[[Iteration], bool] = lambda iteration: True
    of_iteration: bool = False

    def lit(self, at: int) -> str:
        """The selector of what is highlighted on a page that shows this iteration."""
        return self.selector + (f'[data-iteration="{at}"]' if self.of_iteration else "")


def has_node(status: str, iteration: Iteration) -> bool:
    nodes = (*iteration["checked"], *iteration["drafted"], *iteration.get("rest", ()))
    return any(node["status"] == status for node in nodes)


def has_token(source: str, iteration: Iteration) -> bool:
    return any(token["source"] == source for token in iteration["committed"])


def has_worked(lane: str, iteration: Iteration) -> bool:
    return bool(iteration[lane])


def is_idle(lane: str, iteration: Iteration) -> bool:
    return idle(iteration, lane) > 0


LANES = ".dv-bar, .dv-idle"
TOKEN = ".dv-shown .dv-token"
NUMBERS = {
    "tokens/s": "tps", "τ": "tau", "acceptance": "acceptance", "overlap": "overlap", "first token": "ttft",
    "k": "k", "γ": "gamma", "longest sequence": "longest", "θ": "theta",
}  # fmt: skip

MARKS = {
    **{
        status: Mark("tree", f'.dv-node[data-status="{status}"]', ".dv-node", partial(has_node, status))
        for status in ("accepted", "rejected", "discarded", "pending", "correction")
    },
    "looked up": Mark(
        "tree",
        '.dv-node:is([data-source="prompt"], [data-source="datastore"])',
        ".dv-node",
        lambda iteration: any(looked_up(node) for node in guesses(iteration)),
    ),
    "candidates": Mark(
        "tree", ".dv-candidates", ".dv-node, .dv-candidates", lambda iteration: bool(iteration["candidates"])
    ),
    **{
        name: Mark("timeline", f'.dv-bar[data-lane="{lane}"]', LANES, partial(has_worked, lane), of_iteration=True)
        for name, lane in (("target forward", "target"), ("draft steps", "draft"))
    },
    **{
        f"{lane} idle": Mark("timeline", f'.dv-idle[data-lane="{lane}"]', LANES, partial(is_idle, lane))
        for lane in ("target", "draft")
    },
    **{
        f"token from the {source}": Mark("text", f'{TOKEN}[data-source="{source}"]', TOKEN, partial(has_token, source))
        for source in ("draft", "target")
    },
    **{
        name: Mark("numbers", f'.dv-number:has([data-number="{number}"])', ".dv-number")
        for name, number in NUMBERS.items()
    },
}

# What can be clicked in the figure `classical rule`.
FIGURE_MARKS = {
    f"more likely for the {model}": Mark("figure", f'[data-likelier="{model}"]', "[data-likelier]")
    for model in ("draft", "target")
}
