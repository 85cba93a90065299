"""The Learn tab: lessons on recorded runs."""

from pathlib import Path

import gradio as gr

from duoviz.folders import ASSETS
from duoviz.recordings import FOLDER as TRACES
from duoviz.web.components import Learn
from duoviz.web.lessons.course import read_course
from duoviz.web.share import Page
from duoviz.web.visitors import AT_ONCE

LESSONS = ASSETS / "lessons"


def learn_page(lessons: Path = LESSONS, traces: Path = TRACES) -> Page:
    """Lay out the tab inside the Blocks in force. A link holds the lesson and its page."""
    course = read_course(lessons, traces)
    learn = Learn(course, traces, elem_id="learn")
    lesson = gr.Dropdown(["", *(each["name"] for each in course.lessons)], value="", visible="hidden")
    page = gr.Number(1, visible="hidden")
    learn.moved(None, None, [lesson, page], js="() => window.duoviz.placeInCourse()", **AT_ONCE)
    return Page({"lesson": lesson, "page": page})
