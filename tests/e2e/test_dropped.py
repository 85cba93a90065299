"""The line between page and server is cut for a while: what was typed, chosen and shown comes back."""

import socket
from contextlib import closing

from playwright.sync_api import expect

from tests.app import free_port
from tests.e2e.journeys import choose_tab
from tests.e2e.pages import open_live, press_endless, type_number, wait_for_iterations
from tests.e2e.test_proxies import run_nginx

CUT_OFF = "The page was reloaded during the {}; the earlier part is kept."


class Line:
    """A proxy before a page's server, which is there until it is cut."""

    def __init__(self, site, folder):
        self.port, self.folder = free_port(), folder
        self.server = f"location / {{ proxy_pass {site.url}; proxy_set_header Host $http_host; proxy_buffering off; }}"
        self.url = f"http://127.0.0.1:{self.port}/"
        self.mend()

    def mend(self):
        with closing(socket.create_server(("127.0.0.1", self.port))) as listening:
            self.nginx = run_nginx(listening, self.server, self.folder)

    def close(self):
        self.nginx.terminate()
        self.nginx.wait(20)

    def drop(self, page, meanwhile=lambda: None):
        """Cut it until the page has noticed, which loads anew by itself once it is back."""
        self.close()
        expect(page.get_by_text("Connection to the server was lost").first).to_be_visible()
        meanwhile()
        page.evaluate("window.before = true")
        self.mend()
        page.wait_for_function("!window.before")


def test_a_run_and_the_form_come_back(page, site, tmp_path):
    with closing(Line(site, tmp_path)) as line:
        open_live(page, f"{line.url}#tab=live&prompt=From+a+link")
        page.locator("#method").get_by_text("Vanilla", exact=True).click()
        press_endless(page)
        count = int(page.locator(".dv").get_attribute("data-iterations"))
        # Of what is typed now Gradio hears nothing.
        line.drop(page, lambda: page.locator("#prompt textarea").fill("Typed while it was lost"))
        expect(page.locator("#prompt textarea")).to_have_value("Typed while it was lost")
        expect(page.locator("#method label.selected")).to_have_text("Vanilla")
        expect(page.locator(".dv-message")).to_have_text(CUT_OFF.format("run"))
        wait_for_iterations(page, count)
        page.locator("#settings > button").click()
        expect(page.locator("#max-new-tokens input")).to_have_value("4000")


def test_a_race_comes_back_on_the_tab_that_was_open(page, site, tmp_path):
    with closing(Line(site, tmp_path)) as line:
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
        line.drop(page)
        expect(page.get_by_role("tab", name="Compare", exact=True)).to_have_attribute("aria-selected", "true")
        expect(page.locator("#compare-prompt textarea")).to_have_value("Why is the sea salt?")
        expect(race).to_contain_text(CUT_OFF.format("race"))
        assert race.locator(".dv-token").count() > 0
        choose_tab(page, "Learn")
        expect(course).to_have_attribute("data-page", "2")
