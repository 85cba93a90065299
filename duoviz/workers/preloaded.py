"""The page's first pair, loaded once for all workers of a machine.

Python's fork server imports this module and forks the workers; what a fork only reads, such as weights, stays in
memory once.
"""

import gc
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.errors import UserError
from duoviz.models.cores import assign_cores, available_cores
from duoviz.models.load import load_pair, target_device
from duoviz.models.pair import Pair
from duoviz.models.registry import first_pair

NAME = first_pair()
# None on a GPU, and where it cannot be loaded, which each worker then says for itself.
PAIR: Pair | None = None
# A fork has none of the threads that torch would have started here.
torch.set_num_threads(1)
with suppress(UserError):
    PAIR = load_pair(NAME) if target_device() == "cpu" else None
# Freeze the GC: a collection would touch every shared page and make each fork copy it.
gc.freeze()


def load_preloaded(name: str, *arguments: Any, draft: bool) -> Engine:
    """Called as `load_engine` is, in a fork."""
    cores = available_cores()
    torch.set_num_threads(len(cores))
    if name != NAME or PAIR is None:
        return load_engine(name, *arguments, draft=draft)
    # Its memory is not given back when a worker loads another pair.
    pair = replace(PAIR, cores=assign_cores(cores, target_on_gpu=False), memory={})
    return Engine(pair, draft=ProcessDraft(pair.draft.load, pair.cores) if draft else None)
