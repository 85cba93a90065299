"""The visualizer's modules as one script, and its styles: for the page and for the one-file replay."""

import re
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "visualizer"
CSS = (HERE / "visualizer.css").read_text(encoding="utf-8")

# Each after those that it imports from.
MODULES = (
    "dom",
    "words",
    "busy",
    "in_turn",
    "sentence",
    "state",
    "numbers",
    "text",
    "layout",
    "candidates",
    "tree",
    "view",
    "lanes",
    "timeline",
    "charts",
    "player",
    "transport",
    "keys",
    "legend",
    "origin",
    "pacer",
    "parse",
    "check",
    "export",
    "files",
    "mount",
    "receiver",
    "kept",
    "opening",
)


def joined(files: Iterable[Path]) -> str:
    """JavaScript modules as one script: a browser runs `js_on_load` as a function's body, where nothing is imported."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE)


def joined_script() -> str:
    """The visualizer as one script."""
    return joined(FOLDER / f"{name}.js" for name in MODULES)
