"""A run as data: its method, its lane in a comparison, its trace; nothing here computes one."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import NamedTuple

from duoviz import __version__
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.outside import in_short
from duoviz.trace.metrics import metrics, text_of

# A warm-up loads and measures what the runs after it use; it need not write a whole text.
WARMUP_TOKENS = 16


def check_method(method: object) -> None:
    """Raise UserError unless the method exists."""
    if not isinstance(method, str) or method not in METHODS:
        raise UserError(f"There is no method named {in_short(method)}: choose one of {', '.join(METHODS)}.")


class Lane(NamedTuple):
    """What is compared: a method with its settings, under a name."""

    name: str
    method: str
    settings: Settings


def lanes(methods: Sequence[str], settings: Settings) -> list[Lane]:
    """Both baselines of φ, vanilla at its best here and on the target's cores, and the methods asked for."""
    baselines = [Lane("vanilla", "vanilla", replace(settings, cores=cores)) for cores in ("auto", "target")]
    return baselines + [Lane(method, method, settings) for method in methods if method != "vanilla"]


def short(settings: Settings) -> Settings:
    """The settings of a warm-up."""
    return replace(settings, max_new_tokens=min(WARMUP_TOKENS, settings.max_new_tokens))


def new_trace() -> dict:
    """A trace before its first event."""
    return {"header": None, "iterations": [], "end": None}


def add_event(trace: dict, event: dict) -> None:
    """Add one event of `stream` to the trace."""
    if event["type"] == "iteration":
        trace["iterations"].append(event["iteration"])
    else:
        trace[event["type"]] = event[event["type"]]


def collect(events: Iterator[dict]) -> dict:
    """The trace of a complete run."""
    trace = new_trace()
    for event in events:
        add_event(trace, event)
    return trace


def summary(trace: dict, figures: dict | None = None) -> dict:
    """What `--json` prints and the page's endpoint ends with: text, token ids, settings, metrics.

    figures: its metrics, where they are known.
    """
    header, last = trace["header"], trace["end"]
    return {
        "text": text_of(trace["iterations"]),
        "token_ids": [token["id"] for iteration in trace["iterations"] for token in iteration["committed"]],
        "stopped": last["stopped"],
        "settings": {"method": header["method"], "pair": header.get("pair"), **header["settings"]},
        "metrics": figures or metrics(trace),
    } | ({"message": last["message"]} if "message" in last else {})


def end(iterations: list[dict], stopped: str | None, message: str | None = None) -> dict:
    """The trace's last part."""
    wall = iterations[-1]["sync"] if iterations else 0.0
    return {"stopped": stopped, "wall": wall, "text": text_of(iterations)} | ({"message": message} if message else {})


def row(trace: dict, lane: str, repeat: int) -> dict:
    """One run of a comparison: prompt, method (the lane's name), cores, repeat, its summary and the trace."""
    header = trace["header"]
    about = {"prompt": header["prompt"], "method": lane, "cores": header["settings"].get("cores"), "repeat": repeat}
    return {**about, **summary(trace), "trace": trace}


def versions() -> dict:
    """Of what a run's figures depend on."""
    libraries = {name: version(name) for name in ("torch", "numba", "transformers")}
    return {"duoviz": __version__, **libraries, "python": platform.python_version()}
