"""Item 13: large bodies, values that no function takes, and results that are asked for again and again."""

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import permutations

from duoviz.web import bounds
from tests.benchmarks.attacks.flood import beside
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.benchmarks.attacks.strangers import JOIN, number_of

# As large as a request may be, and larger than any may be.
SIZE, LARGER = bounds.BODY - 1000, 8_000_000
MB = 64


def call(site: Site, name: str, *values: str, session: str = "ann") -> bytes:
    """A call of the page's own function with this name, with these arguments in JSON."""
    return b'{"fn_index": %d, "session_hash": "%s", "data": [%s]}' % (
        number_of(site, name), session.encode(), ",".join(values).encode()
    )  # fmt: skip


@attack("13 bodies", f"memory grows by at most {MB} MB, comes back, and a run beside them takes 1.3 times its time")
def large_bodies(site: Site) -> list[Result]:
    """Of empty objects, and of other things that are more in memory than as text."""
    kinds = {
        "empty objects": f"[{'{},' * (SIZE // 3 - 99)}{{}}]",
        "empty objects, and more than may be sent": f"[{'{},' * (LARGER // 3 - 99)}{{}}]",
        "one name": f"[{repeated('two-cores')}]",
        "keys": "{" + ",".join(f'"{number}":1' for number in range(SIZE // 13)) + "}",
        "brackets": "[" * (SIZE // 2 - 99) + "]" * (SIZE // 2 - 99),
        "one text": '"' + "x" * (SIZE - 99) + '"',
    }
    return [heavy(site, name, call(site, "open_part", value, '""')) for name, value in kinds.items()]


def repeated(name: str) -> str:
    return ",".join([f'"{name}"'] * (SIZE // (len(name) + 3) - 99))


def heavy(site: Site, name: str, body: bytes) -> Result:
    before = site.begin_peak()
    sent = partial(site.flood, 40, lambda number: body, path=JOIN, connections=4)
    found = beside(site, f"40 × {len(body) / 1e6:.1f} MB of {name}, four at a time", sent)
    peak, after = site.resident("VmHWM"), site.resident("VmRSS")
    told = f"{before:.0f} → at most {peak:.0f} → {after:.0f} MB; {found.result}"
    return Result(found.done, told, found.held and peak - before < MB and after - before < MB / 4)


@attack("13 bodies", "refused in one sentence, and the log tells next to nothing")
def wrong_choices(site: Site) -> list[Result]:
    """Choices that no menu has: short, long, and one again and again."""
    found = []
    for name, values in (
        ("show_small", ['"nothing"']), ("show_small", [json.dumps("x" * 7_900_000)]),
        ("open_part", [json.dumps(["two-cores"] * 20), '""']), ("open_part", [json.dumps(["two-cores"] * 2000), '""']),
        ("open_part", [f"[{repeated('two-cores')}]", '""']), ("open_part", ['["nothing"]', '""']),
    ):  # fmt: skip
        log, begin = site.log.stat().st_size, time.monotonic()
        status, _, told = site.ask("POST", JOIN, call(site, name, *values))
        grown, seconds = site.log.stat().st_size - log, time.monotonic() - begin
        said = f"{status}: {told[:80]} in {seconds:.1f} s, the log grew by {grown:,} bytes"
        held = status in (200, 400, 413) and grown < 10_000 and seconds < 5
        found.append(Result(f"{name} of {len(values[0]):,} bytes", said, held))
    return found


@attack("13 bodies", "no request is answered with 500", kind="space")
def mutated_requests(site: Site) -> Result:
    """Paths, queries, headers and bodies of real requests, each with something spoilt."""
    chance = random.Random(0)
    odd = ["", "\x7f", "[::1", "1e400", "-1", "null", "NaN", "é", "../x", "%00", "%ff", "{}", "[]", '"', "http://x:y"]
    odd.append("a" * 300)
    bases = [
        ("GET", "/", None), ("GET", "/?page=", None), ("GET", "/config?deep_link=", None), ("GET", "/assets/", None),
        ("GET", "/gradio_api/info?all_endpoints=", None), ("GET", "/gradio_api/queue/data?session_hash=", None),
        ("GET", "/gradio_api/file=", None), ("GET", "/scripts/", None), ("GET", "/recordings/", None),
        ("POST", "/gradio_api/queue/join", '{"fn_index": @, "session_hash": "ann", "data": [], "event_data": null}'),
        ("POST", "/gradio_api/call/v2/generate", '{"prompt": "x", "seed": @}'),
        ("POST", "/gradio_api/call/generate", '{"data": [@], "session_hash": "ann"}'),
        ("POST", "/gradio_api/cancel", '{"session_hash": "ann", "fn_index": @, "event_id": "x"}'),
        ("POST", "/gradio_api/component_server", '{"component_id": @, "fn_name": "x", "session_hash": "a", "data": @}'),
        ("POST", "/gradio_api/upload", "@"),
    ]  # fmt: skip
    headers = "X-Forwarded-Host X-Gradio-Server X-Forwarded-Proto Origin Content-Type Referer Cookie".split()
    statuses: Counter = Counter()
    for number in range(600):
        method, path, body = chance.choice(bases)
        spoilt = chance.choice(odd).encode("ascii", "replace").decode().replace(" ", "")
        path += "".join(each for each in spoilt if each.isprintable()) if body is None else ""
        sent = body and body.replace("@", chance.choice([*odd, json.dumps(chance.choice(odd))])).encode()
        extra = {chance.choice(headers): chance.choice(odd).encode("latin-1", "replace").decode("latin-1")}
        address = site.forwarded(f"8.8.{number % 200}.8")
        statuses[site.ask(method, path, sent, **extra, **address)[0]] += 1
    return Result("600 spoilt requests", f"answers: {dict(statuses)}", not any(status >= 500 for status in statuses))


DATA = "/gradio_api/queue/data?session_hash="
SECONDS = 300


@attack("results", f"refused, or drawn once: within 30 s, and memory grows by at most {MB} MB")
def one_name_many_times(site: Site) -> list[Result]:
    name, *_ = recorded(site)
    found = []
    for count in (20, 2_000, 300_000):
        begin = time.monotonic()
        grown, (told,) = weighed(site, [[name] * count])
        seconds = time.monotonic() - begin
        said = f"{told} after {seconds:.1f} s, {grown:.0f} MB more at most"
        found.append(Result(f"one name {count:,} times", said, seconds < 30 and grown < MB and site.alive()))
    return found


@attack("results", f"all are answered, and take at most {MB} MB more than one alone; a run beside them ends")
def many_at_once(site: Site) -> list[Result]:
    """Each in another order, so that none has been drawn before."""
    orders = [list(names) for count in (2, 3) for names in permutations(recorded(site), count)]
    alone, _ = weighed(site, orders[:1])
    found = []
    for several in (orders[1:5], orders[5:]):
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(site.run_of, site.client())
            begin = time.monotonic()
            grown, told = weighed(site, several)
            seconds = time.monotonic() - begin
            beside, summary = run.result()
        drawn = told.count("drawn")
        said = f"{drawn} drawn in {seconds:.0f} s; {grown:.0f} MB more at most, one alone {alone:.0f} MB; "
        said += f"a run beside them {beside:.1f} s"
        held = drawn == len(several) and grown < alone + MB and bool(summary["text"])
        found.append(Result(f"{len(several)} comparisons at once", said, held))
    return found


def recorded(site: Site) -> list[str]:
    """The names of the results that come along."""
    names = [name for name, _ in part(site, "lab-results")["props"]["choices"]]
    return [name for name in names if name.endswith("(recorded)")]


def part(site: Site, elem_id: str) -> dict:
    components = json.loads(site.ask("GET", "/config")[2])["components"]
    return next(each for each in components if each["props"].get("elem_id") == elem_id)


def weighed(site: Site, asked: list[list[str]]) -> tuple[float, list[str]]:
    """Megabytes by which the server grew at most while all these were asked for at once; and what came of each."""
    before = site.begin_peak()
    with ThreadPoolExecutor(len(asked)) as pool:
        told = list(pool.map(lambda names: shown(site, names), asked))
    return site.resident("VmHWM") - before, told


def shown(site: Site, names: list[str]) -> str:
    """What comes of it that a new visitor shows these results."""
    chosen, session = part(site, "lab-results")["id"], f"results-{time.monotonic_ns()}"
    functions = json.loads(site.ask("GET", "/config")[2])["dependencies"]
    number = next(each["id"] for each in functions if each["api_name"].startswith("show") and chosen in each["inputs"])
    body = {"fn_index": number, "session_hash": session, "data": [names, ""]}
    try:
        status, _, text = site.ask("POST", JOIN, body, timeout=SECONDS)
        if status != 200:
            return f"{status}: {text[:60]}"
        events = site.ask("GET", DATA + session, timeout=SECONDS)[2]
    except OSError as error:
        return type(error).__name__
    return "drawn" if '"process_completed"' in events and '"success":true' in events else events[-200:]
