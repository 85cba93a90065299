"""Items 3 and 12: models that are too large, do not come, run on, take all memory or break their process."""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site, command_line, started
from tests.models.hostile import PROMPT, TEMPLATES, TOKENIZERS, hostile
from tests.models.local_hub import Hub, serving

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
        with pair_of(kind) as asked:
            seconds, told, held = command_line("generate", asked["prompt"], "--pair", asked["pair"])
        found.append(Result(f"generate with {kind}", f"{seconds:.1f} s: {told}", held and seconds < 60))
    return found


TARGET = "HuggingFaceTB/SmolLM2-1.7B-Instruct"
CONFIG = b'{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 24}'
FILES = {"config.json": CONFIG, "model.safetensors": b"x" * 1000}
PAIR = {"pair": "smollm2-1.7b"}


@contextmanager
def space_with_hub(**state: object) -> Iterator[tuple[Site, type[Hub]]]:
    """A Space of its own, whose hub is a stand-in on this machine."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(repos={TARGET: FILES}, **state) as hub,
        started("space", Path(folder), HF_ENDPOINT=hub.address, HF_HOME=f"{folder}/hub") as site,
    ):
        site.run_of(site.client())
        yield site, hub


@attack("3 pairs", "refused by its size before anything is downloaded, and the loaded pair stays", kind="space")
def too_large(_site: Site) -> Result:
    with space_with_hub(counted={TARGET: 10**12}) as (site, hub):
        begin = time.monotonic()
        told = refusal(site)
        seconds = time.monotonic() - begin
        after = site.run_of(site.client())[0]
    held = "GB of memory" in told and "model.safetensors" not in hub.asked and seconds < 30 and after < 20
    return Result("a pair of 10¹² numbers", f"{told!r} after {seconds:.1f} s; the next run took {after:.1f} s", held)


@attack("3 pairs", "others run meanwhile with the pair that is loaded", kind="space")
def a_hub_that_does_not_answer(_site: Site) -> Result:
    with space_with_hub() as (site, hub):
        let_go = threading.Event()
        hub.answer = lambda self, body: let_go.wait(120) and self.reply(503, b"")
        told: list[str] = []
        asking = threading.Thread(target=lambda: told.append(refusal(site, "8.8.4.4")))
        asking.start()
        times = [site.run_of(site.client("1.0.0.1"))[0] for _ in range(5)]
        let_go.set()
        asking.join(300)
    held = max(times) < 20 and bool(told)
    return Result("a hub that hangs", f"five runs beside it took at most {max(times):.1f} s; then {told}", held)


def refusal(site: Site, address: str = "8.8.8.8") -> str:
    """What a visitor is told who asks for the pair."""
    try:
        return str(site.run_of(site.client(address), **PAIR)[1])
    except Exception as error:
        return str(error)
