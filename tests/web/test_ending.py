"""A signal ends the page's process, with all that it has begun, at every moment of its start and after it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.app import COMMAND, ROOT, free_port
from tests.until import wait_until

pytestmark = pytest.mark.thorough
SERVE = (sys.executable, "-m", "duoviz", "serve")


class Page:
    """The page's process while it starts. scratch: its temporary folder."""

    def __init__(self, scratch, command, **environment):
        self.scratch = scratch
        given = {"GRADIO_SERVER_PORT": str(free_port()), "GRADIO_ANALYTICS_ENABLED": "False", "TMPDIR": str(scratch)}
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        self.process = subprocess.Popen(command, cwd=ROOT, env=os.environ | given | environment, **options)

    def family(self):
        """All processes with its temporary folder."""
        return [each for each in psutil.process_iter() if environment_of(each).get("TMPDIR") == str(self.scratch)]

    def places(self):
        children = psutil.Process(self.process.pid).children()
        # One that has ended has no command.
        return [each for each in children if (said := command_of(each)) and "resource_tracker" not in str(said)]

    def has_loaded(self, library, process=None):
        return library in Path(f"/proc/{process or self.process.pid}/maps").read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.family():
            each.kill()
        self.process.communicate()


def environment_of(process):
    try:
        return {} if process.status() == psutil.STATUS_ZOMBIE else process.environ()
    except psutil.Error:
        return {}


def command_of(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


# What shows that its start has come so far, in this order.
MOMENTS = {
    "imports": lambda page: page.has_loaded("_multiarray_umath"),
    "a place starts": lambda page: page.places(),
    "Gradio's imports": lambda page: page.has_loaded("pydantic_core"),
    "a place imports": lambda page: any(page.has_loaded("libtorch", place.pid) for place in page.places()),
    "results": lambda page: list(page.scratch.glob("duoviz-lab-*")),
}
# A terminal sends the first two to all of its processes.
TO_ALL = (signal.SIGINT, signal.SIGHUP)


def ended(moment, number, scratch, command=COMMAND, **environment):
    """What a signal makes of a page that has come so far: its exit code, and what it printed of errors."""
    with Page(scratch, command, **environment) as page:
        wait_until(lambda: moment(page) or page.process.poll() is not None)
        (os.killpg if number in TO_ALL else os.kill)(page.process.pid, number)
        told = page.process.communicate(timeout=120)[1]
        wait_until(lambda: not page.family())
        assert not [file.name for file in scratch.iterdir() if file.name.startswith(("duoviz-lab", "pymp"))]
        return page.process.returncode, told


# Each moment; at first nothing is left behind, but Python would tell of an interrupt.
@pytest.mark.parametrize(
    "moment, number",
    [
        ("imports", signal.SIGINT),
        ("a place starts", signal.SIGTERM),
        ("Gradio's imports", signal.SIGHUP),
        ("a place imports", signal.SIGTERM),
        ("a place imports", signal.SIGHUP),
        ("results", signal.SIGINT),
    ],
)
def test_while_it_starts_it_ends_at_once_and_silently(moment, number, tmp_path):
    assert ended(MOMENTS[moment], number, tmp_path) == (-number, "")


@pytest.mark.parametrize("moment", ["a place starts", "results"])
def test_places_that_are_forked_end_with_it(moment, tmp_path):
    found = ended(MOMENTS[moment], signal.SIGTERM, tmp_path, SERVE, DUOVIZ_PLACES="2")
    assert found == (-signal.SIGTERM, "")


# What Python imports first of all: tells when the page waits to be interrupted.
NOTES = """
import os, signal
handle = signal.signal
def noted(number, handler):
    before = handle(number, handler)
    if number == signal.SIGTERM and handler is signal.default_int_handler:
        open(os.path.join(os.environ["TMPDIR"], "serves"), "w").close()
    return before
signal.signal = noted
"""


@pytest.mark.parametrize("number, places", [(signal.SIGTERM, "1"), (signal.SIGINT, "1"), (signal.SIGHUP, "2")])
def test_while_it_serves_it_ends_well(number, places, tmp_path, tmp_path_factory):
    first = tmp_path_factory.mktemp("first")
    (first / "sitecustomize.py").write_text(NOTES)
    serves = (tmp_path / "serves").exists
    found = ended(lambda page: serves(), number, tmp_path, PYTHONPATH=str(first), DUOVIZ_PLACES=places)
    assert found == (0, "")
