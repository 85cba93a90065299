"""What is touched of Gradio's own parts is where it was, and does what it did."""

import asyncio
import importlib
import inspect
from contextlib import nullcontext

import gradio as gr
import pytest
from gradio.queueing import Queue
from gradio.routes import App

from duoviz.web import gradio_internals
from duoviz.web.start import quickly
from tests.web.visits import in_a_loop

CHECKED_WITH = "6.31.0"
QUEUE = (
    "sleep_when_free", "progress_update_sleep_when_free", "ANALYTICS_MAX_EVENTS", "ANAYLTICS_CACHE_FREQUENCY",
    "pending_event_ids_session", "pending_messages_per_session",
)  # fmt: skip
ROUTES = (
    "/queue/join", "/queue/data", "/call/v2/{api_name}", "/call/{api_name}", "/call/v2/{api_name}/{event_id}",
    "/call/{api_name}/{event_id}", "/cancel", "/reset", "/run/{api_name}", "/upload",
    "/upload_progress", "/monitoring", "/monitoring/summary", "/gradio_api/deep_link",
)  # fmt: skip
MOVED = (
    f"Gradio {gr.__version__} has moved {{}}, which gradio_internals.py touches as it was in {CHECKED_WITH}: "
    "read that module, and find the new place or do without."
)


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
    assert (tmp_path / f"{name}.pyi").exists() == stubs, MOVED.format("create_or_modify_pyi")


def test_the_parts_are_there(demo):
    for name in QUEUE:
        assert hasattr(demo._queue, name), MOVED.format(f"Queue.{name}")
    assert list(inspect.signature(Queue.clean_events).parameters) == ["self", "session_hash", "event_id"], MOVED.format(
        "the arguments of Queue.clean_events"
    )


def test_the_gate_knows_each_route_by_its_name():
    source = inspect.getsource(App.create_app)
    for route in ROUTES:
        assert f'"{route}"' in source, MOVED.format(f"the route {route}")


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
