"""duoviz: DuoDecoding, run for real and shown live."""

from importlib import import_module
from typing import Any

from duoviz import waiting

waiting.be_a_good_neighbour()

# Where each name is from. What decodes is imported with its first use: the page's process never needs it.
HOMES = {
    "Engine": "duoviz.decoding.engine.Engine",
    "Iteration": "duoviz.decoding.iteration.Iteration",
    "Settings": "duoviz.decoding.settings.Settings",
    "generate": "duoviz.runner.stream",
    "load_engine": "duoviz.decoding.engine.load_engine",
}
__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = HOMES[name].rpartition(".")
    return getattr(import_module(module), attribute)
