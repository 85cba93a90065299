"""What a client's call may look like: a mistake is told before Gradio takes the call, which would not say which."""

from collections.abc import Sequence

from duoviz.outside import in_short


def mistake(names: Sequence[str], sent: dict | list) -> str | None:
    """What is wrong with a call's arguments as such, in a sentence; their values are checked where they are used."""
    if isinstance(sent, dict):
        if unknown := [name for name in sent if name not in names]:
            return f"There is no argument named {in_short(unknown[0])}; there are: {', '.join(names)}."
    elif len(sent) != len(names):
        return f"There are {len(sent)} arguments in the list, and there must be {len(names)}: {', '.join(names)}."
    for name, value in sent.items() if isinstance(sent, dict) else zip(names, sent, strict=True):
        if isinstance(value, dict | list):
            return f"{name} must be a text, a number, true or false, not {in_short(value)}."
    return None


def names_an_address(sent: object) -> bool:
    """Whether a file that lies elsewhere is among the values: Gradio would fetch it, for any component."""
    waiting = [sent]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(path := value.get("path"), str) and path.lower().startswith(("http:", "https:")):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False
