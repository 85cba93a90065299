"""What a trace's numbers come to; every definition once."""

from collections.abc import Iterable, Sequence
from math import inf

Interval = tuple[float, float]

# The figures that are None of a run whose times are not known.
OF_TIME = ("tps", "ttft", "overlap", "idle_target", "idle_draft", "lost_miss", "lost_rejection", "lost_waiting", "wall")


def metrics(trace: dict) -> dict:
    """The figures of one run (times in seconds, shares 0..1, None where a run has nothing to divide by).

    tps: committed tokens / wall; ttft: submit to the first committed token; tau: committed tokens /
    target forwards; acceptance: accepted / positions tested; yield: drafted tokens committed /
    drafted; overlap: time both sides are busy / wall, None where they share one core or there is no
    draft; idle_*: share of the wall a side is not busy; lost_*: see `lost`; and those of `acceptances`.
    """
    # A run that is stopped at once has no header.
    iterations, header = trace["iterations"], trace["header"] or {"draft": None, "can_overlap": False}
    wall, tokens = (iterations[-1]["sync"] if iterations else 0.0), sum(len(each["committed"]) for each in iterations)
    tested, accepted = (sum(each["verdict"][name] for each in iterations) for name in ("tested", "accepted"))
    target, draft = busy(iterations)
    has_draft, counts = header["draft"] is not None and bool(iterations), acceptances(iterations)
    figures = {
        "tps": share(tokens, wall),
        "ttft": iterations[0]["sync"] if iterations else None,
        "tau": share(tokens, len(iterations)),
        "acceptance": share(accepted, tested),
        "yield": counts["acceptance_rate"],
        "overlap": share(total(target) + total(draft) - total(target + draft), wall) if header["can_overlap"] else None,
        "idle_target": share(wall - total(target), wall),
        "idle_draft": share(wall - total(draft), wall) if has_draft else None,
        **{f"lost_{cause}": seconds if has_draft else None for cause, seconds in lost(iterations).items()},
        "new_tokens": tokens,
        "target_forwards": len(iterations),
        "wall": wall,
        **counts,
    }
    return figures if not iterations or timed(trace) else figures | dict.fromkeys(OF_TIME)


def text_of(iterations: Iterable[dict]) -> str:
    """What these iterations wrote."""
    return "".join(token["text"] for iteration in iterations for token in iteration["committed"])


def acceptances(iterations: list[dict]) -> dict:
    """What vLLM counts of a run (docs/measuring.md compares the engines' definitions).

    verifications: iterations that tested a drafted token; accepted: drafted tokens of the text; mean_acceptance_length:
    1 + accepted / verifications; acceptance_rate: accepted / drafted; acceptance_by_position: in which share of the
    verifications so many drafted tokens, from 1, were accepted.
    """
    per_iteration = [sum(token["source"] != "target" for token in iteration["committed"]) for iteration in iterations]
    verifications = sum(iteration["verdict"]["tested"] > 0 for iteration in iterations)
    accepted, drafted = sum(per_iteration), proposals(iterations)
    return {
        "verifications": verifications,
        "drafted": drafted,
        "accepted": accepted,
        "mean_acceptance_length": 1 + accepted / verifications if verifications else None,
        "acceptance_rate": share(accepted, drafted),
        "acceptance_by_position": [
            sum(count >= depth for count in per_iteration) / verifications
            for depth in range(1, max(per_iteration) + 1 if verifications else 1)
        ],
    }


def share(part: float, whole: float) -> float | None:
    """None where there is nothing to divide by."""
    return part / whole if whole else None


def timed(trace: dict) -> bool:
    """Whether the run's times are known; another engine's may not be."""
    return trace["header"].get("clock") != "iterations"


def proposals(iterations: list[dict]) -> int:
    """How many tokens were proposed; those that were pending when an iteration began had been proposed before.

    Lookahead's window proposes nothing: only the n-grams found in it are.
    """
    proposed = carried = 0
    for iteration in iterations:
        nodes = [node for node in iteration["drafted"] + iteration["checked"] if node["status"] != "window"]
        proposed += sum(node["source"] != "target" for node in nodes) - carried
        carried = sum(node["status"] == "pending" for node in iteration["drafted"])
    return proposed


def busy(iterations: Sequence[dict]) -> tuple[list[Interval], list[Interval]]:
    """When the target and when the draft was busy."""
    target = [(iteration["target"]["start"], iteration["target"]["end"]) for iteration in iterations]
    return target, [(step["start"], step["end"]) for iteration in iterations for step in iteration["draft"]]


def lost(iterations: list[dict]) -> dict:
    """Seconds lost by cause, with a draft model.

    miss, rejection: of the draft's work, that on tokens which an iteration's miss or rejection threw
    away (reading the prompt is not drafting), None for a tree that lives on: not all of it is recorded; waiting:
    the target was not busy and the draft was.
    """
    target, draft = busy(iterations)
    waiting = total(target + draft) - total(target)
    if any("rest" in iteration for iteration in iterations):
        return {"miss": None, "rejection": None, "waiting": waiting}
    seconds = {"miss": 0.0, "rejection": 0.0}
    reading = True
    for iteration in iterations:
        drafting = total(busy([iteration])[1][reading:])
        reading = reading and not iteration["draft"]
        if (cause := iteration["verdict"]["outcome"]) in seconds:
            # What was drafted at the same time, or before the target's forward by a method that takes turns.
            nodes = [node for node in iteration["drafted"] or iteration["checked"] if node["source"] == "draft"]
            thrown = sum(node["status"] in ("rejected", "discarded") for node in nodes)
            seconds[cause] += drafting * (share(thrown, len(nodes)) or 0.0)
    return seconds | {"waiting": waiting}


def forward_seconds(trace: dict, *, rows: int) -> float | None:
    """Mean seconds of the target's forwards of so many rows, None where there were none."""
    spans, _ = busy([iteration for iteration in trace["iterations"] if iteration["target"]["rows"] == rows])
    return share(total(spans), len(spans))


def iteration_seconds(trace: dict) -> float | None:
    """Mean seconds of the iterations after the one that reads the prompt, None where there are none."""
    syncs = [iteration["sync"] for iteration in trace["iterations"]]
    return share(syncs[-1] - syncs[0], len(syncs) - 1) if syncs else None


def total(intervals: Iterable[Interval]) -> float:
    """How long any of the intervals lasts; they may overlap."""
    covered, until = 0.0, -inf
    for start, end in sorted(intervals):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
