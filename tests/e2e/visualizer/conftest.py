"""The recorded runs, one of each method, shown in a real browser."""

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz.web.components import Visualizer, batch
from tests.e2e.tiny_site import served
from tests.trace.made import events_of
from tests.web.front.runs import TRACES


@pytest.fixture(scope="package")
def methods_page():
    """One button a method, which shows its run."""
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for method, trace in TRACES.items():
            value = batch(method, 0, events_of(trace))
            gr.Button(method).click(lambda value=value: value, None, visualizer)
    with served(demo) as url:
        yield url


VISUALIZER_ALONE = """async () => {
  const { mount } = await import("/web/front/visualizer/mount.js");
  mount(document.body.appendChild(document.createElement("div")), { subscribe(callback) { window.send = callback; } });
}"""


@pytest.fixture
def plain_page(modules):
    """The visualizer in a page without Gradio; `window.send` feeds it."""
    modules.evaluate(VISUALIZER_ALONE)
    expect(modules.locator(".dv")).to_have_attribute("data-state", "empty")
    return modules
