"""What a lesson may point at in the visualizer, and which figures it may show of its own."""

from collections.abc import Callable
from typing import NamedTuple

from duoviz.web.lessons.predicates import Iteration, guesses, idle, looked_up

# The visualizer's parts, each a section of the page.
PARTS = {
    "numbers": ".dv-numbers",
    "player": ".dv-transport",
    "text": ".dv-text",
    "tree": ".dv-tree",
    "timeline": ".dv-timeline",
    "charts": ".dv-charts",
    "legend": ".dv-legend",
}


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


def tree_mark(status: str) -> Mark:
    """Nodes of the tree with this status."""

    def present(iteration: Iteration) -> bool:
        nodes = (*iteration["checked"], *iteration["drafted"], *iteration.get("rest", ()))
        return any(node["status"] == status for node in nodes)

    return Mark("tree", f'.dv-node[data-status="{status}"]', ".dv-node", present)


def bars_mark(lane: str, present: Callable[[Iteration], bool]) -> Mark:
    return Mark("timeline", f'.dv-bar[data-lane="{lane}"]', ".dv-bar, .dv-idle", present, of_iteration=True)


def idle_mark(lane: str) -> Mark:
    return Mark(
        "timeline", f'.dv-idle[data-lane="{lane}"]', ".dv-bar, .dv-idle", lambda iteration: idle(iteration, lane) > 0
    )


def text_mark(source: str) -> Mark:
    """Tokens of the text from this source."""

    def present(iteration: Iteration) -> bool:
        return any(token["source"] == source for token in iteration["committed"])

    return Mark("text", f'.dv-shown .dv-token[data-source="{source}"]', ".dv-shown .dv-token", present)


def numbers_mark(name: str) -> Mark:
    return Mark("numbers", f'.dv-number:has([data-number="{name}"])', ".dv-number")


MARKS = {
    **{status: tree_mark(status) for status in ("accepted", "rejected", "discarded", "pending", "correction")},
    "looked up": Mark(
        "tree",
        '.dv-node:is([data-source="prompt"], [data-source="datastore"])',
        ".dv-node",
        lambda iteration: any(looked_up(node) for node in guesses(iteration)),
    ),
    "candidates": Mark(
        "tree", ".dv-candidates", ".dv-node, .dv-candidates", lambda iteration: bool(iteration["candidates"])
    ),
    "target forward": bars_mark("target", lambda iteration: True),
    "draft steps": bars_mark("draft", lambda iteration: bool(iteration["draft"])),
    "target idle": idle_mark("target"),
    "draft idle": idle_mark("draft"),
    "token from the draft": text_mark("draft"),
    "token from the target": text_mark("target"),
    "tokens/s": numbers_mark("tps"),
    "τ": numbers_mark("tau"),
    "acceptance": numbers_mark("acceptance"),
    "overlap": numbers_mark("overlap"),
    "first token": numbers_mark("ttft"),
    "k": numbers_mark("k"),
    "γ": numbers_mark("gamma"),
    "longest sequence": numbers_mark("longest"),
    "θ": numbers_mark("theta"),
}

# What can be clicked in the figure `rule`.
FIGURE_MARKS = {
    "more likely for the draft": Mark("figure", '[data-likelier="draft"]', "[data-likelier]"),
    "more likely for the target": Mark("figure", '[data-likelier="target"]', "[data-likelier]"),
}
