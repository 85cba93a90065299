"""How a signal ends the page's process where nothing waits for it: at once, silently and with all that it has begun."""

import multiprocessing
import os
import shutil
from multiprocessing.util import get_temp_dir
from typing import Any

from duoviz.signals import die_of
from duoviz.web.scratch import remove_own
from duoviz.workers.local import end_process, starting


def end_at_once(number: int, _frame: Any) -> None:
    """A handler. It raises nothing: while modules are imported, an exception may come where it is swallowed."""
    try:
        # What other threads make of it is of no interest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        # One that is to be forked waits for its models first.
        starting.acquire(timeout=1)
        for worker in multiprocessing.active_children():
            end_process(worker)
        remove_own()
        shutil.rmtree(get_temp_dir(), ignore_errors=True)
    finally:
        die_of(number)
