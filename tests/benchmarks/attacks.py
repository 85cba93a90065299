"""Attack a running page, and report what held.

    python -m tests.benchmarks.attacks [--servers local,space]

Starts the server itself, as on one's own machine and as on a Space, on loopback only; every attack is bounded in count
and time. Under a flood a visitor's run must take at most 1.3 times its usual time (the median), and after it 1.2 times;
memory is that of the server and its processes. Exits with 1 where something did not hold; what other programs compute
meanwhile counts as slowness. What a test can show of a part of the server is not here.
"""

import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from statistics import median
from typing import NamedTuple

from gradio_client import Client

from duoviz import runner
from tests.app import free_port, served
from tests.benchmarks.harness import arguments, memory_of, seconds
from tests.web.served import Page

# How many times as long as usual a visitor's run may take under a flood (the median, and the worst) and after it.
USUALLY, WORST, AFTERWARDS = 1.3, 10, 1.2
# How much more memory the server may hold after all attacks, and bytes by which its log may grow in a minute of one.
MEMORY_ALLOWED = 1.15
LOG_ALLOWED = 1_000_000
# Runs of which the median is usual (of five it varied by a third), and seconds between two of them: without a pause the
# visitor's own limits would hold them back.
RUNS, READING = 15, 1.0


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

    def run_of(self, client: Client, **changes: object) -> float:
        """Seconds that a visitor's run takes."""
        return seconds(lambda: client.predict(**VISITOR | changes, api_name="/generate"))

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
        headers = {"Content-Type": "application/json"} | headers

        def sent(numbers: range) -> list[int | str]:
            connection, statuses = http.client.HTTPConnection(*self.address, timeout=120), []
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
            return statuses

        with ThreadPoolExecutor(connections) as pool:
            parts = pool.map(sent, (range(first, count, connections) for first in range(connections)))
            return dict(Counter(chain.from_iterable(parts)))


@contextmanager
def started(kind: str, folder: Path) -> Iterator[Site]:
    """A server as on one's own machine, or as on a Space, whose log is in this folder."""
    log, space = folder / f"{kind}.log", {"SPACE_ID": "someone/duoviz"} if kind == "space" else {}
    with log.open("w") as output, served(free_port(), space, stdout=output, stderr=output) as (url, process):
        yield Site(url, log, process, kind)


class Result(NamedTuple):
    """What was done and what came of it, each a few words; held: whether what must hold did."""

    done: str
    result: str
    held: bool


def run_after_run(site: Site, is_over: Callable[[list], bool]) -> list[float]:
    """Seconds that a visitor's runs take, one after another."""
    visitor, found = site.visitor(), list[float]()
    while not is_over(found):
        found.append(site.run_of(visitor))
        time.sleep(READING)
    return found


def beside(site: Site, done: str, flood: Callable[[Site], object]) -> Result:
    """A visitor's runs before a flood, meanwhile, and after it."""
    usual = median(run_after_run(site, lambda found: len(found) == RUNS))
    with ThreadPoolExecutor(1) as pool:
        begin, flooding = time.monotonic(), pool.submit(flood, site)
        meanwhile = [each / usual for each in run_after_run(site, lambda found: bool(found) and flooding.done())]
    took = time.monotonic() - begin
    after = median(run_after_run(site, lambda found: len(found) == RUNS)) / usual
    told = (
        f"usual {usual:.2f} s; in {took:.0f} s of flood {len(meanwhile)} runs, median {median(meanwhile):.2f} ×, "
        f"at most {max(meanwhile):.2f} ×; after it {after:.2f} ×; answers: {flooding.result()}"
    )
    return Result(done, told, median(meanwhile) <= USUALLY and max(meanwhile) <= WORST and after <= AFTERWARDS)


def empty_posts(site: Site) -> dict:
    return site.flood(4_000, lambda number: {"prompt": ""})


def valid_posts(site: Site) -> dict:
    body = {"prompt": "Count.", "max_new_tokens": 256}
    return site.flood(2_000, lambda number: body, **site.forwarded("8.8.8.8"))


def streams_of_nobody(site: Site) -> dict:
    paths = ("/gradio_api/queue/data?session_hash=nobody", "/gradio_api/call/generate/nobody")
    return site.flood(2_000, paths=paths, method="GET")


def pages(site: Site) -> dict:
    file = re.search(r'"([^"]*assets/[^"]+[.]js)"', site.ask("GET", "/")[2].decode())[1].lstrip(".")
    paths = (file, "/", "/config", "/gradio_api/info", file, "/gradio_api/nothing", file, "/x")
    return site.flood(1_200, paths=paths, method="GET", connections=16, **site.forwarded("8.8.8.8"))


def joins(site: Site, *addresses: str) -> list[dict]:
    """Runs as the page asks for them if nothing was changed on it, 128 from each address at once."""
    config = json.loads(site.ask("GET", "/config")[2])
    values = {each["id"]: each["props"].get("value") for each in config["components"]}
    watch = next(each for each in config["dependencies"] if each["api_name"] == "watch")
    call = {"fn_index": watch["id"], "data": [values[id] for id in watch["inputs"]]}

    def joins_from(address: str) -> dict:
        def body(number: int) -> dict:
            return call | {"session_hash": f"{address.replace('.', '-')}-{number}"}

        return site.flood(128, body, paths=[JOIN], connections=16, **site.forwarded(address))

    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(joins_from, addresses))


# By kind of server what is done, and what does it.
ATTACKS: dict[str, dict[str, Callable[[Site], object]]] = {
    "local": {"4,000 empty posts": empty_posts, "2,000 GETs of unknown streams": streams_of_nobody},
    "space": {
        "2,000 good posts of one address, nobody listening": valid_posts,
        "2,000 GETs of unknown streams": streams_of_nobody,
        "1,200 GETs of the page and its files, from one address": pages,
        "128 joins of each of 1 addresses, nobody listening": lambda site: joins(site, "8.8.8.8"),
        "128 joins of each of 4 addresses, nobody listening": lambda site: joins(
            site, "8.8.8.8", "8.8.4.4", "1.0.0.1", "1.1.1.1"
        ),
    },
}


def results_of(site: Site, done: str, flood: Callable[[Site], object]) -> Iterator[Result]:
    """What one attack came to, and how much the server's log grew; an attack that breaks off did not hold."""
    begin, log = time.monotonic(), site.log.stat().st_size
    try:
        yield beside(site, done, flood)
    except Exception as error:
        yield Result(f"{done} broke off", f"{type(error).__name__}: {error}"[:200], False)
    grown, minutes = site.log.stat().st_size - log, max(1.0, (time.monotonic() - begin) / 60)
    yield Result("its log", f"{grown:,} bytes in {60 * minutes:.0f} s", grown / minutes < LOG_ALLOWED)


def all_results(site: Site) -> Iterator[Result]:
    """Of the attacks on one server, and last its memory after a run of each kind."""

    def weighed() -> float:
        for method in ("duodecoding", "speculative", "vanilla"):
            site.run_of(site.visitor(), method=method)
        return memory_of(site.process)

    before = weighed()
    for done, flood in ATTACKS[site.kind].items():
        yield from results_of(site, done, flood)
    after = weighed()
    yield Result("memory after all", f"{before:.0f} → {after:.0f} MB", after <= before * MEMORY_ALLOWED)


def main() -> int:
    kinds, held = arguments(__doc__, servers=",".join(ATTACKS)).parse_args().servers.split(","), True
    print(f"{runner.versions()}\n\n| server | what was done | result | held |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="duoviz-attacks-") as folder:
        for kind in kinds:
            with started(kind, Path(folder)) as site:
                for done, result, right in all_results(site):
                    print(f"| {kind} | {done} | {result} | {'yes' if right else '**no**'} |", flush=True)
                    held &= right
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
