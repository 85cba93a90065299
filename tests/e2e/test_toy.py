"""A method that a test adds in one object: drawn by a page that was built before it was known."""

import gradio as gr
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.web.visualizer import Visualizer, batch
from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.tiny_site import served
from tests.tiny import tiny_engine
from tests.toy import TOY


def test_its_own_words_are_shown(page, monkeypatch):
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        monkeypatch.setitem(METHODS, TOY.id, TOY)
        trace = runner.collect(runner.stream(tiny_engine(), "again", "hello", Settings(max_new_tokens=12)))
        gr.Button("Feed").click(lambda: batch("run", 0, events_of(trace)), None, visualizer)
    with served(demo) as url:
        page.goto(url)
        page.get_by_role("button", name="Feed").click()
        expect(page.locator(".dv")).to_have_attribute("data-state", "done")
        page.locator(".dv").press("Home")
        page.locator(".dv").press("ArrowRight")
        expect(page.locator(".dv-sentence")).to_contain_text("2 echoes were heard; the target")
        expect(page.locator(".dv-tree-drawing")).to_contain_text("said again, now checked")
        legend = page.locator(".dv-legend-list").first
        expect(legend).to_contain_text("token said again")
        expect(legend).not_to_contain_text("from the draft")
        assert page.locator(".dv-number:visible").count() == 6
        assert "said again" in page.locator("g.dv-node[data-source=echo] title").first.text_content()
