"""Item 11: what a server leaves behind."""

import signal
import tempfile
from pathlib import Path

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site, started


@attack(
    "11 left behind", "only the empty lock of measuring stays after an end, and after the start that follows a kill"
)
def temporary_folder(_site: Site) -> list[Result]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, number in (("SIGTERM", signal.SIGTERM), ("SIGKILL, then a start and SIGTERM", signal.SIGKILL)):
            with started("local", Path(folder)) as site:
                site.run_of(site.client())
                site.process.send_signal(number)
                site.process.wait(60)
            if number == signal.SIGKILL:
                with started("local", Path(folder)) as site:
                    site.run_of(site.client())
            left = [each for each in site.scratch.glob("duoviz*") if each.suffix != ".lock" or each.stat().st_size]
            found.append(Result(name, f"left beside it: {[each.name for each in left]}", not left))
    return found
