"""Attack a running page, and report what held.

    python -m tests.benchmarks.attacks [--only ITEM,…]

Starts the server itself, once as on one's own machine and once as on a Space, on loopback only; every attack is bounded
in count and time. Memory is that of the server and its processes, after a visitor's run before the first attack and
after the last. Exits with 1 where something did not hold, or is not known as other programs kept the machine busy.
"""

import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.attacks import connections, flood  # noqa: F401  which are listed as they are imported
from tests.benchmarks.attacks.site import ATTACKS, Attack, Busy, Result, Site, started
from tests.benchmarks.harness import arguments
from tests.release.pages import markdown

# How much more memory the server may hold after all attacks, and bytes by which its log may grow in a minute of one.
MEMORY_ALLOWED = 1.15
LOG_ALLOWED = 1_000_000
HELD = {True: "yes", False: "**no**", None: "not known"}


def results_of(attack: Attack, site: Site) -> list[Result]:
    """What one attack came to, and how much the server's log grew; an attack that breaks off did not hold."""
    begin, log = time.monotonic(), site.log.stat().st_size
    try:
        found = attack.run(site)
    except Busy as error:
        found = Result("not measured", str(error), None)
    except Exception as error:
        traceback.print_exc()
        found = Result("broke off", f"{type(error).__name__}: {error}"[:200], False)
    grown, seconds = site.log.stat().st_size - log, time.monotonic() - begin
    logged = Result("its log", f"{grown:,} bytes in {seconds:.0f} s", grown / max(1.0, seconds / 60) < LOG_ALLOWED)
    return [*([found] if isinstance(found, Result) else found), logged]


def against(kind: str, chosen: Sequence[Attack], folder: Path) -> list[tuple]:
    """Rows of the report: the attacks on one server, and last its memory."""
    rows = []
    with started(kind, folder) as site:
        visitor = site.visitor()
        # What the first runs load is no attack's doing.
        for method in ("duodecoding", "speculative", "vanilla"):
            site.run_of(visitor, method=method)
        before = site.memory()
        for attack in chosen:
            found = results_of(attack, site)
            rows += [(attack.item, kind, attack.must_hold, *each) for each in found]
            for each in found:
                print(f"{attack.item} ({kind}): {HELD[each.held]}: {each.done}: {each.result}", file=sys.stderr)
        rows.append(("memory", kind, "at most 15 % more after them", "all of these", *weighed(site, before)))
    return rows


def weighed(site: Site, before: float) -> tuple[str, bool]:
    """The server's memory before and after, and whether it holds little enough more."""
    if not site.alive():
        return "the server has ended", False
    site.run_of(site.visitor())
    after = site.memory()
    return f"{before:.0f} → {after:.0f} MB", after <= before * MEMORY_ALLOWED


def main() -> int:
    wanted = set(filter(None, arguments(__doc__, only="").parse_args().only.split(",")))
    rows = []
    with tempfile.TemporaryDirectory(prefix="duoviz-attacks-") as folder:
        for kind in ("local", "space"):
            chosen = [each for each in ATTACKS if each.kind == kind and (not wanted or each.item in wanted)]
            if chosen:
                rows += against(kind, chosen, Path(folder))
    lines = [[*map(str, row[:-1]), HELD[row[-1]]] for row in rows]
    print(markdown(["item", "server", "must hold", "what was done", "result", "held"], lines))
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
