"""How many workers a machine has, and which cores each of them."""

import os
from collections.abc import Sequence
from functools import partial

from duoviz.decoding.settings import SettingsError, whole
from duoviz.models.cores import available_cores
from duoviz.outside import in_short
from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import WorkerSlot

# Cores of a worker where the machine shares itself out: one for the draft, the others for the target.
CORES_A_WORKER = 3
AUTO = "auto"


def shares(cores: Sequence[int], workers: int) -> list[list[int]]:
    """The cores of each worker: neighbours, and as many for each as can be."""
    edges = [len(cores) * number // workers for number in range(workers + 1)]
    return [list(cores[begin:end]) for begin, end in zip(edges, edges[1:], strict=False)]


def number_of_workers(chosen: str | None, cores: int) -> int:
    """How many workers there are on so many cores. Raises SettingsError.

    chosen: a number, or `auto`; None: what DUOVIZ_PLACES says, and without it one.
    """
    text = (chosen or os.environ.get("DUOVIZ_PLACES") or "1").strip()
    if text == AUTO:
        return max(1, cores // CORES_A_WORKER)
    number = whole(text)
    if number is None or not 1 <= number <= cores:
        raise SettingsError(f"Places: enter auto or 1 to {cores}, for each needs a core, not {in_short(text)}.")
    return number


def local_slots(chosen: str | None = None) -> list[WorkerSlot]:
    """The workers of this machine, see `number_of_workers`; the only one has all cores. Raises SettingsError."""
    cores = available_cores()
    parts = shares(cores, number_of_workers(chosen, len(cores)))
    start = partial(LocalWorker, shares=len(parts) > 1)
    return [WorkerSlot(start=partial(start, part), name=f"place {number}") for number, part in enumerate(parts, 1)]
