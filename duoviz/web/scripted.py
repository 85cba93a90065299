"""A Gradio component that one of the front end's entries draws."""

from collections.abc import Sequence

import gradio as gr

from duoviz.web.front import start


class Scripted(gr.HTML):
    """Fed by its value. entry, triggers: see `front.start`. root: the class of the element that its entry fills.

    What else it is given, its entry finds in its `props`.
    """

    def __init__(self, entry: str, triggers: Sequence[str] = (), *, root: str = "dv-root", **options):
        super().__init__(
            value="",
            html_template=f'<div class="{root}"></div>',
            elem_classes=f"of-{entry}",
            js_on_load=start(entry, triggers),
            apply_default_css=False,
            **options,
        )
