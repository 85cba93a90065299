"""The Gradio app."""

import gradio as gr

from duoviz.models.cores import available_cores
from duoviz.models.pairs import target_device
from duoviz.web.limits import limits_here
from duoviz.web.pages.live import live_page
from duoviz.web.session import QUEUE_LENGTH, Hardware
from duoviz.web.theme import CSS, THEME

INTRO = """
# duoviz
**DuoDecoding, run for real.** A small draft model guesses the next tokens on its own processor core
*while* the large target model checks the guesses before. You see both at work: what was guessed,
what was accepted, and who waited for whom. The guesses change only the speed: the text is the target's own.
"""

ONE_CORE = "This machine gives the demo one processor core: target and draft take turns on it, so nothing can overlap."

# Each run in the line holds one of Gradio's threads; Gradio's usual 40 are left for all else on the page.
THREADS = 1 + QUEUE_LENGTH + 40


def build_app(hardware: Hardware) -> gr.Blocks:
    """The whole page."""
    with gr.Blocks(title="duoviz", analytics_enabled=False) as demo:
        gr.Markdown(INTRO, elem_id="intro")
        if len(available_cores()) == 1 and target_device() == "cpu":
            gr.Markdown(ONE_CORE)
        if hardware.limits.on_space:
            gr.Markdown(hardware.limits.note(), elem_id="limits")
        with gr.Tab("Live"):
            live_page(hardware)
    return demo


def serve() -> None:
    """Build the app, begin to load the default pair, and serve until interrupted."""
    limits = limits_here()
    hardware = Hardware(limits)
    hardware.warm_up()
    # A Space is reached from outside its container.
    server_name = "0.0.0.0" if limits.on_space else None
    try:
        build_app(hardware).launch(theme=THEME, css=CSS, server_name=server_name, max_threads=THREADS, ssr_mode=False)
    finally:
        hardware.close()
