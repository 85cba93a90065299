"""The pages that are measured, and what tells when a frame is painted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import gradio as gr
from playwright.sync_api import Page

from duoviz.web import front
from duoviz.web.components import Visualizer
from duoviz.web.gradio_internals import calm
from duoviz.web.theme import COMPONENTS, HEAD
from duoviz.web.visitors import WATCHED
from tests.e2e.pages import KNOWING, PLAIN, answer_module

# The modules in a page of their own; what a frame has painted is told by `painted`, one time for each iteration.
PAGE = """<!doctype html><style>body { margin: 16px; font-family: sans-serif; } .page { %s }</style>
<div class="page"><div id="root"></div></div><script type="module">
import { mount } from "/visualizer/mount.js";
mount(document.getElementById("root"), { subscribe(callback) { window.send = callback; } });
</script>"""

PROBE = """() => {
  window.painted = [];
  window.longTasks = [];
  window.afterPaint = (act) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = act;
    port2.postMessage(null);
  };
  const root = document.querySelector(".dv");
  new MutationObserver(() => {
    const count = Number(root.dataset.iterations);
    afterPaint(() => {
      const now = performance.timeOrigin + performance.now();
      while (painted.length < count) painted.push(now);
    });
  }).observe(root, { attributes: true, attributeFilter: ["data-iterations"] });
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ entryTypes: ["longtask"] });
}"""


@contextmanager
def plain_page(browser) -> Iterator[Page]:
    """A page with the visualizer and the probe, without Gradio."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.route(f"{PLAIN}/**", partial(answer_module, html=PAGE % COMPONENTS + KNOWING))
    page.goto(f"{PLAIN}/")
    page.wait_for_selector(".dv")
    page.evaluate(PROBE)
    yield page
    page.close()


@contextmanager
def button_page(watch: Callable[[gr.Request], Iterator[str]]) -> Iterator[str]:
    """The address of a page with one button, which calls `watch` for the visualizer, as on the Live tab."""
    with gr.Blocks() as demo:
        gr.Button("Run").click(watch, None, Visualizer(), **WATCHED)
    calm(demo)
    routes = front.routes()
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, head=HEAD, app_kwargs={"routes": routes})
    try:
        yield url
    finally:
        demo.close()
