"""Posts and runs that nobody listens to."""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from tests.benchmarks.attacks.site import BUSY, CALL, JOIN, Busy, Result, Site, attack

POSTS = 4_000
# They are paced, a few a second for each address.
CALLS = 400
GETS, PAGES = 2_000, 1_200
USUALLY, WORST, AFTERWARDS = 1.3, 10, 1.2
# Seconds between a visitor's two runs.
READING = 1.0
MUST_HOLD = "a visitor's run takes at most 1.3 times its usual time (the median) under it, and 1.2 times after it"


@attack("flood", MUST_HOLD)
def empty_posts(site: Site) -> Result:
    return beside(site, f"{POSTS:,} empty posts over 64 connections", POSTS, lambda number: {"prompt": ""})


@attack("flood", MUST_HOLD, kind="space")
def valid_posts(site: Site) -> Result:
    done, body = "2,000 good posts of one address, nobody listening", {"prompt": "Count.", "max_new_tokens": 256}
    return beside(site, done, 2_000, lambda number: body, **site.forwarded("8.8.8.8"))


@attack("flood", MUST_HOLD)
@attack("flood", MUST_HOLD, kind="space")
def streams_of_nobody(site: Site) -> Result:
    paths = ("/gradio_api/queue/data?session_hash=nobody", "/gradio_api/call/generate/nobody")
    return beside(site, f"{GETS:,} GETs of unknown streams", GETS, path=paths, method="GET")


@attack("flood", MUST_HOLD, kind="space")
def pages(site: Site) -> Result:
    file = re.search(r'"([^"]*assets/[^"]+[.]js)"', site.ask("GET", "/")[2].decode())[1].lstrip(".")
    paths = (file, "/", "/config", "/gradio_api/info", file, "/gradio_api/nothing", file, "/x")
    options = {"path": paths, "method": "GET", "connections": 16} | site.forwarded("8.8.8.8")
    return beside(site, f"{PAGES:,} GETs of the page and its files, from one address", PAGES, **options)


@attack("flood", "the server answers a visitor within a minute afterwards")
def every_function(site: Site) -> Result:
    """Calls of all functions of the page, with sessions made up."""
    functions = 23

    def body(number: int) -> dict:
        return {"fn_index": number % functions, "session_hash": f"session-{number}", "data": []}

    statuses = site.flood(CALLS, body, path=JOIN)
    seconds = site.run_of(site.visitor())[0]
    return Result(
        f"{CALLS} calls of the page's own functions", f"{seconds:.1f} s; answers: {dict(statuses)}", seconds < 60
    )


@attack("flood", MUST_HOLD, kind="space")
def runs_that_nobody_listens_to(site: Site) -> list[Result]:
    """From one address, and from four, beside a visitor of another one."""
    config, four = json.loads(site.ask("GET", "/config")[2]), ["8.8.8.8", "8.8.4.4", "1.0.0.1", "1.1.1.1"]
    values = {each["id"]: each["props"].get("value") for each in config["components"]}
    watch = next(each for each in config["dependencies"] if each["api_name"] == "watch")
    # What the page sends if nothing was changed on it.
    call = {"fn_index": watch["id"], "data": [values[each] for each in watch["inputs"]]}

    def joins(address: str) -> dict:
        def body(at: int) -> dict:
            return call | {"session_hash": f"{address.replace('.', '-')}-{at}"}

        return site.flood(128, body, path=JOIN, connections=16, **site.forwarded(address))

    def at_once(addresses: list[str]) -> list[dict]:
        with ThreadPoolExecutor(len(addresses)) as pool:
            return list(pool.map(joins, addresses))

    one = disturbed(site, "128 joins of one address, nobody listening", lambda: at_once(four[:1]))
    return [one, disturbed(site, "128 joins of each of four addresses, nobody listening", lambda: at_once(four))]


def beside(site: Site, done: str, *flood, **options) -> Result:
    """A visitor's runs beside a flood, and after it."""
    return disturbed(site, done, lambda: site.flood(*flood, **options))


def disturbed(site: Site, done: str, flood: Callable[[], object]) -> Result:
    """A visitor's runs while something goes on, and after it. Raises Busy."""
    visitor = site.visitor()
    usual = site.usual(visitor)
    with ThreadPoolExecutor(1) as pool:
        begin, flooding, all_runs = time.monotonic(), pool.submit(flood), []
        while not flooding.done():
            all_runs.append(site.undisturbed(visitor))
            # One run after another without a pause would be held back by the visitor's own limits.
            time.sleep(READING)
    took = time.monotonic() - begin
    meanwhile = [seconds / usual for seconds in all_runs if seconds is not None]
    if not meanwhile:
        raise Busy(BUSY)
    after = site.usual(visitor) / usual
    told = f"usual {usual:.2f} s; in {took:.0f} s of flood {len(meanwhile)} runs, median {median(meanwhile):.2f} ×, "
    told += (
        f"at most {max(meanwhile):.2f} × ({len(all_runs) - len(meanwhile)} left out that other programs disturbed); "
    )
    told += f"after it {after:.2f} ×; answers: {flooding.result()}"
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
    summary = site.run_of(site.visitor("1.0.0.1"))[1]
    waited = time.monotonic() - begin
    begun = [status for status in statuses if status == 200]
    told = f"{len(begun)} of {count} taken; another visitor's run ended after {waited:.1f} s"
    return Result(f"{count} long runs that nobody listens to", told, len(begun) <= 2 and waited < 60 and bool(summary))
