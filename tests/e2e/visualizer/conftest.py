"""Real runs of a tiny pair, one of each method, shown in a real browser."""

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.web.visualizer import Visualizer, batch
from tests.benchmarks.visualizer.traces import events_of
from tests.decoding.proposals import tokens
from tests.decoding.stores import build, random_sequences
from tests.e2e.tiny_site import served
from tests.tiny import VOCABULARY, run, tiny_engine
from tests.trace.made import evenly_timed

OWN_SETTINGS = {"prompt_lookup": {"lookup_ngram": 2}, "rest": {"rest_shortest": 1}}
PROMPT = "hello hello"


def datastore_of(folder):
    """A datastore of what the tiny target writes and of other texts."""
    engine = tiny_engine()
    ways = [Settings(max_new_tokens=60, temperature=temperature, seed=1) for temperature in (0.3, 0.6, 1.2)]
    written = [tokens(run(engine, "vanilla", engine.pair.encode(PROMPT), settings)) for settings in ways]
    return build(written + random_sequences(0, tokens=VOCABULARY), folder)


@pytest.fixture(scope="package")
def traces(tmp_path_factory):
    """A real run of each method by a tiny pair."""
    store = datastore_of(tmp_path_factory.mktemp("visualizer") / "store")
    runs = {}
    for method in METHODS:
        settings = Settings(max_new_tokens=32, rest_datastore=str(store), **OWN_SETTINGS.get(method, {}))
        runs[method] = evenly_timed(runner.collect(runner.stream(tiny_engine(noise=0.3), method, PROMPT, settings)))
    return runs


@pytest.fixture(scope="package")
def methods_page(traces):
    """One button a method, which shows its run."""
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for method, trace in traces.items():
            value = batch(method, 0, events_of(trace))
            gr.Button(method).click(lambda value=value: value, None, visualizer)
    with served(demo) as url:
        yield url


VISUALIZER_ALONE = """async () => {
  const { mount } = await import("http://plain.test/visualizer/mount.js");
  mount(document.body.appendChild(document.createElement("div")), { subscribe(callback) { window.send = callback; } });
}"""


@pytest.fixture
def plain_page(modules):
    """The visualizer in a page without Gradio; `window.send` feeds it."""
    modules.evaluate(VISUALIZER_ALONE)
    expect(modules.locator(".dv")).to_have_attribute("data-state", "empty")
    return modules
