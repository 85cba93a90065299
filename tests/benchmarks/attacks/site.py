"""The server that is attacked: started here on loopback, asked, and weighed."""

import http.client
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import psutil
from gradio_client import Client

from tests.app import ROOT, free_port, served

CALL = "/gradio_api/call/v2/generate"
# How much of one core other programs may take while a time is measured.
OTHERS_ALLOWED = 0.15
VISITOR = {"prompt": "Why is the sky blue?", "method": "vanilla", "max_new_tokens": 16}


class Busy(RuntimeError):
    """The machine is too busy for a time to say anything."""


class Site:
    """A server under attack. url: with a slash at its end. log: the file of what it prints. process: its own.

    scratch: its temporary folder.
    """

    def __init__(self, url: str, log: Path, process: subprocess.Popen, kind: str, scratch: Path):
        self.url, self.log, self.process, self.kind, self.scratch = url, log, process, kind, scratch
        self.host = urlsplit(url).netloc

    def client(self, address: str = "9.9.9.9") -> Client:
        """A visitor; on a Space, at an address of its own."""
        return Client(self.url, verbose=False, headers=self.forwarded(address))

    def forwarded(self, address: str) -> dict[str, str]:
        """The header with which a Space's proxy names a visitor."""
        return {"X-Forwarded-For": address} if self.kind == "space" else {}

    def run_of(self, client: Client, **changes: object) -> tuple[float, dict]:
        """Seconds that a visitor's run takes, and its summary."""
        begin = time.monotonic()
        summary = client.predict(**VISITOR | changes, api_name="/generate")
        return time.monotonic() - begin, summary

    def undisturbed(self, client: Client) -> float | None:
        """Seconds that a visitor's run takes; None where other programs of this machine took much of it meanwhile."""
        begin, others = time.monotonic(), self.others()
        seconds = self.run_of(client)[0]
        share = (self.others() - others) / (time.monotonic() - begin)
        return seconds if share < OTHERS_ALLOWED else None

    def usual(self, client: Client, runs: int = 5) -> float:
        """Seconds that a visitor's run of 16 tokens usually takes: the median of some undisturbed ones.

        Raises Busy where the machine has no quiet moment for them.
        """
        found: list[float] = []
        for _ in range(20 * runs):
            if (seconds := self.undisturbed(client)) is not None:
                found.append(seconds)
            if len(found) == runs:
                return median(found)
        raise Busy("other programs keep this machine busy, so no time says anything: run this on a quiet one")

    def others(self) -> float:
        """Seconds of processor time that everything but the server and this program has had."""
        total = psutil.cpu_times()
        own = [*self.family(), psutil.Process(), *psutil.Process().children(recursive=True)]
        times = {each.pid: each.cpu_times() for each in own if each.is_running()}
        return sum(total) - total.idle - total.iowait - sum(each.user + each.system for each in times.values())

    def family(self) -> list[psutil.Process]:
        """The server's process and those that it started."""
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def drafts(self) -> list[psutil.Process]:
        """The drafts' processes, which have no children; the parent of each is its place."""
        return [each for each in self.family() if is_spawned(each) and not any(map(is_spawned, each.children()))]

    def busiest_draft(self) -> psutil.Process:
        """That of the place that has worked most, which is where the next run of an idle server goes or went."""
        return max(self.drafts(), key=lambda draft: sum(place_of(draft).cpu_times()[:2]))

    def ask(self, method: str, path: str, body: object = None, *, timeout: float = 60, **headers: str) -> tuple:
        """(status, headers, text) of one request; a body that is no bytes goes as JSON."""
        connection = http.client.HTTPConnection(self.host, timeout=timeout)
        try:
            return exchange(connection, method, path, body, headers)
        finally:
            connection.close()

    def flood(
        self,
        count: int,
        bodies: Callable[[int], object] = lambda number: None,
        *,
        path: str | Sequence[str] = CALL,
        method: str = "POST",
        connections: int = 64,
        **headers: str,
    ) -> dict:
        """Send `count` requests over so many connections, to the paths in turn; how often each status came."""
        paths = [path] if isinstance(path, str) else path
        numbers, lock, statuses = iter(range(count)), threading.Lock(), Counter()

        def post() -> None:
            connection = http.client.HTTPConnection(self.host, timeout=120)
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return connection.close()
                try:
                    status = exchange(connection, method, paths[number % len(paths)], bodies(number), headers)[0]
                except (OSError, http.client.HTTPException) as error:
                    status = type(error).__name__
                    connection.close()
                with lock:
                    statuses[status] += 1

        with ThreadPoolExecutor(connections) as pool:
            for each in [pool.submit(post) for _ in range(connections)]:
                each.result()
        return dict(statuses)

    def memory(self) -> float:
        """Megabytes that the server and the processes that it started hold."""
        return sum(each.memory_full_info().pss for each in self.family()) / 1e6

    def resident(self, kind: str) -> float:
        """Megabytes of the server's own process, as Linux counts them: VmRSS, or VmHWM for the most so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition(f"{kind}:")[2].split()[0]) / 1000

    def begin_peak(self) -> float:
        """Let the peak of its memory begin anew; returns it."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self.resident("VmHWM")

    def alive(self) -> bool:
        return self.process.poll() is None


def exchange(connection: http.client.HTTPConnection, method: str, path: str, body: object, headers: dict) -> tuple:
    """(status, headers, text) of one request on an open connection."""
    if body is not None:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | headers
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")


def is_spawned(process: psutil.Process) -> bool:
    """Whether it is a draft's, or a place's that is alone, and not multiprocessing's own."""
    return "spawn_main" in " ".join(process.cmdline())


def place_of(draft: psutil.Process) -> psutil.Process:
    place = draft.parent()
    assert place
    return place


def command_line(*arguments: str) -> tuple[float, list[str], bool]:
    """Run `python -m duoviz`: seconds, its complaint, and whether that is one line with exit code 1."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "duoviz", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    told = [line for line in ended.stderr.splitlines() if line.startswith("duoviz:")]
    held = ended.returncode == 1 and len(told) == 1 and "Traceback" not in ended.stderr
    return time.monotonic() - begin, told, held


@contextmanager
def started(kind: str, folder: Path, **environment: str) -> Iterator[Site]:
    """A server as on one's own machine, or as on a Space, with what it leaves behind in this folder."""
    port, log = free_port(), folder / f"{kind}.log"
    scratch = folder / f"{kind}-tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    environment |= {"TMPDIR": str(scratch)} | ({"SPACE_ID": "someone/duoviz"} if kind == "space" else {})
    with log.open("w") as output, served(port, environment, stdout=output, stderr=output) as (url, process):
        yield Site(url, log, process, kind, scratch)
