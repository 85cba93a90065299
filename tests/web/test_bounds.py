"""Whatever a function of the page is sent, within a request's bytes: memory, the server's loop and the log bear it."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from itertools import count
from pathlib import Path

import psutil
import pytest

from duoviz.web import bounds
from tests.app import ROOT
from tests.web.served import Page

# Megabytes by which the page's process may grow, and times the loop's work on one long text that other work may take.
GROWTH, WORK = 64, 4
LARGE = bounds.BODY - 10_000
# What is as large, as often repeated and as deeply nested as a request may be, or as its own bounds let it be.
VALUES = {
    "a long text": '"' + "x" * LARGE + '"',
    "a text within its bounds": '"' + " " * bounds.TEXT + '"',
    "half characters": '"' + r"\ud83d" * (LARGE // 6) + '"',
    "empty objects": "[" + "{}," * (LARGE // 3 - 1) + "{}]",
    "one name again and again": "[" + '"embedded",' * (LARGE // 11 - 1) + '"embedded"]',
    "names within their bounds": json.dumps([f"{n:0{bounds.NAME}}" for n in range(bounds.NAMES)]),
    "many keys": "{" + ",".join(f'"{n}":{n}' for n in range(LARGE // 16)) + "}",
    "nested": "[" * (LARGE // 2) + "]" * (LARGE // 2),
    "nested within its bounds": "[" * 30 + "]" * 30,
    "a number": "9" * LARGE,
}
sessions = count()
# A served page on a tiny pair, without a pace of its own.
CHILD = """
import json, sys
from duoviz.web import bounds
from duoviz.web.start import quickly
with quickly():
    import gradio
from tests.e2e.tiny_site import tiny_site
bounds.RATES, bounds.REFUSALS = dict.fromkeys(bounds.RATES, (10**9, 10**9)), 10**9
with tiny_site() as site:
    print(json.dumps({"url": site.url, "loop": site.demo.server.thread.native_id}), flush=True)
    sys.stdin.read()
"""


class Watched(Page):
    """A page in a process of its own. process: as psutil has it. loop: the thread of its server's loop."""

    def __init__(self, process: psutil.Process, url: str, loop: int, log: Path):
        super().__init__(url, None, None)
        self.process, self.loop, self.log = process, loop, log
        config = json.loads(self.ask("GET", "/config")[2])
        self.components = {each["id"]: each for each in config["components"]}
        self.functions = [each for each in config["dependencies"] if each["backend_fn"]]

    def call(self, function: dict, changed: int, value: str) -> None:
        """Call a function, with this JSON for one of its arguments, and listen to its end; a longer run is left."""
        session = f"s{next(sessions)}"
        data = [json.dumps(self.components[each]["props"].get("value")) for each in function["inputs"]]
        data[changed : changed + 1] = [value]
        own = f'"fn_index": {function["id"]}, "session_hash": "{session}"'
        body = f'{{"data": [{",".join(data)}], {own}}}'.encode()
        if self.ask("POST", "/gradio_api/queue/join", body)[0] != 200:
            return
        with closing(self.listen(f"/gradio_api/queue/data?session_hash={session}")) as stream:
            answer, end = stream.getresponse(), time.monotonic() + 20
            while time.monotonic() < end and (line := answer.readline()):
                if b"process_completed" in line:
                    break

    def peak(self) -> float:
        """The most megabytes that it has held since `forget_peak`, or holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1000

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def work(self) -> float:
        """Seconds of processor time that the server's loop has taken."""
        own = next(thread for thread in self.process.threads() if thread.id == self.loop)
        return own.user_time + own.system_time


def first_of_each_kind(page: Watched, function: dict) -> list[int]:
    """The places of a function's arguments, of each kind of component one; 0 where it has none: one too many."""
    kinds: dict[str, int] = {}
    for place, number in enumerate(function["inputs"]):
        kinds.setdefault(page.components[number]["type"], place)
    return [*kinds.values()] or [0]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    log = tmp_path_factory.mktemp("bounds") / "log"
    command = [sys.executable, "-c", CHILD]
    with log.open("w") as errors, subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as process:  # fmt: skip
        told = json.loads(process.stdout.readline())
        page = Watched(psutil.Process(process.pid), told["url"], told["loop"], log)
        # What is computed at first is kept.
        for function in page.functions:
            page.call(function, 0, '"hello"' if function["inputs"] else "")
        yield page
        process.kill()


@pytest.fixture(scope="module")
def usual(page):
    """Seconds of the loop's work that one long text takes."""
    generate = next(each for each in page.functions if each["api_name"] == "generate")
    page.call(generate, 0, VALUES["a long text"])
    before = page.work()
    for _ in range(10):
        page.call(generate, 0, VALUES["a long text"])
    return (page.work() - before) / 10


@pytest.mark.parametrize("name", VALUES)
def test_no_value_of_any_argument_takes_much(page, usual, name):
    value = VALUES[name]
    cases = [(function, place) for function in page.functions for place in first_of_each_kind(page, function)]
    page.forget_peak()
    held, work, log = page.peak(), page.work(), page.log.stat().st_size
    for function, place in cases:
        page.call(function, place, value)
    assert (page.work() - work) / len(cases) < WORK * usual and page.peak() - held < GROWTH
    with ThreadPoolExecutor(4) as pool:
        for function in page.functions:
            wait([pool.submit(page.call, function, 0, value) for _ in range(4)])
    # Two of the four are read at a time.
    assert page.peak() - held < 2 * GROWTH and page.log.stat().st_size - log < 100_000
