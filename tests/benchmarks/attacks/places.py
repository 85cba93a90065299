"""Item 4: one client that fills the line, and runs that nobody listens to."""

import time

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import CALL, Site

LONG = {"prompt": "Count from one to a thousand.", "method": "vanilla", "max_new_tokens": 256}


@attack("4 the line", "at most two of its runs have a place, and they end within half a minute")
def calls_without_a_listener(site: Site) -> Result:
    """More calls than the line is long, as one's own machine sends them: without a session."""
    return fill(site, 25, lambda number: {})


@attack("4 the line", "at most two of its runs have a place, and they end within half a minute", kind="space")
def calls_from_one_address(site: Site) -> Result:
    """The same from one address that claims to be many."""
    return fill(site, 25, lambda number: {"X-Forwarded-For": f"9.9.8.{number}, 8.8.4.4"})


def fill(site: Site, count: int, headers) -> Result:
    statuses = [site.ask("POST", CALL, LONG, **headers(number))[0] for number in range(count)]
    begin = time.monotonic()
    summary = site.run_of(site.client("1.0.0.1"))[1]
    waited = time.monotonic() - begin
    begun = [status for status in statuses if status == 200]
    told = f"{len(begun)} of {count} taken; another visitor's run ended after {waited:.1f} s"
    return Result(f"{count} long runs that nobody listens to", told, len(begun) <= 2 and waited < 60 and bool(summary))
