"""The recorded runs in `assets/traces`: one of each method on each of three prompts, and what both models expected."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.folders import ASSETS
from duoviz.models.language_model import over_vocabulary
from duoviz.models.progress import Progress, no_progress
from duoviz.runs import Lane
from duoviz.trace.metrics import forward_seconds

if TYPE_CHECKING:
    from torch import Tensor

    from duoviz.decoding.engine import Engine
    from duoviz.decoding.placement import Placement
    from duoviz.models.pair import Pair

# What the page opens with, what the lessons are about, and what the game is played on.
PROMPTS = {
    "story": "What is gravity?",
    "lessons": "What is a bakery?",
    "game": "What is photosynthesis?",
}
PROMPT = PROMPTS["story"]
FOLDER = ASSETS / "traces"
STORY, LESSONS, GAME = (FOLDER / name for name in PROMPTS)
ENDING = ".duoviz.json"
PLACES = "places.json"
# Of a place, each model's likeliest tokens are kept.
LIKELIEST = 12
NEW_TOKENS = 128
# An odd number, of which one is in the middle.
ROUNDS = 5
CALIBRATIONS = 5


def record(engine: Engine, settings: Settings, prompt: str, *, report: Progress = no_progress) -> dict[str, dict]:
    """Of each method the run of median duration, after an unrecorded one. Raises UserError.

    Their headers say how fast the machine was: by all of vanilla's runs, which alternated with the others'.
    report: called with the share that is done and what that is.
    """
    # The page reads the names above, and what decodes takes long to import.
    from duoviz.comparison import median_row
    from duoviz.decoding.plan import placement_of
    from duoviz.runner import compare

    lanes, rows = [Lane(method, method, settings) for method in METHODS], []
    report(0.0, "Warming up")
    placements = {name: placement_of(engine, method, settings) for name, method in METHODS.items() if method.draft}
    costs = {placement: several_times(engine, placement) for placement in {*placements.values()}}
    for row in compare(engine, [prompt], lanes, repeats=ROUNDS):
        rows.append(row)
        report(len(rows) / (ROUNDS * len(lanes)), f"Recorded {row['method']}")
    medians = {method: median_row([row for row in rows if row["method"] == method]) for method in METHODS}
    traces = {method: row["trace"] for method, row in medians.items() if row}
    passes = [forward_seconds(row["trace"], rows=1) for row in rows if row["method"] == "vanilla"]
    for method, trace in traces.items():
        trace["header"]["one_token"] = round(median(filter(None, passes)), 6)
        # Figures show costs: one calibration is too rough, and what runs learn changes with the machine's speed.
        if method in placements:
            trace["header"]["calibration"] = costs[placements[method]]
    return traces


def several_times(engine: Engine, placement: Placement) -> dict:
    """A header's `calibration`, the median of several."""
    from duoviz.decoding.costs import Costs, median_model
    from duoviz.runner import calibration

    models = []
    for _ in range(CALIBRATIONS):
        engine.kept_costs[placement] = Costs()
        engine.calibrate(placement)
        models.append(engine.costs(placement).model)
    return calibration(median_model(models))


def recorded_runs(folder: Path) -> dict[str, Path]:
    """The recorded runs in a folder, by their methods."""
    files = {method: folder / f"{method}{ENDING}" for method in METHODS}
    return {method: file for method, file in files.items() if file.is_file()}


def recorded_speed(target: str) -> float | None:
    """Seconds of a forward pass of one token while the page's recorded runs were made; None where they do not say, and
    where they are of another target.
    """
    file = STORY / f"vanilla{ENDING}"
    header = json.loads(file.read_text(encoding="utf-8"))["header"] if file.is_file() else None
    return header.get("one_token") if header and header["target"]["name"] == target else None


def places(pair: Pair, trace: dict) -> dict:
    """What both models expect at each place of a trace's text, at temperature 1.

    `text` is the trace's. `places`: for each committed token, the likeliest tokens there of both models, each with
    its `text` and its probabilities `p` (target) and `q` (draft).
    """
    from torch import stack
    from torch.nn.functional import pad

    prompt = pair.encode(trace["header"]["prompt"], raw=trace["header"]["settings"]["raw"])
    written = [token["id"] for iteration in trace["iterations"] for token in iteration["committed"]]
    expected = []
    for model in (pair.target, pair.draft.load()):
        model.crop(0)
        logits = model.forward(prompt + written[:-1], rows=range(len(prompt) - 1, len(prompt) + len(written) - 1))
        model.crop(0)
        # The draft may leave out tokens of the vocabulary.
        rows = logits.cpu().float().softmax(dim=-1)
        known = stack([over_vocabulary(row, model.known) for row in rows])
        expected.append(pad(known, (0, pair.target.vocab_size - known.shape[-1])))
    listed = [likeliest(pair, *rows) for rows in zip(*expected, strict=True)]
    return {"text": trace["end"]["text"], "places": listed}


def likeliest(pair: Pair, p: Tensor, q: Tensor) -> list[dict]:
    """The tokens that either distribution [vocab] puts first, the target's most probable one first."""
    count = min(LIKELIEST, len(p))
    tokens = {*p.topk(count).indices.tolist(), *q.topk(count).indices.tolist()}
    return [
        {"text": pair.tokenizer.decode([token]), "p": round(p[token].item(), 5), "q": round(q[token].item(), 5)}
        for token in sorted(tokens, key=lambda token: (-p[token], -q[token], token))
    ]


def write(traces: dict[str, dict], expected: dict, folder: Path) -> None:
    """Write each trace to its own file in the folder, and last what `places` gives. Raises OSError."""
    files = {f"{method}{ENDING}": trace for method, trace in traces.items()} | {PLACES: expected}
    for name, content in files.items():
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        (folder / name).write_text(text, encoding="utf-8")
