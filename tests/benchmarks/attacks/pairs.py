"""Item 3: models that are too large, or that do not come."""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site, started
from tests.models.local_hub import Hub, serving

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
