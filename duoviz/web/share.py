"""Sharing: a tab, its fields and the iteration shown, as a link or a settings file; all in the browser."""

import os
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from duoviz.web.script import script

HERE = Path(__file__).parent

# How the names of the settings end with which a run reaches for the hub or a folder: a link that changes one of them
# starts nothing by itself.
REACHING = ("pair", "rest_datastore")

# What the events below call. A link is taken up when the bar has come, and when another is followed on the open page.
GLUE = """
import { createBar } from "./share/bar.js";
import { limitKeys } from "./share/limits.js";
import { copyLink, openFile, openLink, selectedTab, startRun } from "./share/page.js";
const site = props.site;
limitKeys(() => selectedTab(site));
window.duovizShare = {
  copylink: (...values) => copyLink(values, site),
  openlink: () => openLink(site),
  openfile: () => openFile(site),
  start: startRun,
};
const tell = createBar(element.querySelector(".dv-share"), trigger);
watch("value", () => tell(JSON.parse(props.value)));
"""


class Page(NamedTuple):
    """What a tab shares: its fields by name, the component that shows their run, and the button that starts one."""

    fields: dict[str, gr.components.Component]
    visualizer: gr.HTML | None = None
    start: gr.Button | None = None


class ShareBar(gr.HTML):
    """The buttons that make and open links and settings files; what became of it, and the link."""

    def __init__(self, **options):
        super().__init__(
            value="",
            html_template='<div class="dv-share"></div>',
            css_template=(HERE / "share.css").read_text(encoding="utf-8"),
            js_on_load=script(GLUE),
            apply_default_css=False,
            elem_id="share",
            site={},
            **options,
        )

    def api_info(self):
        return {"type": "string"}


def field_kind(field: gr.components.Component) -> dict:
    """A field as the browser reads it from a link: its kind, default and choices."""
    if isinstance(field, gr.Radio) or (isinstance(field, gr.Dropdown) and not field.allow_custom_value):
        return {"kind": "choice", "default": field.value, "choices": [value for _, value in field.choices]}
    kinds = {gr.Checkbox: "flag", gr.Number: "number", gr.Dropdown: "text", gr.Textbox: "text"}
    return {"kind": kinds[type(field)], "default": field.value}


def site_of(pages: dict[str, Page]) -> dict:
    """The pages by their tabs' ids, and on a Space the address that leads to the page itself."""
    return {
        "host": os.environ.get("SPACE_HOST", ""),
        "pages": {
            tab: {
                "fields": {name: field_kind(field) for name, field in page.fields.items()},
                "visualizer": page.visualizer and page.visualizer.elem_id,
                "start": page.start and page.start.elem_id,
                "reaching": [name for name in page.fields if name.endswith(REACHING)],
            }
            for tab, page in pages.items()
        },
    }


def share(bar: ShareBar, tabs: gr.Tabs, pages: dict[str, Page]) -> None:
    """Bind the bar to the pages; a tab's id is its key, and its elem_id the same after `tab-`."""
    bar.props["site"] = site_of(pages)
    fields = [field for page in pages.values() for field in page.fields.values()]
    visualizers = [page.visualizer for page in pages.values() if page.visualizer]
    outputs = [tabs, bar, *visualizers, *fields]
    private = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    bar.copylink(None, fields, bar, js="(...values) => window.duovizShare.copylink(...values)", **private)
    bar.openfile(None, None, outputs, js="() => window.duovizShare.openfile()", **private)
    opened = bar.openlink(None, None, outputs, js="() => window.duovizShare.openlink()", **private)
    opened.then(None, bar, None, js="(told) => window.duovizShare.start(told)", **private)
