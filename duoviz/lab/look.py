"""How a method looks in figures."""

from typing import NamedTuple


class Look(NamedTuple):
    """pattern: over its bars, mark: of its points, as Plotly names them, so that colour is not the only sign."""

    colour: str
    pattern: str
    mark: str


LOOKS = {
    "vanilla": Look("#8a93a3", "", "circle"),
    "speculative": Look("#2f7fd6", "/", "diamond"),
    "prompt_lookup": Look("#c98a1b", "x", "triangle-up"),
    "rest": Look("#b5532a", "\\", "cross"),
    "lookahead": Look("#a04a9c", "-", "x"),
    "duodecoding": Look("#12a594", "", "star"),
    "duotree": Look("#d6447e", "|", "hexagon"),
}
OTHER = Look("#123456", "+", "hexagon2")


def look_of(method: str) -> Look:
    """A method's look; all that have none of their own share one."""
    return LOOKS.get(method, OTHER)
