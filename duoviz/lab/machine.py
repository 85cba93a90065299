"""Where and with what results were measured, and how fast the machine was meanwhile."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import mean, median

import numpy as np

from duoviz import runs
from duoviz.decoding.acceptance_table import fitted_table, plain
from duoviz.decoding.costs import CostModel
from duoviz.lab.answers import iterations, rows_of
from duoviz.lab.plan import DUO, VANILLA
from duoviz.lab.rows import Row
from duoviz.lab.tasks import task_name
from duoviz.models.pair import Pair
from duoviz.recordings import recorded_speed

# How costs were measured: with both sides at work at once; in turn on all cores; and in turn on the target's.
TOGETHER, IN_TURN, ON_TARGET = "together", "in turn", "on the target's cores"
# Speeds closer than this are of one machine in one state, as far as tokens/s go.
ALIKE = 1.1


def environment(pair: Pair, costs: dict[str, CostModel], delta: float) -> dict:
    """What stands with every result.

    costs: by how they were measured, TOGETHER, IN_TURN and ON_TARGET; delta: δ, see `decoding.rounding`. places:
    `AcceptanceTable.places` that occur, each as one list: its share, and the chances by rank.
    """
    places = (fitted_table(pair.draft.folder) or plain()).places()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "pair": pair.name,
        "models": {"target": pair.target.label, "draft": pair.draft.label, "draft_version": pair.draft.version},
        "devices": {
            "target": pair.target_device_label(pair.cores.all),
            "target in DuoDecoding": pair.target_device_label(pair.cores.target),
            "draft in DuoDecoding": pair.draft_device_label(),
        },
        "cpu": pair.target.device == "cpu",
        "cores": {"target": list(pair.cores.target), "draft": list(pair.cores.draft)},
        "threads": {"all": len(pair.cores.all), "target": len(pair.cores.target), "draft": len(pair.cores.draft)},
        "precision": {"target": pair.target.precision, "draft": pair.draft.precision},
        "versions": runs.versions(),
        # No more of it: a kernel's name may be its owner's.
        "system": f"{platform.system()} {platform.machine()}",
        "context_limit": pair.target.context_limit,
        "delta": delta,
        "places": [[weight, *chances] for weight, chances in places if weight],
        "costs": {name: {"target": model.target, "draft": model.draft} for name, model in costs.items()},
    }


def in_words(value: object) -> str:
    """A part of an environment or a plan, for a table."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {in_words(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def part_in_words(held: dict, name: str) -> str:
    """One part of an environment or a plan, for a table."""
    value, draft, cores = held.get(name, ""), "draft in DuoDecoding", held.get("cores", {})
    if name == "quick":
        return "quick, with few questions" if value else "full"
    if name == "tasks":
        return ", ".join(map(task_name, in_words(value).split(", ")))
    if name == "source" and value == "own":
        return "duoviz itself, of the paper's seven kinds"
    # Where both sides share one core there is none to lend.
    if name == "devices" and held.get("cpu") and draft in value and cores.get("target") != cores.get("draft"):
        value = value | {draft: f"{value[draft]}, lent to the target once the draft is done, where that is faster"}
    return in_words(value)


def cost_models(environment: dict) -> dict[str, CostModel]:
    """The environment's cost models by TOGETHER, IN_TURN, and ON_TARGET where results have it."""
    return {
        name: CostModel(tuple(map(tuple, costs["target"])), tuple(map(tuple, costs["draft"])))
        for name, costs in environment["costs"].items()
    }


def passes(rows: Sequence[Row]) -> list[float]:
    """Of each of vanilla's answers the mean seconds of a pass of one token; vanilla runs between all other methods."""
    answers = [iterations([row], "target", "rows") for row in rows_of(rows, VANILLA)]
    single = [[seconds for seconds, count in each if count == 1] for each in answers]
    return [mean(each) for each in single if each]


def pass_in_words(found: Sequence[float]) -> str:
    """The median of the `passes`, and how much they varied."""
    if not found:
        return "not measured"
    low, middle, high = (f"{1e3 * value:.1f}" for value in np.percentile(found, (25, 50, 75)))
    return f"{middle} ms" + (f" (half of the answers: {low} to {high} ms)" if low != high else "")


def about_speed(rows: Sequence[Row], target: str) -> str:
    """How fast the machine was, and whether this target's recorded runs are of another speed; a space before each
    sentence."""
    if not (found := passes(rows)):
        return ""
    said, recorded = f" Vanilla's forward pass of one token took {pass_in_words(found)}.", recorded_speed(target)
    if recorded and not alike([float(np.median(found)), recorded]):
        said += (
            f" In the recorded runs of the other tabs it took {1e3 * recorded:.1f} ms: compare speed-ups with them, "
            "not tokens/s."
        )
    return said


def about_steps(rows: Sequence[Row], environment: dict) -> str:
    """What a draft step of one token takes on all cores, on the draft's own, and beside the target, which slows it."""
    steps = iterations(rows_of(rows, DUO), "draft", "draft_steps", "draft_rows", later=True)
    beside = [seconds / count for seconds, count, tokens in steps if 0 < count == tokens]
    if not beside:
        return ""
    free, own = (1e3 * environment["costs"][name]["draft"][0][0] for name in (IN_TURN, TOGETHER))
    return (
        f" A draft step took {free:.2f} ms where both models take turns on all cores, {own:.2f} ms on the draft's own, "
        f"and {1e3 * median(beside):.2f} ms there beside the target."
    )


def about_speeds(several: Sequence[tuple[str, list[float]]]) -> str:
    """Of results side by side, each its name and its `passes`: how fast each one's machine was."""
    listed = "; ".join(f"{name}, {pass_in_words(found)}" for name, found in several)
    same = alike([float(np.median(found)) for _, found in several if found])
    return f"Vanilla's forward pass of one token: {listed}.{'' if same else ' So compare φ, and not tokens/s.'}"


def alike(speeds: Sequence[float]) -> bool:
    return max(speeds, default=0) <= ALIKE * min(speeds, default=0)
