"""Where and with what a result was measured."""

import platform
from datetime import UTC, datetime

from duoviz import runs
from duoviz.decoding.acceptance_table import fitted_table, plain
from duoviz.decoding.costs import CostModel
from duoviz.models.pair import Pair

# How costs were measured: with both sides at work at once; in turn on all cores; and in turn on the target's.
TOGETHER, IN_TURN, ON_TARGET = "together", "in turn", "on the target's cores"


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
