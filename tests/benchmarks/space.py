"""The first start of a Space, as near as one machine comes to it: how long each part of it takes.

    python -m tests.benchmarks.space [--folder DIR]

The files that `python -m duoviz space` would send, and no others, in an empty folder and read-only; a new
virtual environment of their requirements.txt; an empty cache; uid 1000 (where this is root: it keeps the right to
read, for the interpreter may lie in root's home); SPACE_ID set; the port of a Space, 7860, or another where it is
taken. Then one visitor, who asks as soon as the page answers, and once more. Needs a few GB in --folder (default: the
temporary folder), and the package index. Exits with 1 where an answer is empty.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradio_client import Client

from tests.e2e.embedded.as_a_space import read_only_copy, space_served


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--folder", type=Path, help="where there is room; default: the temporary folder")
    with tempfile.TemporaryDirectory(dir=options.parse_args().folder) as folder:
        return measure(Path(folder))


def measure(folder: Path) -> int:
    folder.chmod(0o755)
    source, venv = read_only_copy(folder / "source"), folder / "venv"
    files = [file for file in source.rglob("*") if file.is_file()]
    print(f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
    with part("a virtual environment with what requirements.txt names"):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        install = [venv / "bin" / "pip", "install", "--quiet", "--no-cache-dir", "-r", source / "requirements.txt"]
        subprocess.run(install, check=True)
    home = folder / "home"
    environment = {"DUOVIZ_CACHE": str(home / "cache"), "PYTHONPATH": ""}
    asked = time.perf_counter()
    with space_served(source, home, venv / "bin" / "python", environment) as (url, _):
        print(f"{time.perf_counter() - asked:7.1f} s  from `python app.py` to the page at {url}")
        client = Client(url, verbose=False)
        answers = [ask(client, "the first visitor's run, with an empty cache")]
        print(f"{time.perf_counter() - asked:7.1f} s  from `python app.py` to the end of that run")
        answers.append(ask(client, "the next run"))
    return 0 if all(answers) else 1


@contextmanager
def part(name: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    print(f"{time.perf_counter() - begun:7.1f} s  {name}", flush=True)


def ask(client: Client, name: str) -> str:
    """One run of 32 tokens; prints when its first text came, and when it was over. Returns the text."""
    begun = time.perf_counter()
    job = client.submit(prompt="Why is the sky blue?", max_new_tokens=32, api_name="/generate")
    first, text = None, ""
    for update in job:
        text = update["text"]
        if text and first is None:
            first = time.perf_counter() - begun
    whole = time.perf_counter() - begun
    print(f"{first or whole:7.1f} s  {name}: its first text; its end after {whole:.1f} s: {text!r}", flush=True)
    return text


if __name__ == "__main__":
    sys.exit(main())
