"""Item 11: what a server leaves behind, and what it tells of its machine."""

import re
import signal
import tempfile
from pathlib import Path

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site, started

PATHS = re.compile(r'"(/(?:home|root|tmp|usr|var|opt|work|srv)/[^"]*|[A-Z]:\\\\[^"]*)"')


@attack("11 left behind", "no absolute path is shown, and nobody is told who was here", kind="space")
def told_of_the_machine(site: Site) -> Result:
    shown = {path: PATHS.findall(site.ask("GET", path)[2]) for path in ("/config", "/", "/gradio_api/info")}
    closed = [site.ask("GET", path)[0] for path in ("/monitoring", "/monitoring/summary", "/monitoring/key")]
    count = sum(map(len, shown.values()))
    told = f"{count} paths; monitoring: {closed}"
    return Result("asked for /config, /, /info and /monitoring", told, not count and set(closed) == {404})


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
