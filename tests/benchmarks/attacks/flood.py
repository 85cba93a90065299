"""Posts and runs that nobody listens to."""

import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median

from tests.benchmarks.attacks.site import CALL, JOIN, Result, Site, attack

POSTS = 4_000
# They are paced, a few a second for each address.
CALLS = 400
GETS, PAGES = 2_000, 1_200
USUALLY, WORST, AFTERWARDS = 1.3, 10, 1.2
MUST_HOLD = "a visitor's run takes at most 1.3 times its usual time (the median) under it, and 1.2 times after it"


@attack("flood", MUST_HOLD)
def empty_posts(site: Site) -> Result:
    """Empty prompts at the endpoint."""
    return flooded(site, f"{POSTS:,} empty posts over 64 connections", POSTS, lambda number: {"prompt": ""})


@attack("flood", MUST_HOLD, kind="space")
def valid_posts(site: Site) -> Result:
    """Prompts that could be run, from one address."""
    body = {"prompt": "Count.", "max_new_tokens": 256}
    headers = site.forwarded("8.8.8.8")
    return flooded(
        site, "2,000 good posts over 64 connections, nobody listening", 2_000, lambda number: body, **headers
    )


def streams_of_nobody(site: Site) -> Result:
    """Streams of sessions and events that do not exist."""
    paths = ("/gradio_api/queue/data?session_hash=nobody", "/gradio_api/call/generate/nobody")
    return beside(site, f"{GETS:,} GETs of unknown streams", lambda: site.flood(GETS, path=paths, method="GET"))


attack("flood", MUST_HOLD)(streams_of_nobody)
attack("flood", MUST_HOLD, kind="space")(streams_of_nobody)


@attack("flood", MUST_HOLD, kind="space")
def pages(site: Site) -> Result:
    """The page's own files and pages, from one address, again and again."""
    file = re.search(r'"([^"]*assets/[^"]+[.]js)"', site.ask("GET", "/")[2])[1].lstrip(".")
    paths = (file, "/", "/config", "/gradio_api/info", file, "/gradio_api/nothing", file, "/x")
    headers = site.forwarded("8.8.8.8")
    flood = partial(site.flood, PAGES, path=paths, method="GET", connections=16, **headers)
    return beside(site, f"{PAGES:,} GETs of the page and its files", flood)


@attack("flood", "the server answers a visitor within a minute afterwards")
def every_function(site: Site) -> Result:
    """Calls of all functions of the page, with sessions made up."""
    functions = 23

    def body(number: int) -> dict:
        return {"fn_index": number % functions, "session_hash": f"session-{number}", "data": []}

    statuses = site.flood(CALLS, body, path=JOIN)
    seconds = site.run_of(site.client())[0]
    return Result(
        f"{CALLS} calls of the page's own functions", f"{seconds:.1f} s; answers: {dict(statuses)}", seconds < 60
    )


def joins(site: Site, count: int, addresses: list[str]) -> Callable[[], object]:
    """A flood of runs to which nobody listens, from these addresses in turn."""
    number = site.number_of("watch")
    data = values_of(site, number)

    def flood() -> list[dict]:
        def of(address: str) -> dict:
            def body(at: int) -> dict:
                return {"fn_index": number, "session_hash": f"{address.replace('.', '-')}-{at}", "data": data}

            return site.flood(count, body, path=JOIN, connections=16, **site.forwarded(address))

        with ThreadPoolExecutor(len(addresses)) as pool:
            return list(pool.map(of, addresses))

    return flood


def values_of(site: Site, number: int) -> list:
    """What the page sends to a function if nothing was changed on it."""
    config = json.loads(site.ask("GET", "/config")[2])
    components = {each["id"]: each["props"].get("value") for each in config["components"]}
    function = next(each for each in config["dependencies"] if each["id"] == number)
    return [components[each] for each in function["inputs"]]


@attack("flood", MUST_HOLD, kind="space")
def runs_that_nobody_listens_to(site: Site) -> list[Result]:
    """From one address, and from four, beside a visitor of another one."""
    four = ["8.8.8.8", "8.8.4.4", "1.0.0.1", "1.1.1.1"]
    one = beside(site, "128 joins of one address, nobody listening", joins(site, 128, four[:1]))
    return [one, beside(site, "128 joins of each of four addresses, nobody listening", joins(site, 128, four))]


def flooded(site: Site, done: str, count: int, bodies: Callable[[int], object], **headers: str) -> Result:
    """A visitor's runs while so many posts come, and afterwards."""
    return beside(site, done, lambda: site.flood(count, bodies, path=CALL, **headers))


def beside(site: Site, done: str, flood: Callable[[], object]) -> Result:
    """A visitor's runs beside a flood, and after it."""
    visitor = site.client()
    usual = site.usual(visitor)
    answers, meanwhile, disturbed = [], [], 0
    thread = threading.Thread(target=lambda: answers.append(flood()))
    thread.start()
    begin = time.monotonic()
    while thread.is_alive():
        seconds = site.undisturbed(visitor)
        if seconds is None:
            disturbed += 1
        else:
            meanwhile.append(seconds / usual)
    took = time.monotonic() - begin
    after = site.usual(visitor) / usual
    told = f"usual {usual:.2f} s; in {took:.0f} s of flood {len(meanwhile)} runs, median {median(meanwhile):.2f} ×, "
    told += f"at most {max(meanwhile):.2f} × ({disturbed} left out that other programs disturbed); "
    told += f"after it {after:.2f} ×; answers: {answers[0]}"
    return Result(done, told, median(meanwhile) <= USUALLY and max(meanwhile) <= WORST and after <= AFTERWARDS)


LONG = {"prompt": "Count from one to a thousand.", "method": "vanilla", "max_new_tokens": 256}


@attack("the line", "at most two of its runs have a place, and they end within half a minute")
def calls_without_a_listener(site: Site) -> Result:
    """More calls than the line is long, as one's own machine sends them: without a session."""
    return fill(site, 25, lambda number: {})


@attack("the line", "at most two of its runs have a place, and they end within half a minute", kind="space")
def calls_from_one_address(site: Site) -> Result:
    """The same from one address that claims to be many."""
    return fill(site, 25, lambda number: {"X-Forwarded-For": f"9.9.8.{number}, 8.8.4.4"})


def fill(site: Site, count: int, headers) -> Result:
    statuses = [site.ask("POST", CALL, LONG, **headers(number))[0] for number in range(count)]
    begin = time.monotonic()
    summary = site.run_of(site.client("1.0.0.1"))[1]
    waited = time.monotonic() - begin
    begun = [status for status in statuses if status == 200]
    told = f"{len(begun)} of {count} taken; another visitor's run ended after {waited:.1f} s"
    return Result(f"{count} long runs that nobody listens to", told, len(begun) <= 2 and waited < 60 and bool(summary))
