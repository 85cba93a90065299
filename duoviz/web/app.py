"""The Gradio app."""

from dataclasses import asdict
from pathlib import Path

import gradio as gr
from gradio.themes import Default

from duoviz import __version__
from duoviz.decoding import METHODS
from duoviz.folders import ASSETS
from duoviz.lab.plan import LOOKS
from duoviz.models.cores import available_cores, has_gpu
from duoviz.models.sizes import pair_in_words
from duoviz.recordings import ENDING, GAME
from duoviz.recordings import LESSONS as TRACES
from duoviz.web.bounds import KEEP_FOR, TIDY_EVERY
from duoviz.web.components import Scripted
from duoviz.web.front import ADDRESS, FONT_FACE, as_text, nested, publish, serve, serve_json, style
from duoviz.web.gradio_internals import bound_queue
from duoviz.web.lessons.course import read_course
from duoviz.web.pages.compare import compare_page
from duoviz.web.pages.live import live_page, worth_it
from duoviz.web.pages.results import results_page
from duoviz.web.session import Hardware
from duoviz.web.share import Page, share
from duoviz.web.visitors import AT_ONCE

LESSONS = ASSETS / "lessons"
IN_ONE_LINE = "A small model guesses ahead while a large one checks"
INTRO = (
    "**A small model (the *draft*) guesses the next words while a large one (the *target*) checks the guesses made "
    "before.** Right guesses are kept (✓), a wrong one is replaced (✗). The text is the target's own; only the speed "
    "changes. This is *DuoDecoding*, run for real: every run shown here was measured."
)

PAPER = (
    "The method: [DuoDecoding: Hardware-aware Heterogeneous Speculative Decoding with Dynamic Multi-Sequence Drafting]"
    "(https://arxiv.org/abs/2503.00784), arXiv 2503.00784. "
    f"duoviz {__version__} is an implementation of its own, under Apache-2.0."
)

NO_GPU = (
    "DuoDecoding is made for a target on a GPU, and this machine has none. Both models share its processor, so methods "
    "in which they alternate may be faster here, depending on the prompt. Race them in *Compare*. A browser on "
    "this machine also takes processor time, so it slows runs while it draws them."
)
ONE_CORE = (
    "This machine has one processor core for the demo: target and draft alternate on it, so nothing runs in parallel."
)
SANS = ["Inter", "ui-sans-serif", "system-ui", "sans-serif"]
MONO = ["ui-monospace", "Consolas", "monospace"]

THEME = Default(primary_hue="slate", neutral_hue="slate", font=SANS, font_mono=MONO).set(
    # What is written small, and on what is pressed, can be read (WCAG AA).
    body_text_color_subdued="*neutral_600",
    block_info_text_color="*neutral_600",
    # One radius, as in frame.css.
    block_radius="8px",
    container_radius="8px",
    input_radius="8px",
    button_large_radius="8px",
    button_medium_radius="8px",
    button_small_radius="8px",
    # One accent, which is no colour: these are for the models and the guesses. frame.css has it in the dark.
    color_accent="*primary_700",
    button_primary_background_fill="*primary_700",
    button_primary_background_fill_hover="*primary_800",
    button_primary_background_fill_dark="*primary_200",
    button_primary_background_fill_hover_dark="*primary_50",
    button_primary_text_color_dark="*primary_900",
)

METHOD_COLOURS = "".join(
    f".methods:has([value={name}]:checked) {{ --method: {look.colour}; }}\n" for name, look in LOOKS.items()
)
CSS = FONT_FACE + style("frame") + METHOD_COLOURS + style("ask") + style("present")
# A component's own style sheet would be read again with each of its values, and so all stand in one.
COMPONENTS = (
    nested("visualizer", "visualizer", "race", "learn")
    + nested("story", "visualizer")
    + nested("first_screen", "visualizer")
    + nested("race", "race")
    + nested("learn", "learn")
    + nested("game", "learn")
    + nested("results_view", "results")
    + nested("share", "share")
    + nested("forced", "visualizer", "race", "learn", "results")
)
# Before anything is drawn: frame.css says what depends on it.
FRAMED = 'document.documentElement.toggleAttribute("data-framed", window.parent !== window);'
# In pixels: what a share of the window's height is within what is zoomed, browsers do not agree on.
WINDOW = """
const measure = () => document.documentElement.style.setProperty("--window", `${innerHeight}px`);
measure();
addEventListener("resize", measure);
"""
SHEET = f"{ADDRESS}/{serve('components.css', COMPONENTS)}"
HEAD = f'<script>{FRAMED}{WINDOW}</script><link rel="stylesheet" href="{SHEET}">'


def learn_page(lessons: Path = LESSONS, traces: Path = TRACES, game: Path = GAME) -> Page:
    """Lay out the tab inside the Blocks in force. A link holds the lesson and its page.

    traces, game: the folders of the recorded runs that the course is about, and that its game is played on.
    """
    course = read_course(lessons, traces)
    address = f"{ADDRESS}/{serve_json('course', as_text(asdict(course)))}"
    recorded = [{method: f"{publish(folder)}/{method}{ENDING}" for method in METHODS} for folder in (traces, game)]
    learn = Scripted("learn", ["moved"], root="dl-root", course=address, recorded=recorded, elem_id="learn")
    lesson = gr.Dropdown(["", *(each["name"] for each in course.lessons)], value="", visible="hidden")
    page = gr.Number(1, visible="hidden")
    learn.moved(None, None, [lesson, page], js="() => window.duoviz.placeInCourse()", **AT_ONCE)
    return Page({"lesson": lesson, "page": page})


def build_app(hardware: Hardware) -> gr.Blocks:
    """The whole page."""
    with gr.Blocks(title="duoviz", analytics_enabled=False, delete_cache=(TIDY_EVERY, KEEP_FOR)) as demo:
        with gr.Row(elem_id="top"):
            gr.Markdown("# duoviz", elem_id="title")
            with gr.Accordion(IN_ONE_LINE, open=False, elem_id="about"):
                gr.Markdown(INTRO)
                gr.Markdown(f"**The models.** {pair_in_words()}", elem_id="models")
                gr.Markdown(worth_it(), elem_id="worth-it")
                gr.Markdown(PAPER)
                if not has_gpu():
                    gr.Markdown(ONE_CORE if len(available_cores()) == 1 else NO_GPU, elem_id="no-gpu")
                if hardware.limits.on_space:
                    gr.Markdown(hardware.limits.note(), elem_id="limits")
                for note in hardware.notes:
                    gr.Markdown(note, sanitize_html=True, elem_classes="changed-variable")
            # The button that makes links and what opens them; also what came of it, and the link.
            bar = Scripted("share", ["copylink", "openlink"], root="dv-share", elem_id="share", site={})
        with gr.Tabs() as tabs:
            with gr.Tab("Live", id="live", elem_id="tab-live"):
                heading("Live")
                pages = {"live": live_page(hardware)}
            with gr.Tab("Compare", id="compare", elem_id="tab-compare"):
                heading("Compare")
                pages["compare"] = compare_page(hardware)
                foot()
            with gr.Tab("Learn", id="learn", elem_id="tab-learn"):
                heading("Learn")
                pages["learn"] = learn_page()
                foot()
            with gr.Tab("Lab", id="lab", elem_id="tab-lab") as lab:
                heading("Lab")
                pages["lab"] = results_page(hardware, lab)
                foot()
        share(bar, tabs, pages)
    bound_queue(demo)
    return demo


def heading(tab: str) -> None:
    """A tab's name above the headings in it, for whoever goes through the page by these."""
    gr.HTML(f"<h2>{tab}</h2>", elem_classes="spoken")


def foot() -> None:
    """Where the method comes from, at the end of a tab; the stage of Live takes the whole window."""
    gr.Markdown(PAPER, elem_classes="foot")
