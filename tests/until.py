"""Waiting for what another thread or process does."""

import time


def wait_until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)
