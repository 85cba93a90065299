"""The parts of a release: recordings and results that a sitting's folder holds, and all that is written of them."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from duoviz import recordings
from duoviz.command_line import tell
from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.lab.files import write_atomically
from duoviz.lab.shipping import ship, shipped
from tests.release.pages import PAGE, PICTURE, results_page, with_speeds
from tests.release.picture import picture

NAME = "two-cores"
# Of a larger target on the same machine, its results and its pair.
LARGER, LARGER_PAIR = "with-a-larger-target", "embedded-as-360m"
# Of the same target in fewer bits.
INT8 = "with-an-int8-target"


def record(engine: Engine, sitting: Path, settings: Settings) -> None:
    """Record each prompt that the sitting does not hold. Raises UserError."""
    for name, prompt in recordings.PROMPTS.items():
        folder = sitting / name
        # It is written last.
        if not (folder / recordings.PLACES).exists():
            folder.mkdir(parents=True, exist_ok=True)
            traces = recordings.record(engine, settings, prompt, report=tell)
            recordings.write(traces, recordings.places(engine.pair, traces["vanilla"]), folder)


def put(sitting: Path, root: Path) -> None:
    """Put what was made into a clone, and write what tells of it. Raises UserError."""
    traces, results = root / "assets" / "traces", root / "assets" / "results"
    for name in recordings.PROMPTS:
        shutil.copytree(sitting / name, traces / name, dirs_exist_ok=True)
    for method in (name for name, method in METHODS.items() if method.draft):
        share_costs([traces / name / f"{method}{recordings.ENDING}" for name in recordings.PROMPTS])
    # Last: what is said of other machines' results compares their speed with the recordings'.
    for name in (NAME, LARGER, INT8):
        ship(sitting / name, results, name)
    for file in results.glob("*.zip"):
        ship(file, results, file.stem)
    ours = shipped(results / f"{NAME}.zip")
    readme = root / "README.md"
    texts = {readme: with_speeds(readme.read_text(encoding="utf-8"), ours)}
    texts |= {root / PICTURE: picture(ours), root / PAGE: results_page(ours)}
    for file, text in texts.items():
        write_atomically(file, text)


def share_costs(files: Sequence[Path]) -> None:
    """Give a method's recordings the median of their calibrations, so that all pages tell of one machine."""
    traces = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    costs = [trace["header"]["calibration"] for trace in traces]
    for side in ("target", "draft"):
        times = [median(seconds for _, seconds in same) for same in zip(*(each[side] for each in costs), strict=True)]
        shared = [[count, round(seconds, 6)] for (count, _), seconds in zip(costs[0][side], times, strict=True)]
        for each in costs:
            each[side] = shared
    for file, trace in zip(files, traces, strict=True):
        file.write_text(json.dumps(trace, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
