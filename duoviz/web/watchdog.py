"""Ends a server whose loop hangs, so that its host starts it anew."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable

# Seconds between two looks, and for which the loop may be busy with one thing. Looks are counted and not time, which
# passes also where the whole process is held, as in a container that sleeps.
STEP, PATIENCE = 1.0, 120.0

log = logging.getLogger(__name__)


def end_process(reason: str) -> None:
    """End this process at once, with a line in the log."""
    log.critical("duoviz ends so that it is restarted: %s.", reason)
    logging.shutdown()
    os._exit(1)


class Watchdog:
    """A thread that looks at the server's loop until `closed`. end: of the process, called with the reason."""

    def __init__(self, loop: asyncio.AbstractEventLoop, end: Callable[[str], None] = end_process):
        self.loop, self.end, self.unanswered = loop, end, 0
        self.step, self.patience = STEP, PATIENCE
        self.closed = threading.Event()
        threading.Thread(target=self.watch, name="watchdog", daemon=True).start()

    def watch(self) -> None:
        """Ask the loop once a step for a sign of life, and end the process where it gives none."""
        while not self.closed.wait(self.step):
            if self.unanswered * self.step > self.patience:
                return self.end(f"its server has not answered for {self.patience:g} seconds")
            self.unanswered += 1
            try:
                self.loop.call_soon_threadsafe(self.answered)
            except RuntimeError:
                return  # The loop has ended, and the server with it.

    def answered(self) -> None:
        self.unanswered = 0
