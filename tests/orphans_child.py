"""A process whose draft is drafting, for tests of what stays of it: `python -m tests.orphans_child KIND`.

Prints the draft's process id, and ends as KIND says: `end`, `error`, `exit`, `close`; any other waits for a signal.
"""

import os
import sys
import time

import psutil

from duoviz import runner
from duoviz.decoding.settings import Settings
from tests.children import engine_with_draft


def gone(process: int, seconds: float = 60) -> bool:
    """Whether a process has ended, or does so in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def main(kind: str) -> None:
    engine = engine_with_draft()
    runner.prepare(engine, "duodecoding")
    events = runner.stream(engine, "duodecoding", "hello", Settings(max_new_tokens=200))
    next(events), next(events)
    print(engine.draft_beside.process.pid, flush=True)
    if kind == "error":
        raise RuntimeError("an error of the run's own")
    if kind == "exit":
        os._exit(3)
    if kind == "close":
        events.close()
    elif kind != "end":
        while True:
            next(events, None)
            time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1])
