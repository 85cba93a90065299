"""Costs that outlive the process: one cache file for each placement to run a pair on this machine."""

import hashlib
from pathlib import Path

import numba
import torch

from duoviz.decoding.costs import LONGEST, Costs
from duoviz.decoding.placement import Placement
from duoviz.models.cache import cache_folder, recall, remember
from duoviz.models.cores import machine_name
from duoviz.models.pair import Pair


def costs_file(pair: Pair, placement: Placement) -> Path:
    """Where the costs of a placement are kept."""
    machine = f"{pair.target_device_label(placement.cores)} {pair.cores} {machine_name()}"
    key = f"{placement} {machine} {torch.__version__} {numba.__version__} {pair.name} {pair.target.label}"
    return cache_folder() / f"costs-{hashlib.sha256(f'{key} {pair.draft.version}'.encode()).hexdigest()[:16]}.json"


def recall_costs(file: Path) -> Costs:
    """The costs in a file; new ones, which know nothing, where there are none or they cannot be true."""
    costs = Costs()
    try:
        kept = recall(file)
        for name in ("target", "draft"):
            if kept[name]["count"]:
                getattr(costs, name).recall(kept[name])
        costs.overhead = min(max(float(kept["between"]), 0.0), LONGEST)
    except (ValueError, KeyError, TypeError, OverflowError):
        return Costs()
    return costs


def remember_costs(file: Path, costs: Costs) -> None:
    """Write the costs, with how many forwards they rest on and when the last was."""
    remember(file, {"target": costs.target.kept(), "draft": costs.draft.kept(), "between": costs.overhead})
