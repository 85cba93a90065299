"""The Lab tab: the paper's tables and figures, measured here; on a Space, results that were recorded before."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from html import escape
from pathlib import Path

import gradio as gr

from duoviz.decoding import METHODS
from duoviz.lab.bench import Progress
from duoviz.lab.plan import QUICK, make_plan
from duoviz.lab.report import about_html, section_html, style
from duoviz.lab.results import Results, is_being_written, load, zipped
from duoviz.lab.sections import Section, sections
from duoviz.lab.tasks import TASKS, LabError
from duoviz.models.pairs import PAIRS
from duoviz.web.clients import keys_of_request
from duoviz.web.lab_run import LabRun, available, folder_named, keep_loaded
from duoviz.web.scratch import scratch_folder
from duoviz.web.session import USER_ERRORS, Hardware

ABOUT = (
    "The paper's tables and figures, measured on this machine: every method answers prompts of seven tasks, in turn. "
    "Each answer is kept in a folder as soon as it is finished, so you can stop at any time, or close the page, and go "
    "on later under the same name."
)
ABOUT_SPACE = (
    "The paper's tables and figures, as they were measured and recorded before. To measure on your own machine, run "
    "duoviz there."
)
SIZES = {
    f"quick, minutes: {QUICK[0]} questions a task": "quick",
    "full, hours: all questions": "full",
}
NOTHING = (
    "No results are shown. Press Run, and the tables and figures fill here as answers come in; or choose results that "
    "were measured before."
)
NOTHING_RECORDED = "No results are shown: choose some that were recorded, where there are any."
# The parts of a report in the page's order, and whether each has a figure.
PARTS = {
    "compared": False,
    "table-1": False,
    "figure-3": True,
    "table-2": False,
    "table-3": False,
    "table-4": False,
    "figure-5": True,
    "figure-1": True,
    "figure-4": True,
    "time": True,
    "cost-model": True,
    "pays": True,
    "checks": False,
    "environment": False,
}

Updates = dict[gr.components.Component, object]


class Board:
    """Where results are shown: a paragraph about them, and a place for each part."""

    def __init__(self, empty: str):
        self.empty = in_lab(f"<p>{escape(empty)}</p>")
        self.about = gr.HTML(self.empty, elem_id="lab-about", apply_default_css=False)
        self.places = {name: place(name, has_figure) for name, has_figure in PARTS.items()}

    @property
    def components(self) -> list[gr.components.Component]:
        return [self.about, *(each for place in self.places.values() for each in place)]

    def emptied(self) -> Updates:
        """What shows that there are no results."""
        hidden = {each: gr.update(visible=False) for each in self.components if each is not self.about}
        return {self.about: gr.update(value=self.empty)} | hidden

    def filled(self, results: Results, parts: Sequence[Section]) -> Updates:
        """What shows these results."""
        updates: Updates = {self.about: gr.update(value=in_lab(f"<style>{style()}</style>{about_html(results)}"))}
        by_name = {part.name: part for part in parts}
        for name, (above, *others) in self.places.items():
            part = by_name.get(name)
            top, bottom = section_html(part, quick=results.plan["quick"]) if part else ("", "")
            if others:
                figure, below = others
                drawing = part.figure.drawing if part else None
                updates[figure] = gr.update(value=drawing, visible=part is not None)
                updates[below] = gr.update(value=in_lab(bottom), visible=part is not None)
                bottom = ""
            updates[above] = gr.update(value=in_lab(top + bottom), visible=part is not None)
        return updates


def place(name: str, has_figure: bool) -> list[gr.components.Component]:
    """The components of one part: what is above its figure, the figure, and what is below."""
    above = gr.HTML(visible=False, elem_id=f"lab-{name}", apply_default_css=False)
    if not has_figure:
        return [above]
    figure = gr.Plot(
        visible=False, show_label=False, container=False, elem_id=f"lab-{name}-figure", elem_classes="lab-drawing"
    )
    return [above, figure, gr.HTML(visible=False, apply_default_css=False)]


def in_lab(inner: str) -> str:
    return f'<div class="lab">{inner}</div>'


def lab_page(hardware: Hardware, tab: gr.Tab) -> None:
    """Lay out the tab inside the Blocks in force; on a Space, without what runs or loads anything."""
    recorded_only = hardware.limits.on_space
    gr.Markdown(ABOUT_SPACE if recorded_only else ABOUT)
    if not recorded_only:
        inputs = plan_fields()
        with gr.Row():
            go = gr.Button("Run", variant="primary", elem_id="lab-run")
            halt = gr.Button("Stop", elem_id="lab-stop")
    status = gr.HTML(elem_id="lab-status", apply_default_css=False)
    with gr.Row():
        chosen = gr.Dropdown(
            list(available(recorded_only=recorded_only)),
            value=[],
            multiselect=True,
            label="Results shown",
            info="choose several to see them side by side",
            elem_id="lab-results",
            scale=3,
        )
        download = gr.DownloadButton("Save results (.zip)", interactive=False, elem_id="lab-save")
        if not recorded_only:
            upload = gr.UploadButton("Load results (.zip)", file_types=[".zip"], elem_id="lab-load")
    board = Board(NOTHING_RECORDED if recorded_only else NOTHING)
    show = show_chosen(chosen, download, status, board, tab, recorded_only=recorded_only)
    if not recorded_only:
        shown = {"status": status, "chosen": chosen, "download": download, "board": board}
        connect(hardware, inputs, go=go, halt=halt, **shown).then(**show)
        upload.upload(take_in, [upload, chosen], [chosen, status], show_progress="hidden", api_visibility="private")


def plan_fields() -> dict[str, gr.components.Component]:
    """Lay out what can be chosen to run."""
    fields = {}
    with gr.Row():
        fields["size"] = gr.Radio(list(SIZES.items()), value="quick", label="How much", elem_id="lab-size")
        fields["pair"] = gr.Dropdown(list(PAIRS), value="embedded", label="Models", allow_custom_value=True)
        fields["name"] = gr.Textbox(
            usual_name("quick"),
            label="Name of the results",
            info="a name that exists goes on with those results",
            elem_id="lab-name",
        )
    fields["tasks"] = gr.CheckboxGroup(
        [(label, task) for task, label in TASKS.items()], value=list(TASKS), label="Tasks", elem_id="lab-tasks"
    )
    fields["methods"] = gr.CheckboxGroup(
        [(method.title, id) for id, method in METHODS.items()],
        value=list(METHODS),
        label="Methods",
        info="vanilla always runs: the others are measured and checked against it",
        elem_id="lab-methods",
    )
    fields["size"].change(
        lambda size, name: usual_name(size) if name in map(usual_name, SIZES.values()) else gr.skip(),
        [fields["size"], fields["name"]],
        fields["name"],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    return fields


def usual_name(size: str) -> str:
    """What results are called if nobody calls them otherwise."""
    return f"{date.today()} {size}"


def show_chosen(chosen, download, status, board: Board, tab: gr.Tab, *, recorded_only: bool) -> dict:
    """Show what is chosen, and offer it as a zip; at first, the latest there is. Returns how to bind that."""
    scratch = scratch_folder()

    def look(names: list[str]) -> gr.update:
        found = list(available(recorded_only=recorded_only))
        return gr.update(choices=found, value=[name for name in names if name in found] or found[:1])

    def show(names: list[str]) -> Updates:
        found = available(recorded_only=recorded_only)
        names = [name for name in names if name in found]
        if not names:
            return board.emptied() | {download: gr.update(interactive=False)}
        try:
            results, *beside = [replace(load(found[name]), name=name) for name in names]
        except LabError as error:
            return {status: gr.update(value=mistake(str(error)))}
        updates = board.filled(results, sections(results, beside))
        first = names[0]
        if is_being_written(found[first]):
            # What could be saved now would be out of date with the next answer.
            return updates | {download: gr.update(interactive=False)}
        return updates | {download: gr.update(value=str(as_zip(found[first], scratch / first)), interactive=True)}

    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    outputs = [*board.components, download, status]
    binding = {"fn": show, "inputs": chosen, "outputs": outputs, "concurrency_limit": None, **quiet}
    tab.select(look, chosen, chosen, **quiet)
    chosen.change(**binding)
    return binding


def as_zip(path: Path, folder: Path) -> Path:
    """The results as a zip that may be sent, in this folder."""
    folder.mkdir(exist_ok=True)
    if path.is_file():
        return Path(shutil.copy(path, folder))
    file = folder / f"{path.name}.zip"
    file.write_bytes(zipped(path))
    return file


def take_in(path: str, chosen: list[str]) -> tuple[object, object]:
    """Keep a zip that was loaded among the user's results, and show it beside those chosen."""
    try:
        load(Path(path))
        name = keep_loaded(Path(path))
    except LabError as error:
        return gr.skip(), mistake(str(error))
    return gr.update(choices=list(available(recorded_only=False)), value=[*chosen, name]), ""


def connect(
    hardware: Hardware, inputs: dict, *, go, halt, status, chosen, download, board: Board
) -> gr.events.Dependency:
    """Bind the buttons to runs on the hardware. Returns the event of a run, for what follows its end."""
    jobs: dict[str, LabRun] = {}

    def measure(request: gr.Request, size, pair, name, tasks, methods) -> Iterator[Updates]:
        """Run what was chosen, and show it as it fills."""
        try:
            plan = make_plan(quick=size == "quick", tasks=checked("task", tasks), methods=checked("method", methods))
            job = LabRun(pair=pair, plan=plan, path=folder_named(name), client=keys_of_request(request))
            hardware.start(job)
        except (*USER_ERRORS, LabError) as error:
            yield {status: mistake(str(error))}
            return
        jobs[request.session_hash] = job
        yield {download: gr.update(interactive=False)}
        try:
            for events in hardware.batches(job):
                yield updates_of(events, status, board)
        finally:
            if jobs.get(request.session_hash) is job:
                del jobs[request.session_hash]
        names = list(available(recorded_only=False))
        yield {chosen: gr.update(choices=names, value=[job.path.name] if job.path.name in names else [])}

    def stop(request: gr.Request) -> None:
        """End this visitor's run; what is finished is kept."""
        if job := jobs.get(request.session_hash):
            job.stop.set()

    # Not queued, so that it reaches a run however many others wait.
    halt.click(stop, queue=False, api_visibility="private")
    return go.click(
        measure,
        list(inputs.values()),
        [status, chosen, download, *board.components],
        concurrency_limit=None,
        show_progress="hidden",
        api_visibility="private",
    )


def checked(what: str, values: list[str]) -> list[str]:
    """What was ticked. Raises LabError where nothing is."""
    if not values:
        raise LabError(f"Choose at least one {what}.")
    return values


def updates_of(events: list[dict], status, board: Board) -> Updates:
    """What these events change on the page; Gradio takes no update of nothing."""
    updates: Updates = {status: gr.skip()}
    for event in events:
        if event["type"] == "progress":
            updates[status] = progress_html(event["progress"])
        elif event["type"] == "results":
            updates |= board.filled(event["results"], event["sections"])
        elif event["type"] == "status" and event["text"]:
            updates[status] = in_lab(f"<p>{escape(event['text'])}</p>")
        elif event["type"] == "error":
            updates[status] = mistake(event["message"])
        elif event["type"] == "end":
            # The line's own end, of a job that was stopped while it waited, does not say how it was stopped.
            stopped = event.get("stopped", True)
            updates[status] = in_lab(f"<p>{'Stopped. What is finished is kept.' if stopped else 'Finished.'}</p>")
    return updates


def progress_html(progress: Progress) -> str:
    """How far a run is, as a bar and in words."""
    bar = f'<progress max="{progress.total or 1}" value="{progress.done}"></progress>'
    return in_lab(f'<p role="status">{bar} {escape(progress.words)}</p><p class="lab-note">{escape(progress.text)}</p>')


def mistake(sentence: str) -> str:
    return in_lab(f'<p class="lab-warning" role="alert">{escape(sentence)}</p>')
