"""The Lab tab: the paper's tables and figures, recorded and measured here; on a Space, recorded results only."""

import json
from collections.abc import Iterator
from datetime import date
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.components.plot import PlotData
from gradio.events import Dependency

from duoviz.decoding import METHODS
from duoviz.errors import UserError, check_write
from duoviz.lab.plan import QUICK, Progress, make_plan
from duoviz.lab.results import is_being_written, load, zipped
from duoviz.lab.tasks import TASKS
from duoviz.models.registry import PAIRS, first_pair
from duoviz.web.components import Scripted, view_value
from duoviz.web.ending import scratch_folder
from duoviz.web.pages.fields import method_choices
from duoviz.web.pages.live import measured
from duoviz.web.results_store import available, folder_named, keep_loaded, view_of
from duoviz.web.session import Hardware
from duoviz.web.share import Page
from duoviz.web.visitors import AT_ONCE, Visitors
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Measurement

ABOUT = (
    "The paper's tables and figures, measured on this machine: every method answers prompts of seven tasks. "
    "Each answer is saved when it is finished, so you can stop or close the page at any time and resume later under "
    "the same name."
)
SIZES = {
    f"quick, minutes: {QUICK[0]} questions per task": "quick",
    "full, about an hour: all questions": "full",
}
NOTHING = "No results are shown: choose earlier results, or measure them here."

Updates = dict[Component, Any]
# The look of tables and texts, here as in the report.
LOOK = files("duoviz.lab") / "report.css"
# The paragraph about the results stands above all, in few lines.
WIDE = """
#lab-about .lab :is(p, summary) { max-width: none; font-size: 13px; margin: 0 0 4px; color: var(--lab-subdued); }
#lab-about .lab .lab-lead { font-size: 16px; color: var(--lab-text); }
#lab-status:not(:has(p)) { display: none; }
"""
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": None}
# Reading and drawing take memory: one after the other, whoever asks. What waits holds no thread.
DRAWN = QUIET | {"concurrency_limit": 1, "concurrency_id": "results"}
# Results side by side.
MOST = 6


class Board:
    """Where results are shown: a paragraph about them, the overview, and the part that is open."""

    def __init__(self):
        self.about = gr.HTML(elem_id="lab-about", apply_default_css=False, padding=False)
        # It stands below the buttons that it answers.
        self.status = gr.HTML(elem_id="lab-status", apply_default_css=False, padding=False, render=False)
        # It is fed `view_value(…)` strings.
        self.view = Scripted("results", ["opened"], root="ll-root", elem_id="lab-view")
        self.above = gr.HTML(visible=False, elem_id="lab-part", apply_default_css=False)
        self.figure = gr.Plot(
            visible=False, show_label=False, container=False, elem_id="lab-figure", elem_classes="lab-drawing"
        )
        self.below = gr.HTML(visible=False, elem_id="lab-below", apply_default_css=False)
        self.parts: list[Component] = [self.above, self.figure, self.below]
        self.components = [self.about, self.status, self.view, *self.parts]

    def filled(self, first: dict | None, parts: dict[str, dict] | None, name: str | None = "") -> Updates:
        """What shows results: their `first_view`, the parts to be opened (None: not known yet), and anew the open one.

        first: None where there are no results. name: of the part that is open; "" where none was, and one that was
        opened meanwhile stays; None where what is open is of other results, and is closed.
        """
        if first is None:
            return {self.about: styled(f"<p>{escape(NOTHING)}</p>"), self.view: view_value(None)} | self.opened(None)
        if name == "":
            opened, updates = None, dict.fromkeys(self.parts, gr.skip())
        else:
            part = (parts or {}).get(name or "")
            opened, updates = name if part else "", self.opened(part)
        about = styled(f"<style>{LOOK.read_text(encoding='utf-8')}{WIDE}</style>{first['about']}")
        view = view_value(first["overview"] | {"elsewhere": measured()}, parts, opened)
        return {self.about: about, self.view: view} | updates

    def opened(self, part: dict | None) -> Updates:
        """What shows a part, or none."""
        if part is None:
            return {component: gr.update(visible=False) for component in self.parts}
        figure, height = None, ""
        if part["figure"]:
            figure = PlotData(type="plotly", plot=part["figure"])
            height = f"<style>#lab-figure {{ --height: {json.loads(figure.plot)['layout']['height']}px }}</style>"
        return {
            self.above: gr.update(value=styled(height + part["above"]), visible=True),
            self.figure: gr.update(value=figure, visible=figure is not None),
            self.below: gr.update(value=styled(part["below"]), visible=True),
        }


def styled(inner: str) -> str:
    return f'<div class="lab">{inner}</div>'


def texts_in(values: object) -> list[str]:
    """The texts in a list that a browser sent, each once, in order; of anything else none."""
    return list(dict.fromkeys(each for each in values if isinstance(each, str))) if isinstance(values, list) else []


def results_page(hardware: Hardware, tab: gr.Tab) -> Page:
    """Lay out the tab inside the Blocks in force; on a Space, without what runs or loads anything."""
    recorded_only = hardware.limits.on_space
    board = Board()
    others = ", ".join(name.removesuffix(" (recorded)") for name in list(available(recorded_only=True))[1:])
    with gr.Accordion(f"Other results: {others}", open=False, elem_id="lab-others"), gr.Row():
        names = list(available(recorded_only=recorded_only))
        info = "choose several to see them side by side"
        chosen = gr.Dropdown(
            names, value=names[:1], multiselect=True, max_choices=MOST, label="Results shown", info=info,
            elem_id="lab-results", scale=3,
        )  # fmt: skip
        download = gr.DownloadButton("Save results (.zip)", interactive=False, elem_id="lab-save")
        if not recorded_only:
            upload = gr.UploadButton("Load results (.zip)", file_types=[".zip"], elem_id="lab-load")
    part = gr.Textbox("", visible="hidden")
    shared: dict[str, Component] = {"results": chosen, "part": part}
    binding = show_chosen(chosen, part, download, board, tab, recorded_only=recorded_only)
    if not recorded_only:
        with gr.Accordion("Measure on this machine", open=False, elem_id="lab-measure"):
            gr.Markdown(ABOUT)
            inputs = plan_fields()
            shared |= inputs
            with gr.Row():
                go = gr.Button("Run", variant="primary", elem_id="lab-run")
                halt = gr.Button("Stop", elem_id="lab-stop")
        run = connect(hardware, inputs, go=go, halt=halt, chosen=chosen, part=part, download=download, board=board)
        run.then(**binding)
        upload.upload(take_in, [upload, chosen], [chosen, board.status], **DRAWN).then(**binding)
    board.status.render()
    return Page(shared)


def plan_fields() -> dict[str, Component]:
    """Lay out what can be chosen to run."""
    fields = {}
    with gr.Row():
        fields["size"] = gr.Radio(list(SIZES.items()), value="quick", label="How much", elem_id="lab-size")
        fields["pair"] = gr.Dropdown(list(PAIRS), value=first_pair(), label="Models", allow_custom_value=True)
        info = "an existing name resumes that measurement"
        fields["name"] = gr.Textbox(usual_name("quick"), label="Name of the results", info=info, elem_id="lab-name")
    info = "MT-Bench-like questions have two turns, both asked"
    fields["tasks"] = gr.CheckboxGroup(
        [(label, task) for task, label in TASKS.items()],
        value=list(TASKS),
        label="Tasks",
        info=info,
        elem_id="lab-tasks",
    )
    info = "vanilla always runs, as the baseline for speed and text"
    fields["methods"] = gr.CheckboxGroup(
        method_choices(), value=list(METHODS), label="Methods", info=info, elem_id="lab-methods"
    )
    fields["size"].change(
        lambda size, name: usual_name(size) if name in map(usual_name, SIZES.values()) else gr.skip(),
        [fields["size"], fields["name"]],
        fields["name"],
        **AT_ONCE,
    )
    return fields


def usual_name(size: str) -> str:
    """What results are called if nobody calls them otherwise."""
    return f"{date.today()} {size}"


def show_chosen(chosen, part, download, board: Board, tab: gr.Tab, *, recorded_only: bool) -> dict:
    """Show what is chosen, and offer it as a zip; at first, what comes along. Returns how to bind the showing."""
    scratch = scratch_folder()

    def files_of(names: object) -> list[tuple[str, Path]]:
        """Those of the names that there are, each once."""
        by_name = available(recorded_only=recorded_only)
        return [(name, by_name[name]) for name in texts_in(names) if name in by_name][:MOST]

    def look(names: list[str]) -> Updates:
        """As the tab opens: the choices, and at once what they show first."""
        choices = list(available(recorded_only=recorded_only))
        files = files_of(names) or files_of(choices[:1])
        updates: Updates = {chosen: gr.update(choices=choices, value=[name for name, _ in files])}
        try:
            return updates | board.filled(view_of("first", files), None)
        except UserError as error:
            return updates | {board.status: mistake(str(error))}

    def show(names: list[str], name: str) -> Updates:
        """What is chosen, with all its parts, of which the one with this name is open; and as a zip."""
        files, updates, kept = files_of(names), {}, None
        try:
            updates = board.filled(view_of("first", files), view_of("parts", files), name)
            # What could be saved during a run would be out of date with the next answer.
            if files and not is_being_written(files[0][1]):
                kept = str(as_zip(files[0][1], scratch / files[0][0]))
        except UserError as error:
            updates |= {board.status: mistake(str(error))}
        return updates | {download: gr.update(value=kept, interactive=kept is not None)}

    def open_part(names: list[str], name: str) -> Updates:
        """The part with this name, or none."""
        try:
            return board.opened((view_of("parts", files_of(names)) or {}).get(name))
        except UserError as error:
            return {board.status: mistake(str(error))}

    outputs = [*board.components, download]
    binding = {"fn": show, "inputs": [chosen, part], "outputs": outputs, **DRAWN}
    # It draws one view at the most, which is kept: nobody waits for others' comparisons to see it.
    # Not checked by Gradio: what was chosen before a reload may have come after the page was built.
    opening = tab.select(look, chosen, [chosen, *board.components], preprocess=False, **QUIET)
    opening.then(**binding)
    # Who chooses twice while the first is drawn sees the second.
    chosen.input(**binding, trigger_mode="always_last")
    named = board.view.opened(None, None, part, js="() => window.duoviz.openPart()", **AT_ONCE)
    opened = named.then(open_part, [chosen, part], [board.status, *board.parts], **DRAWN)
    opened.then(None, js="() => window.duoviz.showPart()", **AT_ONCE)
    return binding


def as_zip(path: Path, folder: Path) -> Path:
    """The results as a zip that may be sent, in this folder. Raises UserError."""
    with check_write(folder):
        folder.mkdir(exist_ok=True)
        file = folder / f"{path.name.removesuffix('.zip')}.zip"
        file.write_bytes(path.read_bytes() if path.is_file() else zipped(path))
        return file


def take_in(path: str | None, chosen: object) -> tuple[object, object]:
    """Keep a zip that was loaded among the user's results, and show it beside those chosen."""
    if path is None:
        return gr.skip(), mistake("Load results: choose a .zip of results.")
    try:
        load(Path(path))
        name = keep_loaded(Path(path))
    except UserError as error:
        return gr.skip(), mistake(str(error))
    return gr.update(choices=list(available(recorded_only=False)), value=[*texts_in(chosen), name][-MOST:]), ""


def connect(hardware: Hardware, inputs: dict, *, go, halt, chosen, part, download, board: Board) -> Dependency:
    """Bind the buttons to runs on the hardware. Returns the event of a run, for what follows its end."""
    visitors = Visitors(hardware)

    def measure(request: gr.Request, size, pair, name, tasks, methods) -> Iterator[Updates]:
        """Run what was chosen, and show it as it fills."""
        # Not an update of its own: only following ends the run of a visitor who leaves.
        first: Updates = {download: gr.update(interactive=False)}
        is_filled = False

        def ask() -> Measurement:
            plan = make_plan(quick=size == "quick", tasks=checked("task", tasks), methods=checked("method", methods))
            return Measurement(pair=pair, plan=plan, path=folder_named(name))

        def shown(job: Job, events: list[dict]) -> Updates:
            nonlocal first, is_filled
            updates, first = first | updates_of(events, board, "" if is_filled else None), {}
            if board.view in updates:
                # What is opened now is the run's.
                names = list(available(recorded_only=False))
                updates[chosen] = gr.update(choices=names, value=[folder_named(name).name])
                if not is_filled:
                    updates[part] = ""
                is_filled = True
            return updates

        try:
            yield from visitors.follow(request, ask, shown)
        except UserError as error:
            yield {board.status: mistake(str(error))}

    # Not queued, so that it reaches a run however many others wait.
    halt.click(visitors.stop, queue=False, api_visibility="private")
    return go.click(measure, list(inputs.values()), [chosen, part, download, *board.components], **QUIET)


def checked(what: str, values: object) -> list[str]:
    """What was ticked. Raises UserError where nothing is."""
    if not (ticked := texts_in(values)):
        raise UserError(f"Choose at least one {what}.")
    return ticked


def updates_of(events: list[dict], board: Board, name: str | None) -> Updates:
    """What these events change on the page; name: as in `Board.filled`. Gradio takes no update of nothing."""
    status = board.status
    updates: Updates = {status: gr.skip()}
    for event in events:
        if event["type"] == "progress":
            far: Progress = event["progress"]
            bar = f'<progress max="{far.total or 1}" value="{far.done}"></progress>'
            said = f'<p role="status">{bar} {escape(far.words)}</p><p class="lab-note">{escape(far.text)}</p>'
            updates[status] = styled(said)
        elif event["type"] == "results":
            updates |= board.filled(event["view"], event["parts"], name)
        elif event["type"] == "status" and event["text"]:
            updates[status] = styled(f"<p>{escape(event['text'])}</p>")
        elif event["type"] == "error":
            updates[status] = mistake(event["message"])
        elif event["type"] == "end":
            # The line's own end, of a job that was stopped while it waited, does not say how it was stopped.
            stopped = event.get("stopped", True)
            updates[status] = styled(f"<p>{'Stopped. Finished answers are kept.' if stopped else 'Finished.'}</p>")
    return updates


def mistake(sentence: str) -> str:
    return styled(f'<p class="lab-warning" role="alert">{escape(sentence)}</p>')
