"""How long it takes from a start to the first token, with an empty cache and with a full one.

    python -m tests.benchmarks.cold_start [--rounds 3] [--space] [--folder DIR]

The server is started as the README does it, and asked for a run as soon as it answers. With --space it is as near to a
Space as one machine comes: the files that `python -m duoviz space` would send, and no others, read-only; a new virtual
environment of their requirements.txt; uid 1000 (where this is root, it keeps the right to read); the port of a Space,
or another where it is taken. That needs a few GB in --folder (default: the temporary folder), and the package index.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from gradio_client import Client

from duoviz import runner
from tests.app import free_port, served
from tests.benchmarks.harness import arguments, seconds
from tests.e2e.embedded.as_a_space import read_only_copy, space_served

PROMPT = "Why is the sky blue?"
# What pip has kept would be no download.
FRESH = {"PIP_NO_CACHE_DIR": "1", "PYTHONUNBUFFERED": "1", "PYTHONPATH": ""}
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def as_the_readme(folder: Path) -> Callable:
    """What serves the page; folder: for its cache."""
    return partial(served, free_port(), FRESH | {"DUOVIZ_CACHE": str(folder / "cache")}, **SILENT)


def as_a_space(source: Path, python: Path, folder: Path) -> Callable:
    """The same of a read-only copy; its home outlives it, with the cache in it."""
    home = folder / "home"
    return partial(space_served, source, home, python, FRESH | {"DUOVIZ_CACHE": str(home / "cache")}, **SILENT)


def server_times(serve: Callable) -> dict[str, float]:
    """Seconds from `python app.py` to the page, and to the first token and the end of a run asked for then."""
    start = time.perf_counter()
    with serve() as (url, _):
        times = {"the page answers": time.perf_counter() - start}
        for update in Client(url, verbose=False).submit(prompt=PROMPT, max_new_tokens=32, api_name="/generate"):
            if update["text"]:
                times.setdefault("first token in the page", time.perf_counter() - start)
    return times | {"end of that run, and of the server": time.perf_counter() - start}


def environment_of(source: Path, venv: Path) -> Path:
    """The interpreter of a new virtual environment with what a Space's requirements.txt names."""
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    install = [venv / "bin" / "pip", "install", "--quiet", "--no-cache-dir", "-r", source / "requirements.txt"]
    print(f"{seconds(lambda: subprocess.run(install, check=True)):.1f} s to install what requirements.txt names")
    return venv / "bin" / "python"


def main() -> None:
    options = arguments(__doc__, rounds=3, space=False, folder=tempfile.gettempdir()).parse_args()
    found: dict[str, list[dict[str, float]]] = {"empty": [], "full": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        base, start = Path(folder), as_the_readme
        base.chmod(0o755)
        if options.space:
            source = read_only_copy(base / "source")
            start = partial(as_a_space, source, environment_of(source, base / "venv"))
        for number in range(options.rounds):
            place = base / str(number)
            place.mkdir()
            for rounds in found.values():
                rounds.append(server_times(start(place)))
    print(runner.versions())
    for cache, rounds in found.items():
        print(f"\n{cache} cache: seconds, medians of {len(rounds)}")
        for part in dict.fromkeys(part for times in rounds for part in times):
            print(f"  {median(times.get(part, 0.0) for times in rounds):6.2f}  {part}")


if __name__ == "__main__":
    main()
