"""The line between page and server is cut for a while: what was typed, chosen and shown comes back."""

import socket
from contextlib import closing, contextmanager, suppress
from threading import Thread

from playwright.sync_api import expect

from tests.e2e.journeys import choose_tab
from tests.e2e.pages import open_live, press_endless, type_number, wait_for_iterations

CUT_OFF = "The page was reloaded during the {}; the earlier part is kept."


class Line:
    """Carries bytes to a page's server and back, until it is cut."""

    def __init__(self, port):
        self.port, self.ends, self.is_cut = port, [], False
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/"

    def carry(self):
        with suppress(OSError):
            while True:
                near = self.listening.accept()[0]
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.port))
                self.ends += [near, far]
                for way in ((near, far), (far, near)):
                    Thread(target=pump, args=way, daemon=True).start()

    def cut(self):
        self.is_cut = True
        while self.ends:
            end = self.ends.pop()
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self):
        self.is_cut = False


def pump(source, sink):
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(site):
    line = Line(int(site.url.rstrip("/").rpartition(":")[2]))
    thread = Thread(target=line.carry, daemon=True)
    thread.start()
    with closing(line.listening):
        try:
            yield line
        finally:
            line.cut()
            line.listening.shutdown(socket.SHUT_RDWR)


def drop(page, line, meanwhile=lambda: None):
    """Cut the line until the page has noticed; it loads anew by itself once it is back."""
    line.cut()
    expect(page.get_by_text("Connection to the server was lost").first).to_be_visible()
    meanwhile()
    page.evaluate("window.before = true")
    line.mend()
    page.wait_for_function("!window.before")


def test_a_run_and_the_form_come_back(page, site):
    with line_to(site) as line:
        open_live(page, f"{line.url}#tab=live&prompt=From+a+link")
        page.locator("#method").get_by_text("Vanilla", exact=True).click()
        press_endless(page)
        count = int(page.locator(".dv").get_attribute("data-iterations"))
        # Of what is typed now Gradio hears nothing.
        drop(page, line, lambda: page.locator("#prompt textarea").fill("Typed while it was lost"))
        expect(page.locator("#prompt textarea")).to_have_value("Typed while it was lost")
        expect(page.locator("#method label.selected")).to_have_text("Vanilla")
        expect(page.locator(".dv-message")).to_have_text(CUT_OFF.format("run"))
        wait_for_iterations(page, count)
        page.locator("#settings > button").click()
        expect(page.locator("#max-new-tokens input")).to_have_value("4000")


def test_a_race_comes_back_on_the_tab_that_was_open(page, site):
    with line_to(site) as line:
        page.goto(f"{line.url}#tab=learn")
        course = page.locator(".dl")
        course.get_by_role("button", name="Next", exact=True).click()
        expect(course).to_have_attribute("data-page", "2")
        choose_tab(page, "Compare")
        page.locator("#compare-prompt textarea").fill("Why is the sea salt?")
        page.locator("#race-settings > button").click()
        type_number(page, "compare-max-new-tokens", 4000)
        page.locator("#race").click()
        race = page.locator(".dv-race")
        expect(race.locator(".dv-token").nth(3)).to_be_visible()
        drop(page, line)
        expect(page.get_by_role("tab", name="Compare", exact=True)).to_have_attribute("aria-selected", "true")
        expect(page.locator("#compare-prompt textarea")).to_have_value("Why is the sea salt?")
        expect(race).to_contain_text(CUT_OFF.format("race"))
        assert race.locator(".dv-token").count() > 0
        choose_tab(page, "Learn")
        expect(course).to_have_attribute("data-page", "2")
