"""Results of the Lab as a Gradio component: `results_view/mount_results.js` fed by the component's value."""

import json
from pathlib import Path

import gradio as gr

from duoviz.web.script import script

HERE = Path(__file__).parent

# Which part is open goes to the page's field.
GLUE = """
import { mountResults } from "./results_view/mount_results.js";
let part = "";
const show = mountResults(element.querySelector(".ll-root"), (name) => {
  part = name;
  trigger("opened");
});
window.duovizLab = { part: () => part };
const take = () => {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  part = value.opened ?? part;
  show({ ...value, opened: part });
};
watch("value", take);
take();
"""


class ResultsView(gr.HTML):
    """Shows results of the Lab. Feed it `view_value(…)` strings."""

    def __init__(self, **options):
        super().__init__(
            value="",
            html_template='<div class="ll-root"></div>',
            css_template=(HERE / "results_view.css").read_text(encoding="utf-8"),
            js_on_load=script(GLUE),
            apply_default_css=False,
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def view_value(overview: dict | None, parts: dict[str, dict] | None = None, opened: str | None = "") -> str:
    """One value of the component: an `overview`, the parts (see `lab.view`) that can be opened, and which one is;
    None: that which was."""
    row = parts and [{"name": name, "title": part["title"], "picture": part["picture"]} for name, part in parts.items()]
    text = json.dumps({"overview": overview, "parts": row, "opened": opened}, ensure_ascii=False, separators=(",", ":"))
    # No markup of anybody's text leaves the server as markup.
    return text.replace("<", "\\u003c")
