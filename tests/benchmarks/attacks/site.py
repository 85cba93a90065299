"""The server that is attacked, which is started here on loopback."""

import http.client
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from gradio_client import Client

from tests.app import free_port, served
from tests.web.served import Page

CALL, JOIN = "/gradio_api/call/v2/generate", "/gradio_api/queue/join"
VISITOR = {"prompt": "Why is the sky blue?", "method": "vanilla", "max_new_tokens": 16}


class Site(Page):
    """A server under attack. log: the file of what it prints. process: its own."""

    def __init__(self, url: str, log: Path, process: subprocess.Popen, kind: str):
        super().__init__(url, None, None)
        self.log, self.process, self.kind = log, process, kind

    def visitor(self, address: str = "9.9.9.9") -> Client:
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

    def family(self) -> list[psutil.Process]:
        """The server's process and those that it started."""
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def flood(
        self,
        count: int,
        bodies: Callable[[int], object] = lambda number: None,
        *,
        paths: Sequence[str] = (CALL,),
        method: str = "POST",
        connections: int = 64,
        **headers: str,
    ) -> dict:
        """Send `count` requests over so many connections, to the paths in turn; how often each status came."""
        numbers, statuses = iter(range(count)), []
        headers = {"Content-Type": "application/json"} | headers

        def post() -> None:
            connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=120)
            # `next` of a range is one step, which no other thread interrupts.
            for number in numbers:
                try:
                    body = json.dumps(bodies(number)) if method == "POST" else None
                    connection.request(method, paths[number % len(paths)], body, headers)
                    answer = connection.getresponse()
                    answer.read()
                    statuses.append(answer.status)
                except (OSError, http.client.HTTPException) as error:
                    statuses.append(type(error).__name__)
                    connection.close()
            connection.close()

        with ThreadPoolExecutor(connections) as pool:
            for each in [pool.submit(post) for _ in range(connections)]:
                each.result()
        return dict(Counter(statuses))

    def memory(self) -> float:
        """Megabytes that the server and the processes that it started hold."""
        return sum(each.memory_full_info().pss for each in self.family()) / 1e6


@contextmanager
def started(kind: str, folder: Path) -> Iterator[Site]:
    """A server as on one's own machine, or as on a Space, whose log is in this folder."""
    log, space = folder / f"{kind}.log", {"SPACE_ID": "someone/duoviz"} if kind == "space" else {}
    with log.open("w") as output, served(free_port(), space, stdout=output, stderr=output) as (url, process):
        yield Site(url, log, process, kind)
