"""Threads that do their parts of one forward together."""

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch


class Team:
    """The calling thread and helpers, which run on the cores that the thread had that made them.

    Between two forwards a helper sleeps and costs its core's other users nothing.
    """

    def __init__(self, threads: int):
        self.threads, self.counter = threads, np.zeros(1, np.int64)
        self.work: tuple[Callable[..., None], tuple] | None = None
        self.lock = threading.Lock()
        self.signals = [threading.Semaphore(0) for _ in range(threads - 1)]
        for rank, signal in enumerate(self.signals, 1):
            threading.Thread(target=self.help, args=(rank, signal), daemon=True).start()

    def run(self, part: Callable[..., None], *arguments: Any) -> None:
        """Call part(*arguments, counter, rank, threads) in each thread; it is to end in all of them at once."""
        with self.lock:
            self.work = part, arguments
            for signal in self.signals:
                signal.release()
            part(*arguments, self.counter, 0, self.threads)

    def help(self, rank: int, signal: threading.Semaphore) -> None:
        while True:
            signal.acquire()
            part, arguments = self.work
            part(*arguments, self.counter, rank, self.threads)
            del part, arguments


def team() -> Team:
    """That of the calling thread: as many threads as torch would use, on the same cores."""
    cores = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
    return made_team(torch.get_num_threads(), cores)


@cache
def made_team(threads: int, cores: frozenset[int]) -> Team:
    return Team(threads)
