"""The player: its keys, a live run that is held, and one whose server is lost."""

import json
import threading

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz.web.components import Visualizer, batch
from tests.e2e.pages import download, load, saved_to, send, shown
from tests.e2e.tiny_site import served
from tests.trace.made import events_of

LOST = "The connection to the server was lost; the earlier part is kept."


def test_keys_go_to_the_visualizer_used_last(page, traces):
    with gr.Blocks() as demo:
        gr.Textbox(label="Prompt")
        two = [Visualizer(elem_id="one"), Visualizer(elem_id="two")]
        values = [batch(method, 0, events_of(traces[method])) for method in ("vanilla", "rest")]
        gr.Button("Feed").click(lambda: values, None, two)
    at = [len(traces[method]["iterations"]) - 1 for method in ("vanilla", "rest")]
    roots = [page.locator(f"#{name} .dv") for name in ("one", "two")]

    def after_key(key, *moved):
        page.keyboard.press(key)
        for index, by in enumerate(moved):
            at[index] += by
            expect(roots[index]).to_have_attribute("data-shown", str(at[index]))

    with served(demo) as url:
        page.set_viewport_size({"width": 1280, "height": 1900})
        page.goto(url)
        page.get_by_role("button", name="Feed").click()
        for root in roots:
            expect(root).to_have_attribute("data-state", "done")
        page.mouse.move(5, 5)
        after_key("ArrowLeft", -1, 0)
        roots[1].locator(".dv-message").hover()
        after_key("ArrowLeft", 0, -1)
        roots[0].locator(".dv-message").click()
        after_key("ArrowLeft", -1, 0)
        roots[1].get_by_role("button", name="Step back").focus()
        after_key("ArrowLeft", 0, -1)
        page.get_by_label("Prompt").click()
        for key in ("ArrowLeft", "Home", "l", " "):
            after_key(key, 0, 0)
        assert page.get_by_label("Prompt").input_value() == "l "


def test_a_live_run_can_be_held_and_caught_up_with(plain_page, traces, tmp_path):
    page, events = plain_page, events_of(traces["duodecoding"])
    where, follow = page.locator(".dv-where"), page.get_by_role("button", name="Follow live")
    send(page, events[:11])
    expect(where).to_have_text("Following the run: iteration 9")
    page.keyboard.press(" ")
    expect(where).to_contain_text("Iteration 9 of 9 so far")
    page.keyboard.press("ArrowLeft")
    send(page, events[11:17])
    expect(where).to_contain_text("Iteration 8 of 15 so far")
    page.locator(".dv-slider").fill("3")
    expect(where).to_contain_text("Iteration 3 of 15 so far")
    load(page, saved_to(tmp_path, traces["vanilla"]))
    expect(page.locator(".dv-files-message")).to_contain_text("A run is in progress")
    held = json.loads(download(page, "Save trace", tmp_path).read_text())
    assert (len(held["iterations"]), held["end"]) == (16, None)
    page.locator(".dv-files-message").click()
    page.keyboard.press("Home")
    expect(where).to_contain_text("The prompt's pass")
    page.keyboard.press("l")
    expect(where).to_have_text("Following the run: iteration 15")
    expect(follow).to_be_hidden()
    page.keyboard.press(" ")
    expect(where).to_contain_text("Iteration 15 of 15 so far")
    follow.click()
    send(page, events[17:])
    last = len(traces["duodecoding"]["iterations"]) - 1
    expect(where).to_have_text(f"Iteration {last} of {last} after the prompt")
    expect(follow).to_be_hidden()


@pytest.fixture(scope="module")
def broken_page(traces):
    """A run whose batches stop coming half-way, until each is released: the URL, its events, the semaphore."""
    events, more = events_of(traces["duodecoding"]), threading.Semaphore(0)

    def stream():
        yield batch("run", 0, events[:9])
        for number, part in enumerate(([], events[9:]), 1):
            more.acquire()
            yield batch("run", number, part)

    with gr.Blocks() as demo:
        gr.Button("Run").click(stream, None, Visualizer())
    with served(demo) as url:
        yield url, events, more
        more.release(9)


def test_a_run_whose_server_is_lost_is_kept_and_goes_on_when_it_is_back(new_page, broken_page, traces, tmp_path):
    page, (url, events, more) = new_page(), broken_page
    page.clock.install()
    page.goto(url)
    page.get_by_role("button", name="Run", exact=True).click()
    message = page.locator(".dv-message")
    expect(message).to_have_text("Running.")
    # Before, the page's clock goes on as time does.
    page.clock.run_for(6_000)
    expect(message).to_have_text(LOST)
    shown(page, "state", "lost")
    expect(page.locator(".dv-where")).to_have_text("Iteration 7 of 7 after the prompt")
    page.keyboard.press("ArrowLeft")
    shown(page, "shown", 6)
    trace = traces["duodecoding"]
    half = {"header": trace["header"], "iterations": trace["iterations"][:8], "end": None}
    assert json.loads(download(page, "Save trace", tmp_path).read_text()) == half
    more.release()
    expect(message).to_have_text("Running.")
    more.release()
    shown(page, "state", "done")
    shown(page, "iterations", len(events) - 2)


def back_to_run(page, folder, trace, meanwhile=()):
    """Show a file instead of the run, and the run again."""
    load(page, saved_to(folder, trace))
    shown(page, "method", "vanilla")
    shown(page, "state", "done")
    send(page, list(meanwhile))
    page.get_by_role("button", name="Back to your run").click()
    shown(page, "method", "duodecoding")


def test_what_comes_while_a_file_is_shown_belongs_to_the_run(plain_page, traces, tmp_path):
    page, events, message = plain_page, events_of(traces["duodecoding"]), plain_page.locator(".dv-message")
    lost = {"type": "connection", "lost": True}
    send(page, [*events[:9], lost])
    expect(message).to_have_text(LOST)
    back_to_run(page, tmp_path, traces["vanilla"], [lost | {"lost": False}, *events[9:]])
    expect(message).to_contain_text("Finished")
    shown(page, "iterations", len(events) - 2)
    # One that failed says so again.
    send(page, [{"type": "reset"}, *events[:9], {"type": "error", "message": "The draft has ended."}])
    expect(message).to_have_text("The draft has ended.")
    back_to_run(page, tmp_path, traces["vanilla"])
    expect(message).to_have_text("The draft has ended.")
    shown(page, "state", "error")
