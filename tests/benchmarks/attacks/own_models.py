"""Item 12: models of one's own whose chat template or tokenizer runs on, takes all memory or breaks its process."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.app import ROOT
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.models.hostile import PROMPT, TEMPLATES, TOKENIZERS, hostile

ITEM = "12 own models"
# Seconds in which a place that has ended is there again, with its pair.
AGAIN = 30


@contextmanager
def pair_of(kind: str) -> Iterator[dict[str, str]]:
    """What a visitor asks for who names such models."""
    with tempfile.TemporaryDirectory() as folder:
        made = hostile(Path(folder) / "model", kind)
        yield {"pair": f"{made} + {made}", "prompt": PROMPT}


@attack(ITEM, "its visitor has a sentence, and the next visitor's run ends within half a minute")
def each_kind(site: Site) -> list[Result]:
    return [met(site, kind) for kind in (*TEMPLATES, *TOKENIZERS)]


def met(site: Site, kind: str) -> Result:
    begin = time.monotonic()
    with pair_of(kind) as asked:
        try:
            told = f"no error: {site.run_of(site.client(), **asked)[1]['text']!r}"
        except Exception as error:
            told = str(error)
    seconds, after = time.monotonic() - begin, site.run_of(site.client())[0]
    held = told.endswith(".") and "Internal" not in told and site.alive() and after < AGAIN
    return Result(kind, f"{told!r} after {seconds:.1f} s; the next run took {after:.1f} s", held)


@attack(ITEM, "the next visitor's run ends within half a minute")
def left_alone(site: Site) -> Result:
    with pair_of("a loop") as asked:
        gone = site.client().submit(**asked, method="vanilla", api_name="/generate")
        time.sleep(3)
        gone.cancel()
        after = site.run_of(site.client())[0]
    return Result("a template that never ends, stopped", f"the next run took {after:.1f} s", after < AGAIN)


@attack(ITEM, "one line and exit code 1, within a minute")
def on_the_command_line(_site: Site) -> list[Result]:
    found = []
    for kind in ("a loop", "a product", "panics", "aborts"):
        begin = time.monotonic()
        with pair_of(kind) as asked:
            command = [sys.executable, "-m", "duoviz", "generate", asked["prompt"], "--pair", asked["pair"]]
            ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
        seconds = time.monotonic() - begin
        told = [line for line in ended.stderr.splitlines() if line.startswith("duoviz:")]
        held = ended.returncode == 1 and len(told) == 1 and "Traceback" not in ended.stderr and seconds < 60
        found.append(Result(f"generate with {kind}", f"{seconds:.1f} s: {told}", held))
    return found
