"""Threads that do their parts of one forward together."""

import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from typing import Any

import numpy as np
import torch


class Team:
    """The calling thread and helpers, which run on the cores that the thread had that made them.

    Between two forwards a helper sleeps, and costs other users of its core nothing.
    """

    def __init__(self, threads: int):
        self.threads, self.lock = threads, threading.Lock()
        self.orders: list[SimpleQueue] = [SimpleQueue() for _ in range(threads - 1)]
        for rank, orders in enumerate(self.orders, 1):
            threading.Thread(target=help_with, args=(orders, rank, threads), daemon=True).start()

    def run(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call work(*arguments, counter, rank, threads) in each thread, with a `counter` for `barrier.wait_for_all`.

        It must have been called before, so that it is compiled: a helper that fails would be waited for without end.
        """
        counter = np.zeros(1, np.int64)
        if self.threads == 1:
            work(*arguments, counter, 0, 1)
            return
        with self.lock:
            for orders in self.orders:
                orders.put((work, arguments, counter))
            try:
                work(*arguments, counter, 0, self.threads)
            except BaseException:
                # The helpers wait for this thread's part.
                made_team.cache_clear()
                raise


def help_with(orders: SimpleQueue, rank: int, threads: int) -> None:
    """What a helper does: the orders (work, arguments, counter) as they come, for ever."""
    while True:
        work, arguments, counter = orders.get()
        work(*arguments, counter, rank, threads)
        # A model that is not used any more is not to be kept.
        del work, arguments, counter


def team() -> Team:
    """That of the calling thread: as many threads as torch would use, on the same cores."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {threading.get_ident()}
    return made_team(torch.get_num_threads(), frozenset(cores))


@cache
def made_team(threads: int, cores: frozenset[int]) -> Team:
    return Team(threads)


if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads.
    os.register_at_fork(after_in_child=made_team.cache_clear)
