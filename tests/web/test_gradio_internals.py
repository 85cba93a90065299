"""What is touched of Gradio's own parts does what it did."""

import asyncio
import importlib
from contextlib import nullcontext

import gradio as gr
import pytest
from gradio.queueing import Queue

from duoviz.web import gradio_internals
from duoviz.web.start import quickly
from tests.web.visits import in_a_loop


@pytest.fixture
def demo():
    with gr.Blocks(analytics_enabled=False) as demo:
        gr.Button().click(lambda: None)
    return demo


@pytest.mark.parametrize("stubs", [False, True])
def test_it_is_imported_without_its_stubs(stubs, tmp_path, monkeypatch):
    name = f"component_with_{'' if stubs else 'no_'}stubs"
    (tmp_path / f"{name}.py").write_text("import gradio as gr\n\n\nclass Mine(gr.HTML):\n    EVENTS = ['go']\n")
    monkeypatch.syspath_prepend(tmp_path)
    with nullcontext() if stubs else quickly():
        importlib.import_module(name)
    assert (tmp_path / f"{name}.pyi").exists() == stubs


def test_no_table_of_events_is_made(demo, monkeypatch):
    gradio_internals.bound_queue(demo)
    monkeypatch.setattr(Queue, "_get_df", lambda records: pytest.fail("a table of events was made"))
    demo._queue.events_recorded = 10
    demo._queue.compute_analytics_summary([{"function": "f", "status": "success", "process_time": 1.0}])


def test_nothing_is_kept_of_a_session_that_is_forgotten(demo):
    queue = demo._queue
    queue.pending_event_ids_session["ann"] = {"one"}
    queue.pending_messages_per_session["ann"] = asyncio.Queue()
    assert not gradio_internals.delivered(demo, "ann", "one") and gradio_internals.delivered(demo, "ann", "two")
    in_a_loop(gradio_internals.forget(demo, "ann"))
    assert not queue.pending_event_ids_session and not queue.pending_messages_per_session
    assert gradio_internals.delivered(demo, "ann", "one")
