"""The visualizer as a Gradio component: `visualizer/mount.js` fed by the component's value."""

import json
from pathlib import Path

import gradio as gr

from duoviz.web.published import publish
from duoviz.web.replay import replay_parts
from duoviz.web.script import CSS, script

# The value is a JSON string {run, seq, events}; a new run id or seq makes every value a new one.
GLUE = """
import { mount } from "./visualizer/mount.js";
import { createReceiver } from "./visualizer/receiver.js";
import { PAGE_KEYS } from "./visualizer/help.js";
import { createOpening } from "./visualizer/opening.js";
import { keepRun, takeKeptRun } from "./visualizer/kept.js";
const receiver = createReceiver();
const options = { replayParts: () => server.one_file(), pageKeys: PAGE_KEYS };
const shown = mount(element.querySelector(".dv-root"), receiver, options);
const address = props.recording ? encodeURI(`${window.gradio_config.root}${props.recording}`) : null;
const opening = createOpening(receiver, address, props.told);
const take = () => {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  if (!value.view) return receiver.take(value);
  receiver.holdNext(value.view.iteration);
  if (value.view.recording !== null) opening(value.view.recording);
};
watch("value", take);
take();
// The element's own id is another one each time the page is loaded.
const key = `duoviz ${element.parentElement.closest("[id]")?.id}`;
addEventListener("pagehide", () => {
  if (receiver.isOpen()) keepRun(key, shown.run);
});
takeKeptRun(key).then((events) => {
  if (!events) opening(null);
  else if (!receiver.isOpen()) events.forEach(receiver.send);
});
"""


class Visualizer(gr.HTML):
    """Shows a run: text, tree, timeline, k and θ. Feed it `batch(…)` strings.

    recording: a trace file that is shown before the first run, and `told`, the sentence that stands with it.
    """

    def __init__(self, *, recording: Path | None = None, told: str = "", **options):
        # Gradio asks its components for their arguments by name, and takes one that it does not find for an event.
        self.recording = f"{publish(recording.parent)}/{recording.name}" if recording else ""
        self.told = told
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=CSS,
            js_on_load=script(GLUE),
            apply_default_css=False,
            server_functions=[one_file],
            recording=self.recording,
            told=told,
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def one_file(_asked: object) -> tuple[str, str]:
    """For the browser, which puts a trace between the two parts."""
    return replay_parts()


def batch(run: str, number: int, events: list[dict]) -> str:
    """One value of the component; `number` counts the values of a run."""
    text = json.dumps({"run": run, "seq": number, "events": events}, ensure_ascii=False, separators=(",", ":"))
    # No markup of the model's leaves the server as markup.
    return text.replace("<", "\\u003c")
