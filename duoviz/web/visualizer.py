"""The visualizer as a Gradio component: `visualizer/mount.js` fed by the component's value."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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
const underRoot = ([method, address]) => [method, encodeURI(`${window.gradio_config.root}${address}`)];
const addresses = Object.fromEntries(Object.entries(props.opening.addresses).map(underRoot));
let isRestored = false;
const isFree = () => receiver.isNew() && !isRestored && (shown.state.recorded || shown.state.header === null);
const opening = createOpening(receiver, addresses, { ...props.opening, isFree });
window.duovizOpening = opening;
const take = () => {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  if (!value.view) {
    element.dataset.run = value.run;
    return receiver.take(value);
  }
  receiver.holdNext(value.view.iteration);
  if (value.view.recording !== null) opening.at(value.view.recording, value.view.method);
};
watch("value", take);
take();
// The element's own id is another one each time the page is loaded.
const key = `duoviz ${element.parentElement.closest("[id]")?.id}`;
addEventListener("pagehide", () => {
  if (receiver.isOpen()) keepRun(key, shown.run);
});
takeKeptRun(key).then((events) => {
  isRestored = events !== null;
  if (!isRestored) opening.begin();
  else if (!receiver.isOpen()) events.forEach(receiver.send);
});
"""


# What a script calls when another method is chosen: its recorded run is shown, where nothing of the visitor's is.
OF_METHOD = "(method) => { window.duovizOpening?.of(method); }"


class Opening(NamedTuple):
    """Recorded runs by their methods, the method whose run is shown first, and the sentence that stands with it."""

    files: Mapping[str, Path]
    method: str
    sentence: str


def addressed(opening: Opening) -> dict:
    """As the browser gets it: the address of each method's recording."""
    addresses = {method: f"{publish(file.parent)}/{file.name}" for method, file in opening.files.items()}
    return {"addresses": addresses, "method": opening.method, "told": opening.sentence}


class Visualizer(gr.HTML):
    """Shows a run: text, tree, timeline, k and θ. Feed it `batch(…)` strings.

    opening: what is shown before the first run, see `Opening`.
    """

    def __init__(self, *, opening: Opening | None = None, **options):
        # Gradio asks its components for their arguments by name, and takes one that it does not find for an event.
        self.opening = addressed(opening or Opening({}, "", ""))
        super().__init__(
            value="",
            html_template='<div class="dv-root"></div>',
            css_template=CSS,
            js_on_load=script(GLUE),
            apply_default_css=False,
            server_functions=[one_file],
            opening=self.opening,
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
