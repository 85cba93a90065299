"""The course as a Gradio component: `front/entries/learn.js` beside the visualizer, on recorded runs."""

from dataclasses import asdict
from pathlib import Path

from duoviz.decoding import METHODS
from duoviz.recordings import ENDING
from duoviz.web.front import ADDRESS, as_text, serve_json
from duoviz.web.lessons.course import Course
from duoviz.web.published import publish
from duoviz.web.scripted import Scripted


class Learn(Scripted):
    """Shows a course. traces: the folder of the recorded runs that it is about."""

    def __init__(self, course: Course, traces: Path, **options):
        lessons = f"{ADDRESS}/{serve_json('course', as_text(asdict(course)))}"
        runs = {method: f"{publish(traces)}/{method}{ENDING}" for method in METHODS}
        super().__init__("learn", ["moved"], root="dl-root", course=lessons, traces=runs, **options)
