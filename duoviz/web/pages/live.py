"""The Live tab: a prompt, the settings, and the run as it happens."""

from collections.abc import Iterator

import gradio as gr

from duoviz.lab.answers import faster_of
from duoviz.lab.paper import TABLE_1
from duoviz.lab.plan import DUO, SPS, label_of
from duoviz.models.cores import lends_gpu
from duoviz.recordings import PROMPT, STORY, recorded_runs
from duoviz.runs import add_event, new_trace, summary, text_of
from duoviz.web.components import OF_METHOD, Visualizer
from duoviz.web.pages.fields import (
    Fields,
    method_field,
    own_fields,
    prompts_to_try,
    raw_field,
    sampling_fields,
    settings_from,
    size_fields,
)
from duoviz.web.results_store import averages, first_view_of, in_words
from duoviz.web.session import Hardware
from duoviz.web.share import Page
from duoviz.web.visitors import WATCHED, Visitors
from duoviz.workers.tasks import Run

RUN_IT = "Press Generate to run it."
# Settings that make a run the baseline.
VANILLA = {"method": "vanilla", "cores": "auto"}


def live_page(hardware: Hardware) -> Page:
    """Lay out the tab inside the Blocks in force."""
    with gr.Row(elem_id="ask"):
        prompt = gr.Textbox(
            label="Prompt", value=PROMPT, lines=1, max_lines=3, elem_id="prompt", container=False, scale=5
        )
        method = method_field("duodecoding", "Method", elem_id="method")
        go = gr.Button("Generate", variant="primary", elem_id="generate", min_width=100)
        halt = gr.Button("Stop", elem_id="stop", min_width=60)
        with gr.Accordion("Settings", open=False, elem_id="settings"):
            # Each field under its name on the command line.
            inputs = {"prompt": prompt, "method": method}
            with gr.Row():
                inputs |= size_fields(hardware.limits)
            inputs |= sampling_fields() | own_fields(hardware.limits, method) | {"raw": raw_field()}
            gr.Button("Close", elem_classes="close-drawer")
    prompts_to_try(prompt, inputs["pair"])  # pyright: ignore[reportArgumentType]
    opening = {"method": method.value, "told": RUN_IT, "averages": averages()}
    visualizer = Visualizer(recorded_runs(STORY), opening=opening, elem_id="visualizer")
    method.change(None, method, None, js=OF_METHOD, queue=False, api_visibility="private")
    # The visualizer presses it.
    vanilla = gr.Button("Run vanilla", elem_id="run-vanilla")
    connect(hardware, inputs, go=go, vanilla=vanilla, halt=halt, visualizer=visualizer)
    return Page(inputs, visualizer, go)


# Of results that come along, where they were measured, and with which target.
MEASURED = {
    "two-cores": ("on two Intel cores", "SmolLM2-135M"),
    "with-an-int8-target": ("on two Intel cores, in int8", "SmolLM2-135M"),
    "with-AMD-cores": ("on two AMD cores", "SmolLM2-135M"),
    "with-a-larger-target": ("on two AMD cores, larger target", "SmolLM2-135M padded to the size of SmolLM2-360M"),
    "with-an-H100": ("on an H100, draft on its CPU", "SmolLM2-135M"),
}
IN_PAPER = "in the paper, on a GPU"
# Of `faster_of`, in a sentence.
ANSWERS = {"neither": "neither is worth it", "no difference": "both are equally fast within noise"}


def measured() -> list[tuple[str, ...]]:
    """Where each of the results that come along was measured, the target, vanilla's tokens/s, how many draft steps take
    as long as the target's pass, φ of DuoDecoding and of SpS, and which of both is faster; then the paper's. Empty
    without results.
    """
    rows = []
    for name, (where, target) in MEASURED.items():
        found, view = averages(name), first_view_of(name)
        if view and {"DuoDecoding", "SpS"} <= found.keys():
            pays, alone = view["overview"]["pays"], next(iter(view["overview"]["speeds"]["base"].values()))
            phis = [in_words(found[method]) for method in ("DuoDecoding", "SpS")]
            rows.append((where, target, f"{alone:.1f}", f"{pays['start']['steps']:.1f}", *phis, pays["faster"]))
    for target, lanes in TABLE_1.items() if rows else ():
        phis = {label_of(lane): lanes[lane][-1] for lane in (DUO, SPS)}
        shown = (f"{phi:.2f}" for phi in phis.values())
        rows.append((IN_PAPER, target, f"{lanes['vanilla'][-2]:.1f}", "–", *shown, faster_of(phis)))
    return rows


def worth_it() -> str:
    """Which method is worth it on two cores, there in int8, on a GPU with a small target, and in the paper; "" without
    results.
    """
    told = {name: where for name, (where, _) in MEASURED.items()}
    shown = {
        told["two-cores"]: "",
        told["with-an-int8-target"]: "",
        told["with-an-H100"]: ", with a small target",
        IN_PAPER: " with a 7B target",
    }
    said = [
        f"{where[0].upper()}{where[1:]}{shown[where]} ({target}): {ANSWERS.get(faster, f'{faster} is faster')}, "
        f"φ {duo} with DuoDecoding and {in_turn} with SpS{', not measured by us' * (where == IN_PAPER)}."
        for where, target, *_, duo, in_turn, faster in measured()
        if where in shown
    ]
    if not said:
        return ""
    return (
        "**Is it worth implementing?** φ is the speed-up over the large model alone; SpS takes turns. "
        f"{' '.join(said)} Where nothing else stands, our target is in float32. The *Lab* has the map."
    )


def connect(hardware: Hardware, inputs: Fields, *, go, vanilla, halt, visualizer) -> None:
    """Bind the buttons and the endpoint `generate` to runs on the hardware, which keeps its own line."""
    visitors = Visitors(hardware)

    def ask(prompt, method, pair, raw, **chosen) -> Run:
        settings = settings_from(hardware.limits, **chosen)
        return Run(pair=pair, method=method, prompt=prompt, settings=settings, raw=raw)

    def watch(request: gr.Request, **sent) -> Iterator[str]:
        """Stream a run into the visualizer, and then how fast vanilla is at its best here."""
        # On ZeroGPU a visitor's own minutes would pay for it.
        alone = None if sent["method"] == "vanilla" or lends_gpu() else lambda: ask(**sent | VANILLA)
        asked = [{"type": "asked", "method": sent["method"]}]
        yield from visitors.watch(request, lambda: ask(**sent), asked, alone=alone)

    def watch_vanilla(request: gr.Request, **sent) -> Iterator[str]:
        """Stream vanilla at its best here, on the same prompt and settings."""
        yield from watch(request, **sent | VANILLA)

    def generate(request: gr.Request, **sent) -> Iterator[dict | None]:
        """Stream a run to a client: the text so far, and last what `--json` prints."""
        trace = new_trace()

        def progress(events: list[dict]) -> dict:
            for event in events:
                if event["type"] in ("header", "iteration", "end"):
                    add_event(trace, event)
            return {"text": text_of(trace["iterations"])}

        def result(ended: dict) -> dict:
            return summary(trace, ended["metrics"])

        yield from visitors.answer(request, lambda: ask(**sent), progress, result)

    submit = inputs["prompt"].submit  # pyright: ignore[reportAttributeAccessIssue]
    # A run may be started while another one goes on, which it ends: Gradio is not to drop what is pressed meanwhile.
    options = {"inputs_kwargs": inputs, "trigger_mode": "multiple", **WATCHED}
    gr.on([go.click, submit], watch, None, visualizer, **options)  # pyright: ignore[reportArgumentType]
    vanilla.click(watch_vanilla, None, visualizer, **options)
    # Not queued, so that it reaches a run however many others wait.
    halt.click(visitors.stop, queue=False, api_visibility="private")
    visitors.open("generate", generate, inputs, ask)
