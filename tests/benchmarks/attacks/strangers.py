"""Sessions that are none, a class behind one address, a stopped draft, dear prompts, forged addresses."""

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import product

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import CALL, Site

JOIN = "/gradio_api/queue/join"
WATCHED = {"method": "vanilla", "max_new_tokens": 32}


@attack("sessions", "the queue lives, and a run that is under way ends as usual", kind="space")
def sessions_that_are_none(site: Site) -> Result:
    """What once ended the queue, and all of its kin, at every function."""
    visitor = site.client("1.0.0.1")
    usual, summary = site.run_of(visitor, **WATCHED)
    number = number_of(site, "look")
    sessions = ["", None, " ", 0, [], {}, "\n", "x" * 5000, "\u0000", "é"]
    numbers = [number, str(number), float(number), f"0{number}", True, -1, 10**6, None]
    bodies = [{"session_hash": s, "fn_index": n, "data": [[]]} for s, n in product(sessions, numbers)] * 5
    bodies += [{"session_hash": "ann", "fn_index": n, "data": [[]]} for n in numbers[1:]] * 5
    found: list = []
    running = threading.Thread(target=lambda: found.append(site.run_of(visitor, **WATCHED)))
    running.start()
    statuses = site.flood(len(bodies), lambda at: bodies[at], path=JOIN, connections=6, **site.forwarded("8.8.8.8"))
    running.join()
    (seconds, beside), after = found[0], site.run_of(visitor, **WATCHED)[1]
    right = beside["text"] == after["text"] == summary["text"]
    told = f"answers {statuses}; a run beside them {seconds:.1f} s (usually {usual:.1f}), right: {right}"
    return Result(f"{len(bodies)} calls", told, right and set(statuses) == {400} and site.alive())


def number_of(site: Site, name: str) -> int:
    functions = json.loads(site.ask("GET", "/config")[2])["dependencies"]
    return next(each["id"] for each in functions if each["api_name"] == name)


@attack("a class", "all ten run, in turns with another address, and one machine does not fill the line", kind="space")
def a_class_behind_one_address(site: Site) -> list[Result]:
    clients = [site.client("8.8.8.8") for _ in range(10)]
    ends: list[str] = []

    def visit(name: str, client) -> bool:
        summary = site.run_of(client, **WATCHED)[1]
        ends.append(name)
        return bool(summary["text"])

    other = site.client("1.0.0.1")
    with ThreadPoolExecutor(11) as pool:
        runs = [pool.submit(visit, "class", client) for client in clients]
        time.sleep(1)
        late = pool.submit(visit, "other", other)
        done = sum(run.result() for run in runs) + late.result()
    place = 1 + ends.index("other")
    held = Result("10 visitors, and one of another address", f"{done} of 11 ran; the other as no. {place}", done == 11)
    begin = time.monotonic()
    body = {"prompt": "Count.", "method": "vanilla", "max_new_tokens": 256}
    sent = [{"data": list(arguments(site, body)), "session_hash": f"forged-{number}"} for number in range(80)]
    headers = site.forwarded("8.8.4.4")
    statuses = site.flood(80, lambda at: sent[at], path="/gradio_api/call/generate", connections=16, **headers)
    summary = site.run_of(other)[1]
    seconds = time.monotonic() - begin
    told = f"answers {statuses}; another visitor's run ended {seconds:.0f} s after the first of them"
    return [held, Result("80 forged sessions of one address", told, bool(summary) and seconds < 30)]


def arguments(site: Site, changes: dict) -> list:
    """An endpoint's arguments in order."""
    info = json.loads(site.ask("GET", "/gradio_api/info")[2])["named_endpoints"]["/generate"]["parameters"]
    return [changes.get(each["parameter_name"], each.get("parameter_default")) for each in info]


@attack("a stopped draft", "told within seconds, and the next run is right")
def a_stopped_draft(site: Site) -> list[Result]:
    visitor = site.client()
    expected = site.run_of(visitor, method="duodecoding", max_new_tokens=48)[1]["text"]
    found = []
    for method in ("duodecoding", "duotree"):
        threading.Timer(0.5, site.busiest_draft().suspend).start()
        begin = time.monotonic()
        try:
            told = site.run_of(visitor, method=method, max_new_tokens=512, overlap="beside")[1].get("message", "it ran")
        except Exception as error:
            told = str(error)
        seconds = time.monotonic() - begin
        took, summary = site.run_of(visitor, method="duodecoding", max_new_tokens=48)
        right = summary["text"] == expected
        row = f"{told!r} after {seconds:.1f} s; the next run took {took:.1f} s, right: {right}"
        found.append(Result(f"{method}, its draft stopped", row, right and seconds < 15 and took < 15))
    return found


@attack("dear prompts", "refused by their tokens, before they are decoded", kind="space")
def dear_prompts(site: Site) -> Result:
    client = site.client("8.8.8.8")
    prompts = ["e\u0301" * 1500, "\U0001f9ff" * 2000, "\u0301" * 3000, "𒀀" * 2000, "a " * 4000, "x" * 8000]
    begin, told = time.monotonic(), Counter()
    for prompt in prompts:
        try:
            told["read"] += bool(site.run_of(client, prompt=prompt))
        except Exception as error:
            told[str(error).partition(":")[0]] += 1
    seconds = time.monotonic() - begin
    # What is long but of few tokens is read.
    return Result(f"{len(prompts)} prompts", f"{dict(told)} in {seconds:.1f} s", told["read"] <= 1 and seconds < 15)


@attack("forged addresses", "only what a Space's own proxies add is believed", kind="space")
def forged_addresses(site: Site) -> Result:
    forged = ["1.1.1.1, 8.8.8.8", "::1, 8.8.8.8", "8.8.8.8, 10.0.0.1", "x, , 8.8.8.8", "8.8.8.8:80, 8.8.8.8"]
    long = {"prompt": "Count.", "method": "vanilla", "max_new_tokens": 256}
    statuses = [site.ask("POST", CALL, long, **{"X-Forwarded-For": each})[0] for each in forged]
    return Result("5 headers of one address", f"answers {statuses}", statuses.count(200) <= 2)
