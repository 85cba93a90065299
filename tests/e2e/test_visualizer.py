"""The visualizer component in a real browser: what a hostile model could write shows as text."""

import itertools

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.trace.metrics import metrics
from duoviz.web.visualizer import Visualizer, batch
from tests.conftest import tiny_pair

HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "${window.hacked=2}",
    "{{x}}",
    "</script><script>window.hacked=3</script>",
    "x" * 10_000,
    "\u202eright to left",
    "\u200b\u200d",
    "\x07\x1b[31m",
]


def hostile_events():
    """A real run of a tiny pair, with each text replaced by a hostile one."""
    trace = runner.collect(runner.stream(tiny_pair(noise=0.3), "duodecoding", "hello", Settings(max_new_tokens=40)))
    texts = itertools.cycle(HOSTILE)
    for each in trace["iterations"]:
        for name in ("committed", "checked", "drafted", "candidates"):
            for entry in each[name]:
                entry["text"] = next(texts)
    trace["end"] = runner.end(trace["iterations"], "length")
    iterations = [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
    end = {"type": "end", "end": trace["end"], "metrics": metrics(trace)}
    return trace, [{"type": "header", "header": trace["header"]}, *iterations, end]


@pytest.fixture(scope="module")
def hostile_page():
    trace, events = hostile_events()
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        gr.Button("Feed").click(lambda: batch("run", 0, events), None, visualizer)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url, trace
    demo.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_show_as_text(page, hostile_page, width):
    url, trace = hostile_page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(url)
    page.get_by_role("button", name="Feed").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=20_000)
    shown = "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))
    for text in HOSTILE[:4]:
        assert text in trace["end"]["text"]
        assert text in shown
    for _ in range(len(trace["iterations"])):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".dv img, .dv script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert not page.errors


CHARTS = {
    "vanilla": [],
    "speculative": ["γ draft budget"],
    "duodecoding": ["k sequences", "γ draft budget", "θ threshold"],
}


@pytest.fixture(scope="module")
def methods_page():
    """One button a method, which shows a real run of it by a tiny pair."""
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for method in CHARTS:
            trace = runner.collect(runner.stream(tiny_pair(noise=0.3), method, "hello", Settings(max_new_tokens=20)))
            events = [{"type": "header", "header": trace["header"]}]
            events += [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
            events.append({"type": "end", "end": trace["end"], "metrics": metrics(trace)})
            value = batch(method, 0, events)
            gr.Button(method).click(lambda value=value: value, None, visualizer)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url
    demo.close()


@pytest.mark.parametrize("method", CHARTS)
def test_only_what_a_method_has_is_drawn(page, methods_page, method):
    page.goto(methods_page)
    page.get_by_role("button", name=method, exact=True).click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=20_000)
    shown = page.locator(".dv-chart:visible .dv-subheading").evaluate_all(
        "titles => titles.map(t => t.firstChild.data)"
    )
    histogram = ["Iterations by k"] if "k sequences" in CHARTS[method] else []
    assert shown == CHARTS[method] + histogram
    assert page.get_by_text("This method has no sequences").is_visible() == (not CHARTS[method])
    assert not page.errors
