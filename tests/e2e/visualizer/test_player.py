"""The player: its keys, a live run that is held, and one whose server is lost."""

import json
import threading

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz.web.visualizer import Visualizer, batch
from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.pages import open_modules
from tests.e2e.tiny_site import served
from tests.e2e.visualizer.shown import download, load, saved_to, send


@pytest.fixture(scope="module")
def pair_page(traces):
    """Two visualizers and a text field."""
    with gr.Blocks() as demo:
        gr.Textbox(label="Prompt")
        shown = [Visualizer(elem_id="one"), Visualizer(elem_id="two")]
        values = [batch(method, 0, events_of(traces[method])) for method in ("vanilla", "rest")]
        gr.Button("Feed").click(lambda: values, None, shown)
    with served(demo) as url:
        yield url


def test_keys_go_to_the_visualizer_used_last(page, pair_page, traces):
    page.set_viewport_size({"width": 1280, "height": 1900})
    page.goto(pair_page)
    page.get_by_role("button", name="Feed").click()
    roots = [page.locator(f"#{name} .dv") for name in ("one", "two")]
    for root in roots:
        expect(root).to_have_attribute("data-state", "done")
    at = [len(traces[method]["iterations"]) - 1 for method in ("vanilla", "rest")]

    def after_key(key, *moved):
        page.keyboard.press(key)
        for index, by in enumerate(moved):
            at[index] += by
            expect(roots[index]).to_have_attribute("data-shown", str(at[index]))

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


@pytest.fixture(scope="module")
def live_page(traces):
    """A run that comes in three parts, one a button."""
    events = events_of(traces["duodecoding"])
    parts = [events[:11], events[11:17], events[17:]]
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for number, part in enumerate(parts):
            value = batch("run", number, part)
            gr.Button(f"Part {number}").click(lambda value=value: value, None, visualizer)
    with served(demo) as url:
        yield url


def test_a_live_run_can_be_held_and_caught_up_with(page, live_page, traces, tmp_path):
    last = len(traces["duodecoding"]["iterations"]) - 1
    page.goto(live_page)
    where, follow = page.locator(".dv-where"), page.get_by_role("button", name="Follow live")

    def part(number):
        page.get_by_role("button", name=f"Part {number}").click()
        page.locator(".dv-message").click()

    part(0)
    expect(where).to_have_text("Following the run: iteration 9.")
    page.keyboard.press(" ")
    expect(where).to_have_text("You are at iteration 9; the run is at 9.")
    page.keyboard.press("ArrowLeft")
    part(1)
    expect(where).to_have_text("You are at iteration 8; the run is at 15.")
    page.locator(".dv-slider").fill("3")
    expect(where).to_have_text("You are at iteration 3; the run is at 15.")
    load(page, saved_to(tmp_path, traces["vanilla"]))
    expect(page.locator(".dv-files-message")).to_contain_text("A run is going on")
    held = json.loads(download(page, "Save trace", tmp_path).read_text())
    assert (len(held["iterations"]), held["end"]) == (16, None)
    page.locator(".dv-files-message").click()
    for back in ("l", "End"):
        page.keyboard.press("Home")
        expect(where).to_have_text("You are at iteration 0; the run is at 15.")
        page.keyboard.press(back)
        expect(where).to_have_text("Following the run: iteration 15.")
    page.keyboard.press("Home")
    # What stood there before "Home" is what comes after it: see the change first.
    expect(where).to_have_text("You are at iteration 0; the run is at 15.")
    page.keyboard.press(" ")
    expect(where).to_have_text("Following the run: iteration 15.")
    follow.click()
    expect(follow).to_have_attribute("aria-pressed", "false")
    expect(where).to_have_text("You are at iteration 15; the run is at 15.")
    follow.click()
    part(2)
    expect(where).to_have_text(f"You are at iteration {last}; the last is {last}.")
    expect(follow).to_be_hidden()
    assert not page.errors


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


LOST = "The connection to the server was lost; what came before is kept."
RECEIVE = """async () => {
  const { createReceiver } = await import("http://plain.test/visualizer/receiver.js");
  const receiver = createReceiver();
  window.told = [];
  receiver.subscribe((event) => told.push(event.type));
  receiver.take({ run: "run", seq: 0, events: [] });
}"""


def test_a_server_is_lost_that_is_silent_for_five_seconds(clocked_page):
    page = open_modules(clocked_page)
    page.clock.install(time=0)
    page.clock.pause_at(60)
    page.evaluate(RECEIVE)
    page.clock.run_for(4_500)
    assert page.evaluate("told") == ["reset"]
    page.clock.run_for(1_000)
    assert page.evaluate("told") == ["reset", "connection"]


def test_a_run_whose_server_is_lost_is_kept_and_goes_on_when_it_is_back(clocked_page, broken_page, traces, tmp_path):
    page, (url, events, more) = clocked_page, broken_page
    page.clock.install()
    page.goto(url)
    page.get_by_role("button", name="Run", exact=True).click()
    root, message = page.locator(".dv"), page.locator(".dv-message")
    expect(message).to_have_text("Running.")
    # Before, the page's clock goes on as time does.
    page.clock.run_for(6_000)
    expect(message).to_have_text(LOST)
    expect(root).to_have_attribute("data-state", "lost")
    expect(page.locator(".dv-where")).to_have_text("You are at iteration 7; the last is 7.")
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("data-shown", "6")
    half = {
        "header": traces["duodecoding"]["header"],
        "iterations": traces["duodecoding"]["iterations"][:8],
        "end": None,
    }
    assert json.loads(download(page, "Save trace", tmp_path).read_text()) == half
    more.release()
    expect(message).to_have_text("Running.")
    more.release()
    expect(root).to_have_attribute("data-state", "done")
    expect(root).to_have_attribute("data-iterations", str(len(events) - 2))
    assert not page.errors


def test_a_run_that_a_reload_cuts_off_is_there_again(page, broken_page):
    url, _, more = broken_page
    page.goto(url)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".dv")).to_have_attribute("data-iterations", "8")
    # What Gradio does when a lost server is back.
    page.reload()
    expect(page.locator(".dv")).to_have_attribute("data-iterations", "8")
    expect(page.locator(".dv-message")).to_have_text(
        "The page was loaded anew while the run went on; what came before is kept."
    )
    expect(page.locator(".dv-where")).to_have_text("You are at iteration 7; the last is 7.")
    page.reload()
    expect(page.locator(".dv")).to_have_attribute("data-state", "empty")
    assert not page.errors
    more.release(2)


def test_the_modules_work_without_gradio(plain_page, traces):
    send(plain_page, events_of(traces["speculative"]))
    root = plain_page.locator(".dv")
    expect(root).to_have_attribute("data-state", "done")
    expect(root).to_have_attribute("data-iterations", str(len(traces["speculative"]["iterations"])))
    assert not plain_page.errors


def test_what_comes_while_a_file_is_shown_belongs_to_the_run(plain_page, traces, tmp_path):
    events = events_of(traces["duodecoding"])
    root, message = plain_page.locator(".dv"), plain_page.locator(".dv-message")
    back = plain_page.get_by_role("button", name="Back to your run")
    send(plain_page, [*events[:9], {"type": "connection", "lost": True}])
    expect(message).to_have_text(LOST)
    for part, shown, said in (
        (events[9:9], 8, LOST),
        (events[9:17], 16, "Running."),
        (events[17:], len(events) - 2, "Finished"),
    ):
        load(plain_page, saved_to(tmp_path, traces["vanilla"]))
        expect(root).to_have_attribute("data-method", "vanilla")
        expect(root).to_have_attribute("data-state", "done")
        send(plain_page, [{"type": "connection", "lost": not part}, *part])
        back.click()
        expect(message).to_contain_text(said)
        expect(root).to_have_attribute("data-iterations", str(shown))
        if said == "Running.":
            # A live run would refuse the next file.
            send(plain_page, [{"type": "connection", "lost": True}])
            expect(message).to_have_text(LOST)
    assert not plain_page.errors


@pytest.mark.parametrize(
    "last, phase, said",
    [
        ({"type": "error", "message": "The draft has ended."}, "error", "The draft has ended."),
        ({"type": "end", "end": None, "metrics": None}, "done", "The trace ends before its run did."),
    ],
)
def test_back_from_a_file_a_run_ends_as_it_did(plain_page, traces, tmp_path, last, phase, said):
    root, message = plain_page.locator(".dv"), plain_page.locator(".dv-message")
    send(plain_page, [*events_of(traces["duodecoding"])[:9], last])
    expect(message).to_have_text(said)
    load(plain_page, saved_to(tmp_path, traces["vanilla"]))
    expect(root).to_have_attribute("data-method", "vanilla")
    expect(root).to_have_attribute("data-state", "done")
    plain_page.get_by_role("button", name="Back to your run").click()
    expect(root).to_have_attribute("data-iterations", "8")
    expect(root).to_have_attribute("data-method", "duodecoding")
    expect(root).to_have_attribute("data-state", phase)
    expect(message).to_have_text(said)


def test_a_run_that_does_not_begin_takes_nothing_from_the_one_before(plain_page, traces, tmp_path):
    trace, waiting = traces["duodecoding"], [{"type": "reset"}, {"type": "hold", "iteration": 2}]
    root, message = plain_page.locator(".dv"), plain_page.locator(".dv-message")
    tokens = sum(len(each["committed"]) for each in trace["iterations"])
    send(plain_page, events_of(trace))
    expect(message).to_contain_text("Finished")

    def is_kept(phase, said):
        expect(message).to_have_text(said)
        expect(root).to_have_attribute("data-state", phase)
        assert json.loads(download(plain_page, "Save trace", tmp_path).read_text()) == trace
        expect(plain_page.locator(".dv-token")).to_have_count(tokens)

    send(plain_page, [{"type": "reset"}, {"type": "error", "message": "The prompt is empty."}])
    is_kept("error", "The prompt is empty.")
    send(plain_page, [*waiting, {"type": "status", "text": "Visitors before you: 1."}])
    is_kept("waiting", "Visitors before you: 1.")
    load(plain_page, saved_to(tmp_path, traces["vanilla"]))
    expect(plain_page.locator(".dv-files-message")).to_contain_text("A run is going on")
    send(plain_page, [{"type": "connection", "lost": True}])
    is_kept("waiting", "The connection to the server was lost.")
    send(plain_page, [{"type": "connection", "lost": False}])
    is_kept("waiting", "Waiting for the first tokens.")
    send(plain_page, [{"type": "end", "end": {"stopped": "stopped"}, "metrics": None}])
    is_kept("done", "Stopped before it began; the run before it is kept.")
    # A run that does not begin is nobody's, whatever is shown meanwhile.
    load(plain_page, saved_to(tmp_path, traces["vanilla"]))
    expect(root).to_have_attribute("data-method", "vanilla")
    expect(root).to_have_attribute("data-state", "done")
    send(plain_page, [{"type": "reset"}, {"type": "error", "message": "The prompt is empty."}])
    expect(message).to_have_text("The prompt is empty.")
    expect(root).to_have_attribute("data-method", "vanilla")
    plain_page.get_by_role("button", name="Back to your run").click()
    expect(message).to_contain_text("Finished")
    is_kept("done", message.inner_text())
    # The one that begins takes its place, and is held where it was to be.
    send(plain_page, [*waiting, *events_of(traces["rest"])])
    expect(root).to_have_attribute("data-method", "rest")
    expect(root).to_have_attribute("data-state", "done")
    expect(root).to_have_attribute("data-iterations", str(len(traces["rest"]["iterations"])))
    expect(root).to_have_attribute("data-shown", "2")
    assert not plain_page.errors


KEEP = """async (runs) => {
  const { keepRun } = await import("http://plain.test/visualizer/kept.js");
  return runs.map((run) => {
    sessionStorage.clear();
    keepRun("run", run);
    return sessionStorage.length;
  });
}"""


def test_only_a_run_that_goes_on_is_kept_for_the_page_loaded_anew(modules, traces):
    run = {"header": traces["vanilla"]["header"], "iterations": traces["vanilla"]["iterations"][:3]}
    assert modules.evaluate(KEEP, [run | {"last": None}, run | {"last": {"type": "end"}}]) == [1, 0]
