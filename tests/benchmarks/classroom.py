"""A class presses Generate at once: what each visitor waits, and whether each text is right.

    python -m tests.benchmarks.classroom [--clients 30] [--tokens 64] [--kinds 1,2,ray]

Starts the server itself, on loopback and as on a Space, with one place, with two, and with two places of a local Ray
cluster. All clients come from one address, each with a session and a prompt of its own. Reports seconds to the first
token and to the end, median and worst, and how many got their first token out of turn. Exits with 1 where a text is
wrong.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import NamedTuple

import psutil
from gradio_client import Client

from tests.app import free_port, served
from tests.benchmarks.harness import arguments

WORDS = ("red", "cold", "tall", "soft", "old")
METHODS = ("vanilla", "speculative", "duodecoding", "duotree")
COMMANDS = {"1": ["--places", "1"], "2": ["--places", "2"], "ray": ["--ray", "local", "--places", "2"]}


class Visit(NamedTuple):
    """One client's run: seconds after it was asked for; text: None where it ended with an error, which `told` says."""

    number: int
    asked: float
    first: float
    end: float
    text: str | None
    told: str = ""


def prompts(count: int) -> list[str]:
    return [f"Name {number} things that are {WORDS[number % len(WORDS)]}." for number in range(2, 2 + count)]


def visit(client: Client, number: int, prompt: str, tokens: int, together: Barrier) -> Visit:
    together.wait()
    # Clients of one millisecond have no order.
    time.sleep(0.05 * number)
    asked, first = time.monotonic(), None
    method = METHODS[number % len(METHODS)]
    job = client.submit(prompt=prompt, method=method, max_new_tokens=tokens, api_name="/generate")
    for output in job:
        if first is None and output and output["text"]:
            first = time.monotonic()
    ended, error = time.monotonic(), job.exception()
    text, told = (None, str(error)) if error else (output["text"], "")
    return Visit(number, asked, (first or ended) - asked, ended - asked, text, told)


def memory(process: psutil.Process) -> float:
    """Megabytes that the server and its processes hold, each page once."""
    return sum(each.memory_full_info().pss for each in [process, *process.children(recursive=True)]) / 1e6


def lesson(kind: str, options: argparse.Namespace, folder: Path) -> bool:
    asked = prompts(options.clients)
    command = [sys.executable, "-m", "duoviz", "serve", *COMMANDS[kind]]
    with (
        (folder / f"{kind}.log").open("w") as log,
        served(free_port(), {"SPACE_ID": "someone/duoviz"}, command=command, stdout=log, stderr=log) as (url, process),
    ):
        server = psutil.Process(process.pid)
        school = {"verbose": False, "headers": {"X-Forwarded-For": "8.8.8.8"}}
        alone = Client(url, **school)
        expected = [
            alone.predict(prompt=prompt, method="vanilla", max_new_tokens=options.tokens, api_name="/generate")["text"]
            for prompt in asked
        ]
        clients = [Client(url, **school) for _ in asked]
        together = Barrier(len(clients))
        with ThreadPoolExecutor(len(clients)) as pool:
            numbers = range(len(clients))
            visits = list(pool.map(lambda n: visit(clients[n], n, asked[n], options.tokens, together), numbers))
        held = memory(server)
    return report(kind, visits, expected, held)


def report(kind: str, visits: Sequence[Visit], expected: Sequence[str], held: float) -> bool:
    right = [each.text == expected[each.number] for each in visits]
    firsts, ends = ([getattr(each, name) for each in visits] for name in ("first", "end"))
    order = sorted(visits, key=lambda each: each.asked + each.first)
    late = sum(abs(place - each.number) > 2 for place, each in enumerate(order))
    print(
        f"{kind:>4}: {sum(right)} of {len(visits)} texts right; first token median {median(firsts):.1f} s, worst "
        f"{max(firsts):.1f} s; end median {median(ends):.1f} s, worst {max(ends):.1f} s; {late} out of order; "
        f"{held:.0f} MB; failed: {[each.told for each in visits if each.told]}"
    )
    return all(right)


def main() -> int:
    options = arguments(__doc__, clients=30, tokens=64, kinds=",".join(COMMANDS)).parse_args()
    with tempfile.TemporaryDirectory(prefix="duoviz-classroom-") as folder:
        held = [lesson(kind, options, Path(folder)) for kind in options.kinds.split(",")]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
