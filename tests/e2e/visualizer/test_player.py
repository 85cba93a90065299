"""The player: its keys, a live run that is held, and one that is lost, fails, or goes on behind a file."""

import json

import gradio as gr
from playwright.sync_api import expect

from duoviz.web.components import Visualizer, batch
from tests.e2e.pages import download, is_at, load, move_to, press, saved_to, send, shown
from tests.e2e.tiny_site import served
from tests.trace.made import events_of
from tests.web.front.runs import TRACES


def test_keys_go_to_the_visualizer_used_last(page):
    runs = [TRACES["vanilla"], TRACES["rest"]]
    with gr.Blocks() as demo:
        gr.Textbox(label="Prompt")
        two = [Visualizer(elem_id=name) for name in ("one", "two")]
        values = [batch("run", 0, events_of(run)) for run in runs]
        gr.Button("Feed").click(lambda: values, None, two)
    at = [len(run["iterations"]) - 1 for run in runs]
    roots = [page.locator(f"#{name} .dv") for name in ("one", "two")]

    def after_left(used, act):
        act()
        page.keyboard.press("ArrowLeft")
        at[used] -= 1
        for root, iteration in zip(roots, at, strict=True):
            is_at(root, shown=iteration)

    with served(demo) as url:
        page.set_viewport_size({"width": 1280, "height": 1900})
        page.goto(url)
        press(page, "Feed")
        for root in roots:
            is_at(root, state="done")
        after_left(0, lambda: page.mouse.move(5, 5))
        after_left(1, roots[1].locator(".dv-message").hover)
        after_left(0, roots[0].locator(".dv-message").click)
        after_left(1, roots[1].get_by_role("button", name="Step back").focus)
        page.get_by_label("Prompt").click()
        for key in ("ArrowLeft", "Home", "l", " "):
            page.keyboard.press(key)
        assert page.get_by_label("Prompt").input_value() == "l "
        after_left(0, roots[0].locator(".dv-message").click)


def test_a_live_run_is_held_and_caught_up_with_and_a_button_that_goes_gives_its_focus_on(plain_page, tmp_path):
    page, events, last = plain_page, events_of(TRACES["duodecoding"]), len(TRACES["duodecoding"]["iterations"]) - 1
    where, play = page.locator(".dv-where"), page.locator(".dv-buttons .dv-button").nth(2)
    follow, slowly = (page.get_by_role("button", name=name) for name in ("Follow live", "Watch it slowly"))
    send(page, events[:11])
    expect(where).to_have_text("Following the run: iteration 9")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowLeft")
    send(page, events[11:17])
    expect(where).to_contain_text("Iteration 8 of 15 so far")
    load(page, saved_to(tmp_path, TRACES["vanilla"]))
    expect(page.locator(".dv-files-message")).to_contain_text("A run is in progress")
    page.locator(".dv-files-message").click()
    page.keyboard.press("l")
    expect(where).to_have_text("Following the run: iteration 15")
    expect(follow).to_be_hidden()
    move_to(page, 3)
    follow.focus()
    send(page, events[17:])
    expect(play).to_be_focused()
    expect(follow).to_be_hidden()
    page.keyboard.press("End")
    expect(where).to_have_text(f"Iteration {last} of {last} after the prompt")
    slowly.press("Enter")
    expect(play).to_be_focused()
    expect(slowly).to_be_hidden()


def back_to_run(page, folder, trace, meanwhile=()):
    """Show a file instead of the run, and by keys the run again."""
    load(page, saved_to(folder, trace))
    shown(page, method="vanilla", state="done")
    send(page, list(meanwhile))
    page.get_by_role("button", name="Back to your run").press("Enter")
    shown(page, method="duodecoding")
    expect(page.locator(".dv")).to_be_focused()


def test_a_lost_run_is_kept_and_what_comes_while_a_file_is_shown_belongs_to_the_run(plain_page, tmp_path):
    page, trace, message = plain_page, TRACES["duodecoding"], plain_page.locator(".dv-message")
    events, lost = events_of(trace), {"type": "connection", "lost": True}
    send(page, [*events[:9], lost])
    shown(page, state="lost")
    half = {"header": trace["header"], "iterations": trace["iterations"][:8], "end": None}
    assert json.loads(download(page, "Save trace", tmp_path).read_text()) == half
    back_to_run(page, tmp_path, TRACES["vanilla"], [lost | {"lost": False}, *events[9:]])
    expect(message).to_contain_text("Finished")
    shown(page, iterations=len(events) - 2)
    # One that failed says so again.
    send(page, [{"type": "reset"}, *events[:9], {"type": "error", "message": "The draft has ended."}])
    expect(message).to_have_text("The draft has ended.")
    back_to_run(page, tmp_path, TRACES["vanilla"])
    expect(message).to_have_text("The draft has ended.")
    shown(page, state="error")
