"""Attack a running page, and report what held.

    python -m tests.benchmarks.attacks [--only ITEM,…] [--places N] [--out FILE.md]

Starts the server itself, once as on one's own machine and once as on a Space, on loopback only; every attack
is bounded in count and time. Memory is that of the server and its processes, after a visitor's run before the
first attack and after the last. Exits with 1 where something did not hold.
"""

import argparse
import importlib
import pkgutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks import attacks
from tests.benchmarks.attacks.register import ATTACKS, KINDS, Attack, Result
from tests.benchmarks.attacks.site import Site, started

# How much more memory the server may hold after all attacks, and bytes by which its log may grow in a minute of one.
MEMORY_ALLOWED = 1.15
LOG_ALLOWED = 1_000_000


def load_attacks() -> None:
    for module in pkgutil.iter_modules(attacks.__path__):
        if module.name != "__main__":
            importlib.import_module(f"{attacks.__name__}.{module.name}")


def results_of(attack: Attack, site: Site) -> list[Result]:
    """What one attack came to; an attack that breaks off did not hold."""
    try:
        found = attack.run(site)
    except Exception as error:
        traceback.print_exc()
        return [Result("broke off", f"{type(error).__name__}: {error}"[:200], False)]
    return [found] if isinstance(found, Result) else list(found)


def against(kind: str, chosen: Sequence[Attack], folder: Path, places: str) -> list[tuple]:
    """Rows of the report: the attacks on one server, and last its memory."""
    rows = []
    with started(kind, folder, DUOVIZ_PLACES=places) as site:
        visitor = site.client()
        # What the first runs load is no attack's doing.
        for method in ("duodecoding", "speculative", "vanilla"):
            site.run_of(visitor, method=method)
        before = site.memory()
        for attack in chosen:
            begin, log = time.monotonic(), site.log.stat().st_size
            found = [*results_of(attack, site), logged(site, log, time.monotonic() - begin)]
            rows += [(attack.item, kind, attack.must_hold, *each) for each in found]
            print(f"{attack.item} ({kind}): {attack.must_hold}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
            for each in found:
                print(f"    {'held' if each.held else 'DID NOT HOLD'}: {each.done}: {each.result}", file=sys.stderr)
        rows.append(("memory", kind, "at most 15 % more after them", "all of these", *weighed(site, before)))
    return rows


def logged(site: Site, before: int, seconds: float) -> Result:
    """How much the server's log grew."""
    grown = site.log.stat().st_size - before
    a_minute = grown / max(1.0, seconds / 60)
    return Result("its log", f"{grown:,} bytes in {seconds:.0f} s", a_minute < LOG_ALLOWED)


def weighed(site: Site, before: float) -> tuple[str, bool]:
    """The server's memory before and after, and whether it holds little enough more."""
    if not site.alive():
        return "the server has ended", False
    site.run_of(site.client())
    after = site.memory()
    return f"{before:.0f} → {after:.0f} MB", after <= before * MEMORY_ALLOWED


def table(rows: Sequence[tuple]) -> str:
    lines = ["| item | server | must hold | what was done | result | held |", "|---|---|---|---|---|---|"]
    return "\n".join(
        lines + [f"| {' | '.join(map(str, row[:-1]))} | {'yes' if row[-1] else '**no**'} |" for row in rows]
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.attacks")
    parser.add_argument("--only", default="", metavar="ITEM,…", help="default: all")
    parser.add_argument("--places", default="1", metavar="N", help="of the server; default: 1")
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="where the report goes too")
    options = parser.parse_args(arguments)
    load_attacks()
    wanted = set(filter(None, options.only.split(",")))
    rows = []
    with tempfile.TemporaryDirectory(prefix="duoviz-attacks-") as folder:
        for kind in KINDS:
            chosen = [each for each in ATTACKS if each.kind == kind and (not wanted or each.item in wanted)]
            if chosen:
                rows += against(kind, chosen, Path(folder), options.places)
    print(table(rows))
    if options.out:
        options.out.write_text(table(rows) + "\n", encoding="utf-8")
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
