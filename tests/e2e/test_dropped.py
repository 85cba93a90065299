"""The line between page and server is cut for a while: what was typed, chosen and shown comes back."""

import socket
from contextlib import suppress
from socketserver import ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from duoviz.recordings import STORY
from tests.e2e.journeys import choose_tab
from tests.e2e.pages import (
    ask_for_a_race,
    download,
    is_at,
    move_to,
    open_live,
    open_settings,
    press,
    press_endless,
    wait_for_iterations,
)
from tests.e2e.test_game import play_round

CUT_OFF = "The page was reloaded during the {}; the earlier part is kept."


class Line(ThreadingTCPServer):
    """Carries bytes to a page's server and back, until it is cut."""

    daemon_threads = True

    def __init__(self, site):
        super().__init__(("127.0.0.1", 0), None)
        self.url, self.port = f"http://127.0.0.1:{self.server_address[1]}/", urlsplit(site.url).port
        self.ends, self.is_cut = [], False

    def finish_request(self, near, _):
        if not self.is_cut:
            with socket.create_connection(("127.0.0.1", self.port)) as far:
                self.ends += [near, far]
                Thread(target=pump, args=(far, near), daemon=True).start()
                pump(near, far)

    def cut(self):
        self.is_cut = True
        while self.ends:
            with suppress(OSError):
                self.ends.pop().shutdown(socket.SHUT_RDWR)


def pump(source, sink):
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(site):
    with Line(site) as line:
        Thread(target=line.serve_forever, daemon=True).start()
        yield line
        line.cut()
        line.shutdown()


def drop(page, line, meanwhile=lambda: None):
    """Cut the line until the page has noticed; it loads anew by itself once it is back."""
    line.cut()
    expect(page.get_by_text("Connection to the server was lost").first).to_be_visible()
    # What says so lies over the form.
    page.add_style_tag(content=".toast-wrap { display: none !important; }")
    meanwhile()
    page.evaluate("window.before = true")
    line.is_cut = False
    page.wait_for_function("!window.before")


def test_a_run_and_the_form_come_back(page, line):
    open_live(page, f"{line.url}#tab=live&prompt=From+a+link")
    page.locator("#method").get_by_text("Large model alone", exact=True).click()
    press_endless(page)
    count = int(page.locator(".dv").get_attribute("data-iterations"))
    settings = page.locator("#settings")

    def change():
        """Of this Gradio hears nothing."""
        page.locator("#prompt textarea").fill("Typed while it was lost")
        open_settings(page)
        page.locator("#temperature input").fill("0.7")
        page.locator("#top-k input").fill("")
        page.locator("#cores input").click()
        page.get_by_role("option", name="all", exact=True).click()
        settings.get_by_label("No chat template").check()

    drop(page, line, change)
    expect(page.locator("#prompt textarea")).to_have_value("Typed while it was lost")
    expect(page.locator("#method label.selected")).to_have_text("Large model alone")
    expect(page.locator(".dv-message")).to_have_text(CUT_OFF.format("run"))
    wait_for_iterations(page, count)
    page.locator("#settings > button").click()
    for field, value in {"max-new-tokens": "4000", "temperature": "0.7", "top-k": "", "cores": "all"}.items():
        expect(page.locator(f"#{field} input")).to_have_value(value)
    expect(settings.get_by_label("No chat template")).to_be_checked()


def test_a_race_comes_back_on_the_tab_that_was_open(page, line):
    page.goto(f"{line.url}#tab=learn")
    course, race = page.locator(".dl"), page.locator(".dv-race")
    press(page, "Next")
    is_at(course, page=2)
    choose_tab(page, "Compare")
    page.locator("#compare-prompt textarea").fill("Why is the sea salt?")
    ask_for_a_race(page, 4000)
    expect(race.locator(".dv-token").nth(3)).to_be_visible()

    def change():
        page.locator("#second-method").get_by_text("SpS", exact=True).click()
        page.locator("#race-settings > button").click()
        page.locator("#repeats input").fill("2")

    drop(page, line, change)
    expect(page.locator("#second-method input:checked")).to_have_value("speculative")
    page.locator("#race-settings > button").click()
    for field, value in {"compare-max-new-tokens": "4000", "repeats": "2"}.items():
        expect(page.locator(f"#{field} input")).to_have_value(value)
    expect(page.get_by_role("tab", name="Compare", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#compare-prompt textarea")).to_have_value("Why is the sea salt?")
    expect(race).to_contain_text(CUT_OFF.format("race"))
    assert race.locator(".dv-token").count() > 0
    choose_tab(page, "Learn")
    is_at(course, page=2)


def test_a_recording_a_file_and_what_stands_over_them_are_where_they_were(page, shipped):
    dv, story, first = (page.locator(f"#visualizer .{name}") for name in ("dv", "dv-story", "dv-first"))
    open_live(page, shipped)
    page.locator("#method").get_by_text("DuoTree", exact=True).click()
    is_at(dv, state="recording", method="duotree")
    move_to(page, 4)
    page.reload()
    is_at(dv, state="recording", method="duotree", shown=4)
    press(page, "How it works")
    is_at(story, stop=1)
    story.get_by_role("button", name="Step forward", exact=True).click()
    is_at(story, stop=2)
    page.reload()
    is_at(story, stop=2)
    page.keyboard.press("Escape")
    press(page, "Side by side")
    expect(first).to_be_visible()
    page.reload()
    expect(first).to_contain_text("DuoTree")
    page.keyboard.press("Escape")
    dv.locator("input[type=file]").set_input_files(STORY / "vanilla.duoviz.json")
    is_at(dv, file="yes", state="done")
    move_to(page, 5)
    page.reload()
    is_at(dv, file="yes", state="done", method="vanilla", shown=5)


def test_a_recorded_race_a_file_and_the_race_behind_it_are_at_their_clocks(page, shipped, tmp_path):
    page.goto(f"{shipped}#tab=compare")
    race, names = page.locator(".dv-race"), page.locator(".dv-side-name")
    expect(page.get_by_role("button", name="Show DuoDecoding")).to_be_hidden()
    press(page, "Show DuoTree")
    expect(names).to_have_text([" DuoTree", " Large model alone"])
    # The form has followed.
    method = page.locator("#ask-race .methods").first.locator("input:checked")
    expect(method).to_have_value("duotree")

    def reload_at(clock):
        race.locator(".dv-slider").fill(clock)
        is_at(race, clock=clock, playing="false")
        page.reload()
        is_at(race, clock=clock, playing="false")

    reload_at("0.2")
    is_at(race, state="recording")
    expect(names.first).to_have_text(" DuoTree")
    expect(method).to_have_value("duotree")
    ask_for_a_race(page, 16)
    is_at(race, state="done")
    reload_at("0.001")
    is_at(race, state="done")
    race.locator("input[type=file]").set_input_files(download(page, "Save race", tmp_path, ".dv-menu-race"))
    is_at(race, state="recording")
    reload_at("0.002")
    is_at(race, state="recording")
    press(page, "Back to your race")
    is_at(race, state="done", clock="0.001")


def test_a_game_goes_on_in_its_round(page, shipped):
    game = page.locator(".dg")
    page.goto(f"{shipped}#tab=learn&draft=7")
    play_round(page, 1)
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    text = game.locator(".dg-text").text_content()
    page.reload()
    expect(game.locator(".dg-where")).to_have_text("Round 2 of 8")
    expect(game.locator(".dg-slot[data-status=pending]")).to_have_count(1)
    expect(game.locator(".dg-text")).to_have_text(text)
