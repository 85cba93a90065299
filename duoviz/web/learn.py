"""The course as a Gradio component: `front/entries/learn.js` beside the visualizer, on recorded runs."""

from dataclasses import asdict
from pathlib import Path

import gradio as gr

from duoviz.decoding import METHODS
from duoviz.recordings import ENDING
from duoviz.web.front import ADDRESS, as_text, serve_json, start
from duoviz.web.lessons.lesson import Course
from duoviz.web.published import publish


class Learn(gr.HTML):
    """Shows a course. traces: the folder of the recorded runs that it is about."""

    def __init__(self, course: Course, traces: Path, **options):
        super().__init__(
            value="",
            html_template='<div class="dl-root"></div>',
            elem_classes="of-learn",
            js_on_load=start("learn", "moved"),
            apply_default_css=False,
            course=f"{ADDRESS}/{serve_json('course', as_text(asdict(course)))}",
            traces={method: f"{publish(traces)}/{method}{ENDING}" for method in METHODS},
            **options,
        )

    def api_info(self):
        return {"type": "string"}
