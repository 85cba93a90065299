"""duoviz: DuoDecoding, run for real and shown live."""

import os
import sys
from typing import Any

from duoviz.version import VERSION as __version__  # noqa: F401

# The first line of every way to start it, and not a traceback; so far all that is imported is read by older versions.
if sys.version_info < (3, 11):  # noqa: UP036
    raise SystemExit(f"duoviz needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")

# Threads that wait spin for so many rounds and then sleep, unless the environment says how they wait. GNU OpenMP's own
# 300,000 keep a thread on its core for milliseconds that a neighbour on the same machine, or the thread waited for,
# could use. torch reads it once, as it is imported.
SPINS = 2_000
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))

# Where each name is from. What decodes is imported with its first use: the page's process never needs it.
HOMES = {
    "Engine": "duoviz.decoding.engine:Engine",
    "Iteration": "duoviz.decoding.iteration:Iteration",
    "Settings": "duoviz.decoding.settings:Settings",
    "UserError": "duoviz.errors:UserError",
    "generate": "duoviz.runner:stream",
    "load_engine": "duoviz.decoding.engine:load_engine",
}
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pkgutil import resolve_name

    return resolve_name(HOMES[name])
