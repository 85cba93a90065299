"""duoviz: DuoDecoding, run for real and shown live."""

import os
import sys
from typing import TYPE_CHECKING

__version__ = "1.0.0"

# The first line of every way to start it, and not a traceback; so far all that is imported is read by older versions.
if sys.version_info < (3, 11):  # noqa: UP036
    raise SystemExit(f"duoviz needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")

# Threads that wait spin for so many rounds and then sleep, unless the environment says how they wait. GNU OpenMP's own
# 300,000 keep a thread on its core for milliseconds that a neighbour on the same machine, or the thread waited for,
# could use. torch reads it once, as it is imported.
SPINS = 2_000
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))

# `open` is not among them: `from duoviz import *` keeps Python's own.
__all__ = ["Engine", "Lane", "Race", "Results", "Run", "Settings"]
__all__ += ["UserError", "bench", "generate", "load_engine", "race", "run"]

if TYPE_CHECKING:
    from duoviz.api import bench, generate, race, run
    from duoviz.decoding.engine import Engine, load_engine
    from duoviz.decoding.settings import Settings
    from duoviz.errors import UserError
    from duoviz.notebook import Race, Results, Run
    from duoviz.notebook import open as open
    from duoviz.runs import Lane
else:
    # Where each name is from. What decodes is imported with its first use: the page's process never needs it.
    HOMES = {
        "api": ("bench", "generate", "race", "run"),
        "decoding.engine": ("Engine", "load_engine"),
        "decoding.settings": ("Settings",),
        "errors": ("UserError",),
        "notebook": ("Race", "Results", "Run", "open"),
        "runs": ("Lane",),
    }

    def __getattr__(name):
        from importlib import import_module

        for home, names in HOMES.items():
            if name in names:
                return getattr(import_module(f"duoviz.{home}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__, "open"})
