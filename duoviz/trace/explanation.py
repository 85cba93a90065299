"""Why one run was faster than another: sentences made from their two traces."""

import re
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from duoviz.decoding import METHODS
from duoviz.trace.metrics import forward_seconds, metrics, proposals

# A gain below this is not worth a word.
NOTICEABLE = 1.03
# Why the work of an iteration's draft comes to nothing.
CAUSES = {
    "miss": "the target's next token began none of its sequences",
    "rejection": "the target rejected an earlier guess",
}


class Side(NamedTuple):
    """One of both runs: its name on the page, its trace and the trace's metrics."""

    name: str
    trace: dict
    figures: dict

    @property
    def header(self) -> dict:
        return self.trace["header"]

    @property
    def iteration(self) -> float:
        """Seconds of the wall for each target forward, with all that goes with it."""
        return self.figures["wall"] / self.figures["target_forwards"]

    @property
    def proposes(self) -> bool:
        """Whether the method proposes tokens at all."""
        return bool(METHODS[self.header["method"]].proposers)

    def busy(self, model: str) -> float:
        """Seconds in which a model worked."""
        return self.figures["wall"] * (1 - self.figures[f"idle_{model}"])


def explain(names: Sequence[str], traces: Sequence[dict]) -> list[str]:
    """What made the difference, where the time went, and what a GPU would change; both wrote something.

    Every figure is the traces'.
    """
    sides = [Side(name, trace, metrics(trace)) for name, trace in zip(names, traces, strict=True)]
    slow, fast = sorted(sides, key=lambda side: side.figures["tps"])
    # Where one side proposes tokens, it is the one to talk about; of two such, the slower.
    subject, other = sorted((slow, fast), key=lambda side: not side.proposes)
    return [*filter(None, (result(fast, slow), time_spent(subject, other), estimate(subject)))]


def result(fast: Side, slow: Side) -> str:
    """Speed is tokens per forward over seconds per forward, so these two explain all of it.

    Whether one run was faster than the other beyond noise, two runs cannot say: see `comparison.headline`.
    """
    tokens = fast.figures["tau"] / slow.figures["tau"]
    seconds = fast.iteration / slow.iteration
    length = change(seconds, "longer", "shorter")
    times = f"{duration(fast.iteration)} against {duration(slow.iteration)}"
    if not (fast.proposes or slow.proposes):
        return f"{fast.name}'s iterations were {length} than those of {slow.name} ({times})."
    joint = "but " if (tokens > 1) == (seconds > 1) else ""
    return (
        f"{fast.name} wrote {change(tokens, 'more', 'fewer')} tokens per forward pass than {slow.name}, "
        f"{joint}in iterations {length} ({times})."
    )


def change(ratio: float, more: str, less: str) -> str:
    """By how much of the other something is more or less."""
    return f"{100 * abs(ratio - 1):.0f} % {more if ratio > 1 else less}"


def time_spent(subject: Side, other: Side) -> str:
    """Where the wall time of the side that proposes went."""
    computed, wall = subject.busy("target"), subject.figures["wall"]
    waited = subject.figures["lost_waiting"] if subject.header["draft"] else 0
    text = f"{subject.name} took {duration(wall)}: its target computed for {duration(computed)}"
    if waited:
        text += f", waited {duration(waited)} for the draft"
    text += f"; choosing tokens and messages took {duration(max(0, wall - computed - waited))}."
    if subject.header["draft"]:
        return f"{text} {drafts_work(subject)}{forwards(subject, other)}"
    return f"{text}{proposals_used(subject) if subject.proposes else ''}{forwards(subject, other)}"


def drafts_work(side: Side) -> str:
    """How much of the draft's work was wasted, by cause; of a tree that lives on, what was used."""
    drafting = duration(side.busy("draft"))
    if side.figures["lost_miss"] is None:
        written = [token["source"] for iteration in side.trace["iterations"] for token in iteration["committed"]]
        return (
            f"The draft worked for {drafting}: {written.count('draft')} of the "
            f"{count(len(written), 'token')} written are its guesses."
        )
    outcomes = [iteration["verdict"]["outcome"] for iteration in side.trace["iterations"]]
    causes = [
        f"{count(outcomes.count(cause), cause)} ({meaning})" for cause, meaning in CAUSES.items() if cause in outcomes
    ]
    if not causes:
        return f"None of the draft's {drafting} was wasted."
    wasted = sum(side.figures[f"lost_{cause}"] for cause in CAUSES)
    return f"{duration(wasted)} of the draft's {drafting} was wasted: {', '.join(causes)}."


def proposals_used(side: Side) -> str:
    """How often there was something to propose, and how much of it became text."""
    iterations = side.trace["iterations"]
    with_any = sum(iteration["verdict"]["outcome"] != "none" for iteration in iterations)
    many, used = count(proposals(iterations), "token"), side.figures["accepted"]
    return f" It proposed {many} in {with_any} of {len(iterations)} iterations; {used} became text."


def forwards(subject: Side, other: Side) -> str:
    """What made the target's forwards longer: fewer cores, else more rows."""
    # A device's label without the processor's name.
    mine, theirs = (re.sub(r" \(.*\)$", "", side.header["target"]["device"]) for side in (subject, other))
    usual = forward_seconds(other.trace, rows=1)
    if mine != theirs and usual and (single := forward_seconds(subject.trace, rows=1)):
        return (
            f" Its target had {mine}, that of {other.name} {theirs}: a forward pass over one token took "
            f"{duration(single)} instead of {duration(usual)}."
        )
    # The first one reads the prompt.
    spans = [iteration["target"] for iteration in subject.trace["iterations"][1:]]
    if mine != theirs or not usual or all(span["rows"] == 1 for span in spans):
        return ""
    rows, seconds = fmean(span["rows"] for span in spans), fmean(span["end"] - span["start"] for span in spans)
    return (
        f" Its forward passes read {rows:.1f} tokens on average and took {duration(seconds)}; "
        f"a pass over one token took {duration(usual)}."
    )


def estimate(side: Side) -> str:
    """What the same proposals would give where neither rows nor drafting lengthen an iteration."""
    if not side.header["target"].get("cpu") or not side.proposes or side.figures["tau"] < NOTICEABLE:
        return ""
    what = "drafts" if side.header["draft"] else "proposals"
    return (
        f"Estimate: with the target on a GPU, if more tokens in a pass took no longer, the same {what} would give "
        f"up to {side.figures['tau']:.2f} times vanilla's speed: its tokens per pass (τ), if drafting stays hidden. "
        "A GPU's own times would change how much is drafted."
    )


def count(number: int, word: str) -> str:
    plural = {"miss": "misses"}.get(word, f"{word}s")
    return f"{number} {word if number == 1 else plural}"


def duration(seconds: float) -> str:
    """Seconds for a reader."""
    if seconds >= 0.9995:
        return f"{seconds:.2f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.09995 else f"{1000 * seconds:.1f} ms"
