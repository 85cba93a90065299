"""The results that can be shown: those that come along, those measured here, and those that were loaded."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape, unescape
from itertools import count
from pathlib import Path

from duoviz.errors import UserError, check_write
from duoviz.folders import ASSETS
from duoviz.lab.files import DATA, LONGEST_NAME, own_files, plain_name
from duoviz.lab.plan import DUO, VANILLA, label_of
from duoviz.lab.results import Results, is_results, is_zip, load
from duoviz.lab.shipping import kept_view, recorded_name
from duoviz.models.cache import cache_folder

# Recorded results that come along, as zips.
RECORDED = ASSETS / "results"
NAME = re.compile(r"[\w+-][\w .+-]*")


def own_folder() -> Path:
    """Where the page keeps its runs: a folder for each name."""
    return cache_folder() / "lab"


def loaded_folder() -> Path:
    """Where the page keeps what was loaded: zips."""
    return cache_folder() / "lab-loaded"


def available(*, recorded_only: bool) -> dict[str, Path]:
    """All results that can be shown, by the names they are shown under: those that come along, then the latest first.

    Those that are not the page's own runs say so in their names, as no run's name can.
    """
    recorded = {recorded_name(path): path for path in sorted(RECORDED.glob("*.zip"))}
    if recorded_only:
        return recorded
    # A run that was stopped before its first answer is left out.
    own = [path for path in own_folder().glob("*") if is_results(path)]
    own = [path for path in own if any(file.is_file() and file.stat().st_size for file in path.glob("answers/*.jsonl"))]
    stored = [(plain_name(path.name), path) for path in own]
    stored += [(f"{plain_name(path.stem)} (loaded)", path) for path in loaded_folder().glob("*") if is_zip(path)]
    return recorded | dict(sorted(stored, key=lambda entry: entry[1].stat().st_mtime, reverse=True))


def first_view_of(name: str) -> dict | None:
    """The `first_view` of results that come along; None where they do not."""
    kept = kept_view(RECORDED / f"{name}.zip")
    return kept and kept["first"]


def said_below(name: str, part: str) -> str:
    """The first paragraph below a part of results that come along; "" where they do not have it."""
    kept = kept_view(RECORDED / f"{name}.zip")
    below = kept["parts"].get(part, {}).get("below", "") if kept else ""
    return unescape(re.sub("<[^>]*>", "", below.partition("</p>")[0]))


def averages(name: str = "two-cores") -> dict[str, dict]:
    """Of each method in results that come along its `phi` over all their tasks, its `noise`, and of how many questions
    (`n`); `tasks`: its lowest and its highest φ of one task; `paper`: the paper's φ;
    `published`: DuoDecoding's φ here as published, None where that was not measured.
    """
    if not (view := first_view_of(name)):
        return {}
    speeds = view["overview"]["speeds"]
    all_tasks, *tasks = speeds["tasks"]
    found = {}
    for line in speeds["lines"]:
        by_task = sorted(line["here"][task]["phi"] for task in tasks if line["here"].get(task))
        if by_task and line["here"].get(all_tasks):
            paper = [phis[all_tasks] for phis in line["paper"].values() if phis]
            about: dict = {"tasks": [by_task[0], by_task[-1]], "paper": paper}
            about["published"] = speeds["published"] if line["method"] == label_of(DUO) else None
            found[line["method"]] = line["here"][all_tasks] | about
    return found


def in_words(average: dict) -> str:
    """φ with its noise, where the answers are enough to know that."""
    noise = average["noise"]
    return f"{average['phi']:.2f}" + ("" if noise is None else f" ± {noise:.2f}")


def view_of(what: str, files: Sequence[tuple[str, Path]]) -> dict | None:
    """What is shown of these results, by their names: of "first" the first view, of "parts" the parts to be opened.

    Of no results it is None; of results that came along what was kept of them, so that they need not be read. Raises
    UserError.
    """
    if not files:
        return None
    # What is seen first, and most of what is opened, is of the first results alone.
    name, path = files[0]
    kept = kept_view(path) if path.parent == RECORDED else None
    view = kept[what] if kept else made(what, name, path, stamp(path))
    if len(files) < 2:
        return view
    if what == "first":
        first, *others = (name for name, _ in files)
        told = f"This is {first}. “Several results side by side” also shows {', '.join(others)}."
        return view | {"about": f"<p>{escape(told)}</p>{view['about']}"}
    # It draws, with plotly, which the page need not wait for.
    from duoviz.lab.report import parts_beside

    return parts_beside(view, [beside(path, name) for name, path in files])


@lru_cache(maxsize=8)
def made(what: str, name: str, path: Path, written: int) -> dict:
    """The same of one folder or zip, kept for as long as its stamp is the same."""
    from duoviz.lab.report import first_view, parts_of

    results = replace(load(path), name=name)
    return first_view(results) if what == "first" else parts_of(results)


def beside(path: Path, name: str) -> Results:
    """Results to compare others with, which takes no iterations but vanilla's. Raises UserError."""
    results = load(path)
    rows = [row if row["model_id"] == VANILLA else row | {"measured": []} for row in results.rows]
    return replace(results, name=name, rows=rows)


def stamp(path: Path) -> int:
    """When results were last written, in nanoseconds. Raises UserError."""
    files = [path] if is_zip(path) else own_files(path, DATA).values()
    return max((file.stat().st_mtime_ns for file in files), default=0)


def folder_named(name: object) -> Path:
    """The folder of the user's run with this name. Raises UserError."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not NAME.fullmatch(name.strip()):
        raise UserError(f"Name: use letters, digits, spaces, dots, + and −, at most {LONGEST_NAME} characters.")
    if name.strip().lower().endswith(".zip"):
        raise UserError("Name: leave out .zip; results are a folder, and are saved as a zip.")
    return own_folder() / name.strip()


def keep_loaded(file: Path) -> str:
    """Keep a copy of a zip of results, beside all others; the name that it is shown under. Raises UserError."""
    stem, folder = plain_name(file.stem), loaded_folder()
    names = (f"{stem} {number}" if number > 1 else stem for number in count(1))
    with check_write(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Zips are loaded one after another: nobody else takes this name meanwhile.
        name = next(name for name in names if not (folder / f"{name}.zip").exists())
        os.replace(shutil.copy(file, folder / f"{name}.part"), folder / f"{name}.zip")
    return f"{name} (loaded)"
