"""Waiting for what another thread or process does."""

import time

import psutil


def wait_until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


def has_ended(process: int) -> bool:
    """Whether no process of this id does anything any more."""
    return not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE
