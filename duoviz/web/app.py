"""The Gradio app."""

import gradio as gr

from duoviz.models.cores import available_cores
from duoviz.models.pairs import target_device
from duoviz.web.pages.live import live_page
from duoviz.web.session import Hardware
from duoviz.web.theme import CSS, THEME

INTRO = """
# duoviz
**DuoDecoding, run for real.** A small draft model guesses the next tokens on its own processor core
*while* the large target model checks the guesses before. You see both at work: what was guessed,
what was accepted, and who waited for whom. The text is exactly what the target writes alone.
"""

# Visitors who may wait for the one place on the hardware.
QUEUE_LENGTH = 20


ONE_CORE = "This machine gives the demo one processor core: target and draft take turns on it, so nothing can overlap."


def build_app(hardware: Hardware) -> gr.Blocks:
    """The whole page."""
    with gr.Blocks(title="duoviz", analytics_enabled=False) as demo:
        gr.Markdown(INTRO, elem_id="intro")
        if len(available_cores()) == 1 and target_device() == "cpu":
            gr.Markdown(ONE_CORE)
        with gr.Tab("Live"):
            live_page(hardware)
    return demo.queue(max_size=QUEUE_LENGTH)


def serve(**options) -> None:
    """Build the app, begin to load the default pair, and serve until interrupted; `options` go to Gradio's launch."""
    hardware = Hardware()
    hardware.warm_up()
    try:
        build_app(hardware).launch(theme=THEME, css=CSS, **options)
    finally:
        hardware.close()
