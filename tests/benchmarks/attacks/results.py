"""Results that are asked for again and again: names that stand many times, and many who ask at once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

from tests.benchmarks.attacks.bodies import MB, memory_of
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.benchmarks.attacks.strangers import JOIN

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
    server = Path(f"/proc/{site.process.pid}")
    (server / "clear_refs").write_text("5")  # The peak of its memory begins anew.
    before = memory_of(server, "VmHWM")
    with ThreadPoolExecutor(len(asked)) as pool:
        told = list(pool.map(lambda names: shown(site, names), asked))
    return memory_of(server, "VmHWM") - before, told


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
