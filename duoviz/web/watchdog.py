"""Notices that the page's queue has died, starts it again, and ends a server that cannot be helped."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable

# Seconds between two looks.
STEP = 1.0
# A queue that dies so often within so many seconds is not started again.
DEATHS, WITHIN = 3, 60.0
# Seconds for which the server's loop may be busy with one thing. Looks are counted and not time, which passes also
# where the whole process is held, as in a container that sleeps.
PATIENCE = 120.0

log = logging.getLogger(__name__)


def end_process(reason: str) -> None:
    """End this process at once, with a line in the log, so that the host starts it anew."""
    log.critical("duoviz ends, to be started anew: %s.", reason)
    logging.shutdown()
    os._exit(1)


class Watchdog:
    """A thread that looks at the server's loop and its queue until `close`.

    dead, revive: of the queue, called on the loop. end: of the process, called with the reason.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        dead: Callable[[], bool],
        revive: Callable[[], None],
        end: Callable[[str], None] = end_process,
    ):
        self.loop, self.dead, self.revive, self.end = loop, dead, revive, end
        self.step, self.patience, self.unanswered = STEP, PATIENCE, 0
        self.deaths: list[float] = []
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self.watch, name="watchdog", daemon=True)
        self.thread.start()

    def watch(self) -> None:
        while not self.closed.wait(self.step):
            if self.unanswered * self.step > self.patience:
                return self.end(f"its server has not answered for {self.patience:g} seconds")
            self.unanswered += 1
            try:
                self.loop.call_soon_threadsafe(self.look)
            except RuntimeError:
                return  # The loop has ended, and the server with it.

    def look(self) -> None:
        """Called on the loop."""
        self.unanswered = 0
        if self.closed.is_set() or not self.dead():
            return
        now = time.monotonic()
        self.deaths = [death for death in self.deaths if now - death < WITHIN] + [now]
        if len(self.deaths) > DEATHS:
            self.end(f"its queue has died {len(self.deaths)} times within {WITHIN:g} seconds")
        else:
            log.error("the page's queue had died, and is started again; the runs under way have ended")
            self.revive()

    def close(self) -> None:
        self.closed.set()
