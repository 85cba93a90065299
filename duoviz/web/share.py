"""Sharing a tab, its fields and the iteration shown, as a link; done in the browser."""

import os
from typing import NamedTuple

import gradio as gr
from gradio.components import Component

from duoviz.web.components import Scripted
from duoviz.web.front import FRAME
from duoviz.web.visitors import AT_ONCE

# Suffixes of fields that download models or read folders; a link that sets one never starts a run.
REACHING = ("pair", "rest_datastore")


class Page(NamedTuple):
    """What a tab shares: its fields by name, the component that shows a run, and the button that starts one."""

    fields: dict[str, Component]
    visualizer: gr.HTML | None = None
    start: gr.Button | None = None


def field_kind(field: Component) -> dict:
    """How the browser reads a field from a link: its kind, default and choices."""
    if isinstance(field, gr.CheckboxGroup):
        return {"kind": "list", "default": field.value, "choices": [value for _, value in field.choices]}
    if isinstance(field, gr.Dropdown) and field.multiselect:
        return {"kind": "list", "default": field.value}
    if isinstance(field, gr.Radio) or (isinstance(field, gr.Dropdown) and not field.allow_custom_value):
        return {"kind": "choice", "default": field.value, "choices": [value for _, value in field.choices]}
    kinds = {gr.Checkbox: "flag", gr.Number: "number", gr.Dropdown: "text", gr.Textbox: "text"}
    return {"kind": kinds[type(field)], "default": field.value}


def site_of(pages: dict[str, Page]) -> dict:
    """All pages by their tabs' ids; the frame for other sites; on a Space the address of its page on the hub."""
    space = os.environ.get("SPACE_ID")
    return {
        "address": space and f"https://huggingface.co/spaces/{space}",
        "frame": FRAME,
        "pages": {
            tab: {
                "fields": {name: field_kind(field) | {"id": field.elem_id} for name, field in page.fields.items()},
                "visualizer": page.visualizer and page.visualizer.elem_id,
                "start": page.start and page.start.elem_id,
                "label": page.start and page.start.value,
                "reaching": [name for name in page.fields if name.endswith(REACHING)],
            }
            for tab, page in pages.items()
        },
    }


def share(bar: Scripted, tabs: gr.Tabs, pages: dict[str, Page]) -> None:
    """Bind the bar to the pages by tab id; a tab's elem_id is `tab-` and its id."""
    bar.props["site"] = site_of(pages)
    fields = [field for page in pages.values() for field in page.fields.values()]
    visualizers = [page.visualizer for page in pages.values() if page.visualizer]
    outputs = [tabs, bar, *visualizers, *fields]
    heard = "(...values) => { window.duoviz?.share?.hear(...values); }"
    gr.on([field.change for field in fields], None, fields, None, js=heard, **AT_ONCE)  # pyright: ignore[reportAttributeAccessIssue]
    bar.copylink(None, fields, bar, js="(...values) => window.duoviz.share.copyLink(...values)", **AT_ONCE)
    opened = bar.openlink(None, None, outputs, js="() => window.duoviz.share.openLink()", **AT_ONCE)
    opened.then(None, bar, None, js="(told) => window.duoviz.share.startRun(told)", **AT_ONCE)
