"""The course as a Gradio component: `learn/course.js` beside the visualizer, on recorded runs."""

import json
from dataclasses import asdict
from pathlib import Path

import gradio as gr

from duoviz.recordings import ENDING
from duoviz.web.lessons.lesson import Course
from duoviz.web.published import publish
from duoviz.web.script import CSS, script

HERE = Path(__file__).parent

# Where the reader is goes to the page's fields, for links to hold it.
GLUE = f"""
import {{ mountCourse }} from "./learn/course.js";
import {{ fetchRecording }} from "./visualizer/opening.js";
const addressOf = (method) => encodeURI(`${{window.gradio_config.root}}${{props.traces}}/${{method}}{ENDING}`);
let place = null;
mountCourse(element.querySelector(".dl-root"), JSON.parse(props.value), {{
  fetchTrace: (method) => fetchRecording(addressOf(method)),
  moved(to) {{ place = to; trigger("moved"); }},
}});
window.duovizLearn = {{ place: () => [place.lesson, place.page] }};
"""


class Learn(gr.HTML):
    """Shows a course. traces: the folder of the recorded runs that it is about."""

    def __init__(self, course: Course, traces: Path, **options):
        super().__init__(
            value=course_text(course),
            html_template='<div class="dl-root"></div>',
            css_template=CSS + (HERE / "learn.css").read_text(encoding="utf-8"),
            js_on_load=script(GLUE),
            apply_default_css=False,
            traces=publish(traces),
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def course_text(course: Course) -> str:
    """The course for the browser. No markup, of a model's or a teacher's, leaves the server as markup."""
    return json.dumps(asdict(course), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
