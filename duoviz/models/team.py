"""Threads that do their parts of one forward together."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import torch

from duoviz.models.barrier import MEETING


class Borrowed(NamedTuple):
    """Cores a forward may use once busy[0], int64 shared with whoever works on them, is 0."""

    cores: tuple[int, ...] = ()
    busy: np.ndarray = np.ones(1, np.int64)


NOTHING = Borrowed()
BORROWED: ContextVar[Borrowed] = ContextVar("BORROWED")


@contextmanager
def borrowing(cores: tuple[int, ...], busy: np.ndarray) -> Iterator[None]:
    """Let the calling thread's forwards borrow these cores (see `Borrowed`)."""
    token = BORROWED.set(Borrowed(cores, busy))
    try:
        yield
    finally:
        BORROWED.reset(token)


class Team:
    """The calling thread and helpers, which keep the cores of the thread that made them and sleep between forwards.

    With borrowed cores there is one helper more, on them, which joins a forward once they are free.
    """

    def __init__(self, threads: int, borrowed_cores: tuple[int, ...] = ()):
        self.threads, self.lock = threads, threading.Lock()
        self.parts = threads + bool(borrowed_cores)
        self.orders: list[SimpleQueue] = [SimpleQueue() for _ in range(self.parts - 1)]
        for rank, orders in enumerate(self.orders, 1):
            cores = borrowed_cores if rank == threads else ()
            threading.Thread(target=help_with, args=(orders, rank, threads, cores), daemon=True).start()

    def run(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call work(*arguments, meeting, rank, threads) in each thread; `meeting`: see `barrier`.

        It must be compiled already: a helper that fails would be waited for without end.
        """
        meeting = np.zeros(MEETING, np.int64)
        if self.parts == 1:
            work(*arguments, meeting, 0, 1)
            return
        with self.lock:
            for orders in self.orders:
                orders.put((work, arguments, meeting))
            try:
                work(*arguments, meeting, 0, self.threads)
            except BaseException:
                # The helpers wait for this thread's part.
                made_team.cache_clear()
                raise


def help_with(orders: SimpleQueue, rank: int, threads: int, cores: tuple[int, ...]) -> None:
    """A helper's endless loop over its orders (work, arguments, meeting); cores: its own, where given."""
    if cores:
        os.sched_setaffinity(threading.get_native_id(), cores)
    while True:
        work, arguments, meeting = orders.get()
        work(*arguments, meeting, rank, threads)
        # A model that is not used any more is not to be kept.
        del work, arguments, meeting


def team(most: int) -> Team:
    """The calling thread's: torch's number of threads, at most `most`, on the same cores."""
    cores = frozenset(os.sched_getaffinity(0))
    return made_team(min(torch.get_num_threads(), most), cores, BORROWED.get(NOTHING).cores)


@cache
def made_team(threads: int, cores: frozenset[int], borrowed_cores: tuple[int, ...]) -> Team:
    return Team(threads, borrowed_cores)


# A child has none of its parent's threads.
os.register_at_fork(after_in_child=made_team.cache_clear)
