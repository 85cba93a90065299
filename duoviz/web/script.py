"""JavaScript modules as one script, for the page and for the one-file replay; and the visualizer's styles."""

import json
import re
from functools import cache
from pathlib import Path

from duoviz.decoding import METHODS
from duoviz.trace.fields import A_TOKEN, END, HEADER, ITERATION, MAX_ITERATIONS, MAX_WRITTEN
from duoviz.trace.race import RACE
from duoviz.trace.schema import SCHEMA_VERSION

HERE = Path(__file__).parent
CSS = (HERE / "visualizer.css").read_text(encoding="utf-8")

IMPORT = re.compile(r'^import .* from "(.+)";\n', re.MULTILINE)


def known() -> dict[str, object]:
    """What the modules leave empty for Python to say, by the name of the constant."""
    shapes = {"header": HEADER, "iteration": ITERATION, "end": END, "race": RACE}
    shapes |= {"most": MAX_ITERATIONS, "written": MAX_WRITTEN, "token": A_TOKEN, "schema": SCHEMA_VERSION}
    return {"KNOWN_METHODS": {id: method.described() for id, method in METHODS.items()}, "SHAPES": shapes}


def script(text: str) -> str:
    """One script: every module that `text` imports, by a path from here, after those that it imports, and then `text`.

    A browser runs `js_on_load` as a function's body, where nothing is imported.
    """
    modules: dict[Path, str] = {}

    def add_imports(text: str, folder: Path) -> None:
        for name in IMPORT.findall(text):
            file = (folder / name).resolve()
            if file not in modules:
                content = read_module(file)
                add_imports(content, file.parent)
                modules.setdefault(file, content)

    add_imports(text, HERE)
    joined = "\n".join([*modules.values(), text])
    return filled(re.sub(r"^import .*\n|^export ", "", joined, flags=re.MULTILINE))


def filled(text: str) -> str:
    """Modules with what they leave empty."""
    for name, value in known().items():
        text = text.replace(f"const {name} = {{}};", f"const {name} = {json.dumps(value, ensure_ascii=False)};")
    return text


@cache
def read_module(file: Path) -> str:
    return file.read_text(encoding="utf-8")
