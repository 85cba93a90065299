"""The page behind nginx: below a path that is taken off or left, behind TLS, under a Host without its port."""

import os
import shutil
import socket
import subprocess
from contextlib import closing, contextmanager
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from duoviz.recordings import STORY
from tests.e2e.journeys import (
    a_lesson_is_shown,
    a_run_comes_to_its_end,
    listen,
    the_lab_shows_results,
    the_page_is_drawn,
)
from tests.e2e.pages import copy, page_in, press_endless, saved_by, wait_for_iterations
from tests.e2e.tiny_site import LONGEST, tiny_site

# What it writes lies in a folder of the test's, which only the test's own user may read: without `user`, nginx that
# root starts works as nobody.
CONFIG = """
daemon off; pid nginx.pid; user root;
events {}
http {
  access_log off; gzip on; gzip_types *; gzip_proxied any;
  client_body_temp_path 1; proxy_temp_path 2; fastcgi_temp_path 3; scgi_temp_path 4; uwsgi_temp_path 5;
  server { listen ADDRESS; SERVER }
}
"""
TLS = "ssl_certificate cert.pem; ssl_certificate_key key.pem;"
CERTIFICATE = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1"


# What comes by addresses of every kind: scripts and fonts, a run's batches, lessons and recordings, results.
ADDRESSED = (the_page_is_drawn, a_run_comes_to_its_end, a_lesson_is_shown, the_lab_shows_results)


class Case(NamedTuple):
    """server: what nginx is told, where SITE is the page's own address. variable: GRADIO_ROOT_PATH, where PORT is
    nginx's; argument: `root_path`. below: the path that the page is at."""

    server: str
    variable: str = ""
    argument: str | None = None
    below: str = ""


CASES = {
    "a path is taken off": Case(
        "location /duoviz/ { proxy_pass SITE/; proxy_set_header Host $http_host; }",
        variable="/duoviz", below="/duoviz",
    ),
    "the path of a whole address is taken off": Case(
        "location /duoviz/ { proxy_pass SITE/; }",
        variable="http://127.0.0.1:PORT/duoviz", below="/duoviz",
    ),
    "a path is left": Case(
        "location /duoviz { proxy_pass SITE; proxy_set_header Host $http_host; }",
        argument="/duoviz", below="/duoviz",
    ),
    "TLS ends here": Case(f"{TLS} location / {{ proxy_pass SITE; proxy_set_header Host $http_host; }}"),
    "Host lacks its port": Case("location / { proxy_pass SITE; proxy_set_header Host $host; }"),
}  # fmt: skip


def run_nginx(listening, server, folder):
    """nginx, which is given the socket at which it listens: who connects before it is there, waits in it."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert nginx, "the tests behind a proxy need nginx: install your system's package (Debian's is nginx-light)"
    address = ":".join(map(str, listening.getsockname()))
    if TLS in server:
        subprocess.run(["openssl", *CERTIFICATE.split()], cwd=folder, check=True, capture_output=True)
        address += " ssl"
    (folder / "nginx.conf").write_text(CONFIG.replace("ADDRESS", address).replace("SERVER", server))
    command, number = [nginx, "-p", folder, "-e", "stderr", "-c", "nginx.conf"], listening.fileno()
    return subprocess.Popen(command, pass_fds=[number], env=os.environ | {"NGINX": f"{number};"})


@contextmanager
def proxied(case, folder, monkeypatch):
    """The address of a page behind nginx."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = str(listening.getsockname()[1])
        monkeypatch.setenv("GRADIO_ROOT_PATH", case.variable.replace("PORT", port))
        with tiny_site(recording=STORY, root_path=case.argument) as site:
            nginx = run_nginx(listening, case.server.replace("SITE", site.url.rstrip("/")), folder)
            listening.close()
            try:
                yield f"{'https' if TLS in case.server else 'http'}://127.0.0.1:{port}"
            finally:
                nginx.terminate()
                nginx.wait(20)


def load_file(page, file):
    with page.expect_file_chooser() as chooser:
        page.locator("#lab-load").click()
    chooser.value.set_files(file)


def save_and_load_results(page, folder):
    """On the Lab's tab: what was saved can be loaded."""
    page.locator("#lab-others > button").click()
    expect(page.locator("#lab-save")).to_be_enabled()
    file = saved_by(page, page.locator("#lab-save").click, folder)
    load_file(page, file)
    expect(page.locator("#lab-results")).to_contain_text(f"{file.stem} (loaded)")


def load_too_large_a_file(page, folder):
    """By default nginx takes no more than 1 MB."""
    file = folder / "large.zip"
    file.write_bytes(bytes(1_100_000))
    load_file(page, file)
    expect(page.locator(".toast-body")).to_contain_text("HTTP 413: This file is larger than the proxy before this page")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_all_works_behind_a_proxy(new_context, case, tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    # Gradio removes what it has kept as a page ends, also what another test's page keeps in the same folder.
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    with proxied(case, tmp_path, monkeypatch) as origin, closing(new_context(ignore_https_errors=True)) as context:
        page = page_in(context)
        faults = listen(page)
        page.goto(f"{origin}{case.below}?view=1")
        # At the root the addresses of all kinds are as without a proxy.
        for journey in ADDRESSED if case.below else ADDRESSED[:1]:
            journey(page.main_frame)
        if case.below:
            save_and_load_results(page, tmp_path)
        else:
            # Of what nginx packs it would hold the last part back until the run's end, which does not come.
            press_endless(page)
            wait_for_iterations(page, LONGEST - 10)
            page.locator("#stop").click()
        assert copy(page).startswith(f"{origin}{case.below}/#tab={'lab' if case.below else 'live'}")
        assert faults == []
        if case.below:
            load_too_large_a_file(page, tmp_path)
