"""Posts that nobody listens to."""

import threading
import time

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site

POSTS = 4_000


@attack("1 flood", "a visitor's run takes at most 10 times its usual time under the flood, 1.2 times after it")
def empty_posts(site: Site) -> Result:
    """Thousands of empty prompts over 64 connections, and a visitor's runs meanwhile and afterwards."""
    visitor = site.client()
    usual = site.usual(visitor)
    statuses, meanwhile = [], []
    flood = threading.Thread(target=lambda: statuses.append(site.flood(POSTS, lambda number: {"prompt": ""})))
    flood.start()
    begin = time.monotonic()
    while flood.is_alive():
        meanwhile.append(site.run_of(visitor)[0])
    seconds = time.monotonic() - begin
    after = site.usual(visitor)
    worst = max(meanwhile)
    told = f"usual {usual:.2f} s; meanwhile at most {worst / usual:.1f} × ({len(meanwhile)} runs in {seconds:.0f} s); "
    told += f"after {after / usual:.2f} ×; answers: {dict(statuses[0])}"
    return Result(f"{POSTS} empty posts over 64 connections", told, worst <= 10 * usual and after <= 1.2 * usual)
