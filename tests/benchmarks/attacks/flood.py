"""Item 1: posts that nobody listens to."""

import threading
import time
from collections.abc import Callable
from statistics import median

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import CALL, Site

POSTS = 4_000
# They are paced, a few a second for each address.
CALLS = 400
WORST, AFTERWARDS = 10, 1.2


@attack("1 flood", "a visitor's run takes at most 10 times its usual time under it, 1.2 times after it")
def empty_posts(site: Site) -> Result:
    """Empty prompts at the endpoint."""
    return flooded(site, f"{POSTS:,} empty posts over 64 connections", POSTS, lambda number: {"prompt": ""})


@attack("1 flood", "a visitor's run takes at most 10 times its usual time under it, 1.2 times after it", kind="space")
def valid_posts(site: Site) -> Result:
    """Prompts that could be run, from one address."""
    body = {"prompt": "Count.", "max_new_tokens": 256}
    headers = site.forwarded("8.8.8.8")
    return flooded(
        site, "2,000 good posts over 64 connections, nobody listening", 2_000, lambda number: body, **headers
    )


@attack("1 flood", "the server answers a visitor within a minute afterwards")
def every_function(site: Site) -> Result:
    """Calls of all functions of the page, with sessions made up."""
    functions = 23

    def body(number: int) -> dict:
        return {"fn_index": number % functions, "session_hash": f"session {number}", "data": []}

    statuses = site.flood(CALLS, body, path="/gradio_api/queue/join")
    seconds = site.run_of(site.client())[0]
    return Result(
        f"{CALLS} calls of the page's own functions", f"{seconds:.1f} s; answers: {dict(statuses)}", seconds < 60
    )


def flooded(site: Site, done: str, count: int, bodies: Callable[[int], object], **headers: str) -> Result:
    """A visitor's runs while so many posts come, and afterwards."""
    visitor = site.client()
    usual = site.usual(visitor)
    statuses, meanwhile, disturbed = [], [], 0
    flood = threading.Thread(target=lambda: statuses.append(site.flood(count, bodies, path=CALL, **headers)))
    flood.start()
    begin = time.monotonic()
    while flood.is_alive():
        seconds = site.undisturbed(visitor)
        if seconds is None:
            disturbed += 1
        else:
            meanwhile.append(seconds / usual)
    took = time.monotonic() - begin
    after = site.usual(visitor) / usual
    told = f"usual {usual:.2f} s; in {took:.0f} s of flood {len(meanwhile)} runs, median {median(meanwhile):.2f} ×, "
    told += f"at most {max(meanwhile):.2f} × ({disturbed} left out that other programs disturbed); "
    told += f"after it {after:.2f} ×; answers: {dict(statuses[0])}"
    return Result(done, told, max(meanwhile) <= WORST and after <= AFTERWARDS)
