"""The page's own Gradio components: each is drawn by an entry of `front/entries`, which is fed by its value."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import gradio as gr

from duoviz import runs
from duoviz.comparison import summed_up
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import acceptance_of, parallel_tokens_at
from duoviz.errors import UserError
from duoviz.recordings import ENDING
from duoviz.trace.agreement import agreement, first_difference, written
from duoviz.trace.metrics import metrics
from duoviz.trace.reading import read_trace
from duoviz.web.front import ADDRESS, as_text, publish, serve_json, start
from duoviz.web.replay import replay_parts

# What a script calls when another method is chosen: its recorded run is shown, where nothing of the visitor's is.
OF_METHOD = "(method) => { window.duoviz?.opening?.of(method); }"


def title_of(method: str) -> str:
    """What a race calls a method; that which guesses nothing in plain words, as the opening does."""
    return "the large model alone" if method == "vanilla" else METHODS[method].title


class Scripted(gr.HTML):
    """A component that one of the front end's entries draws. entry, triggers: see `front.start`.

    root: the class of the element that the entry fills. options: also what the entry finds in its `props`.
    """

    def __init__(self, entry: str, triggers: Sequence[str] = (), *, root: str = "dv-root", **options):
        super().__init__(
            value="",
            html_template=f'<div class="{root}"></div>',
            elem_classes=f"of-{entry}",
            js_on_load=start(entry, triggers),
            apply_default_css=False,
            **options,
        )


class Visualizer(Scripted):
    """Shows a run: text, tree, timeline, k and θ. Feed it `batch(…)` strings.

    Before the first run it shows these recorded ones, by their methods. opening: the method whose run is first, the
    sentence that stands with it (`told`), and the Lab's `averages` of φ by method.
    """

    def __init__(self, files: Mapping[str, Path] = {}, *, opening: Mapping = {}, **options):
        addresses = {name: f"{publish(file.parent)}/{file.name}" for name, file in files.items()}
        expected = expected_tokens(files["duodecoding"]) if "duodecoding" in files else None
        opened = {"addresses": addresses, "expected": expected, **opening}
        super().__init__("visualizer", replay=served_replay(), opening=opened, **options)


def expected_tokens(file: Path) -> dict | None:
    """Tokens an iteration of a recorded run of DuoDecoding, as recorded and by theory at other acceptance rates.

    None where the recording cannot tell it.
    """
    try:
        trace = read_trace(file)
    except UserError:
        return None
    acceptance, tau = acceptance_of(trace["iterations"]), metrics(trace)["tau"]
    if not acceptance.rate or acceptance.rate == 1 or not acceptance.hits:
        return None
    recorded = round(acceptance.rate, 2)
    rates = sorted({recorded, *(step / 20 for step in range(21))})
    # The theory's own error at the recorded rate is taken out of all.
    factor = (tau - 1) / (parallel_tokens_at(acceptance, acceptance.rate) - 1)
    tokens = [1 + factor * (parallel_tokens_at(acceptance, rate) - 1) for rate in rates]
    return {"recorded": recorded, "rates": rates, "tokens": tokens}


class Race(Scripted):
    """Shows two methods on one prompt: each as it runs, then both on one clock. Feed it `batch(…)` strings.

    recorded: the texts of `recorded_race`s, of which the first is shown before the visitor's own. Event `chosen`:
    another is shown. measured: what was measured of what the reasons estimate, in a sentence.
    """

    def __init__(self, *, recorded: Sequence[str] = (), measured: str = "", **options):
        shown = {"recorded": list(recorded), "measured": measured}
        super().__init__("race", ["chosen"], replay=served_replay(), **shown, **options)


def served_replay() -> str:
    """The address of a replay's two parts, between which the browser puts a trace."""
    return f"{ADDRESS}/{serve_json('replay-parts', as_text(replay_parts()))}"


def batch(run: str, number: int, events: list[dict]) -> str:
    """One value of a visualizer or a race; `number` counts the values of a run."""
    return as_text({"run": run, "seq": number, "events": events})


def view_value(overview: dict | None, parts: dict[str, dict] | None = None, opened: str | None = "") -> str:
    """One value of the Lab's view: an `overview`, the parts (see `lab.report`) that can be opened, and which one is;
    None: that which was."""
    row = parts and [{"name": name, "title": part["title"], "picture": part["picture"]} for name, part in parts.items()]
    return as_text({"overview": overview, "parts": row, "opened": opened})


def recorded_race(folder: Path, methods: Sequence[str]) -> str:
    """A race of two recorded runs, for the browser: its lanes, where the recordings are read, and its result.

    "" where a recording is missing, or their texts differ: whether by a tie is not known without the models.
    """
    files = [folder / f"{method}{ENDING}" for method in methods]
    try:
        traces = [read_trace(file) for file in files]
    except UserError:
        return ""
    first, second = (written(trace) for trace in traces)
    if first_difference(first, second) is not None:
        return ""
    lanes = [runs.Lane(title_of(method), method, Settings()) for method in methods]
    # Each method was recorded at its best.
    rows = [runs.row(trace, lane.name, 0) | {"cores": "auto"} for lane, trace in zip(lanes, traces, strict=True)]
    shown = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in lanes]
    recordings = [f"{publish(folder)}/{file.name}" for file in files]
    result = summed_up(lanes, rows, {}, [agreement(first, second, 0.0)], None)
    return as_text({"lanes": shown, "recordings": recordings, "result": result})
