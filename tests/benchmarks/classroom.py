"""A class presses Generate at once: what each visitor waits, and whether each text is right.

    python -m tests.benchmarks.classroom [--clients 30] [--tokens 64] [--kinds 1,2,ray]

Starts the server itself, on loopback and as on a Space, with one place, with two, and with two places of a local Ray
cluster. All clients come from one address, each with a session and a prompt of its own. Reports seconds to the first
token and to the end, median and worst, and how many got their first token out of turn. Exits with 1 where a text is
wrong.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import NamedTuple

from gradio_client import Client

from duoviz import runner
from tests.app import free_port, served
from tests.benchmarks.harness import arguments, memory_of

WORDS = ("red", "cold", "tall", "soft", "old")
METHODS = ("vanilla", "speculative", "duodecoding", "duotree")
COMMANDS = {"1": ["--places", "1"], "2": ["--places", "2"], "ray": ["--ray", "local", "--places", "2"]}


class Visit(NamedTuple):
    """One client's run: when it was asked for, and seconds after that; text: its error where it ended with one."""

    number: int
    asked: float
    first: float
    end: float
    text: str


def visit(client: Client, number: int, prompt: str, tokens: int, together: Barrier) -> Visit:
    together.wait()
    # Clients of one millisecond have no order.
    time.sleep(0.05 * number)
    asked, first = time.monotonic(), None
    method = METHODS[number % len(METHODS)]
    job = client.submit(prompt=prompt, method=method, max_new_tokens=tokens, api_name="/generate")
    for output in job:
        if first is None and output["text"]:
            first = time.monotonic()
    ended = time.monotonic()
    text = str(job.exception() or output["text"])
    return Visit(number, asked, (first or ended) - asked, ended - asked, text)


def lesson(kind: str, clients: int, tokens: int, folder: Path) -> bool:
    """Whether every visitor got vanilla's text; prints how long they waited, and the server's memory."""
    asked = [f"Name {number} things that are {WORDS[number % len(WORDS)]}." for number in range(2, 2 + clients)]
    command = [sys.executable, "-m", "duoviz", "serve", *COMMANDS[kind]]
    with (
        (folder / f"{kind}.log").open("w") as log,
        served(free_port(), {"SPACE_ID": "someone/duoviz"}, command=command, stdout=log, stderr=log) as (url, process),
    ):
        school = [Client(url, verbose=False, headers={"X-Forwarded-For": "8.8.8.8"}) for _ in asked]
        usual = {"method": "vanilla", "max_new_tokens": tokens, "api_name": "/generate"}
        expected = [school[0].predict(prompt=prompt, **usual)["text"] for prompt in asked]
        together = Barrier(clients)
        with ThreadPoolExecutor(clients) as pool:
            visits = list(pool.map(lambda n: visit(school[n], n, asked[n], tokens, together), range(clients)))
        held = memory_of(process)
    return report(kind, visits, expected, held)


def report(kind: str, visits: Sequence[Visit], expected: Sequence[str], held: float) -> bool:
    wrong = [each.text for each in visits if each.text != expected[each.number]]
    firsts, ends = ([getattr(each, name) for each in visits] for name in ("first", "end"))
    order = sorted(visits, key=lambda each: each.asked + each.first)
    late = sum(abs(place - each.number) > 2 for place, each in enumerate(order))
    print(
        f"{kind:>4}: first token median {median(firsts):.1f} s, worst {max(firsts):.1f} s; end median "
        f"{median(ends):.1f} s, worst {max(ends):.1f} s; {late} out of order; {held:.0f} MB; wrong texts: {wrong}"
    )
    return not wrong


def main() -> int:
    options = arguments(__doc__, clients=30, tokens=64, kinds=",".join(COMMANDS)).parse_args()
    print(f"{runner.versions()}, {options.clients} clients, {options.tokens} tokens each")
    with tempfile.TemporaryDirectory(prefix="duoviz-classroom-") as folder:
        kinds = options.kinds.split(",")
        right = [lesson(kind, options.clients, options.tokens, Path(folder)) for kind in kinds]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
