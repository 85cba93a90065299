"""How long what is under way will take yet, judged by how far it has come."""

# Of the whole: before that much is done, nothing can be said.
EARLIEST = 0.04


def progress_text(text: str, fraction: float, seconds: float) -> str:
    """What is being done, how much of the whole is done after so many seconds, and how long the rest will take."""
    if fraction < EARLIEST:
        return f"{text} ({fraction:.0%})"
    left = max(1, round(seconds * (1 - fraction) / fraction))
    return f"{text} ({fraction:.0%}, about {left} s left)"
