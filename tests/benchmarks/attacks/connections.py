"""Connections that ask for nothing, more than a process may usually have files open."""

import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site

# As many as this program itself may open.
CONNECTIONS, SECONDS = 900, 20


@attack("connections", "a visitor's run is right beside them, and after they are gone")
def idle_connections(site: Site) -> Result:
    visitor, parts = site.client(), urlsplit(site.url)
    expected = site.run_of(visitor)[1]["text"]
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(socket.create_connection((parts.hostname, parts.port), 10))
        beside, (seconds, summary) = time.monotonic(), site.run_of(visitor)
        time.sleep(max(0.0, SECONDS - (time.monotonic() - beside)))
    right = [summary["text"] == expected, site.run_of(visitor)[1]["text"] == expected]
    return Result(f"{CONNECTIONS} idle connections", f"a run beside them {seconds:.1f} s; right: {right}", all(right))
