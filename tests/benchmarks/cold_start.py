"""How long it takes from a start to the first token, with an empty cache and with a full one.

    python -m tests.benchmarks.cold_start [--rounds 3]

The server is started as the README does it, and asked for a run as soon as it answers. The parts are what the command
line tells while it does the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median

from tests.app import ROOT, free_port, served
from tests.benchmarks.harness import arguments

PROMPT = "Why is the sky blue?"


def environment(cache: Path) -> dict[str, str]:
    # What pip has kept would be no download.
    return os.environ | {"DUOVIZ_CACHE": str(cache), "PIP_NO_CACHE_DIR": "1", "PYTHONUNBUFFERED": "1"}


def server_times(cache: Path) -> dict[str, float]:
    """Seconds from `python app.py` to the page, and to the first token of a run asked for then."""
    port = free_port()
    start = time.perf_counter()
    with served(port, environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        page = time.perf_counter() - start
        return {"the page answers": page, "first token in the page": first_text(port) - start}


def first_text(port: int) -> float:
    """When the first token of a run comes, on this process's clock."""
    url = f"http://127.0.0.1:{port}/gradio_api/call"
    body = json.dumps({"prompt": PROMPT, "max_new_tokens": 8}).encode()
    request = urllib.request.Request(f"{url}/v2/generate", body, {"Content-Type": "application/json"})
    event = json.load(urllib.request.urlopen(request))["event_id"]
    for line in urllib.request.urlopen(f"{url}/generate/{event}"):
        if line.startswith(b"data:") and (json.loads(line[5:]) or [{}])[0].get("text"):
            return time.perf_counter()
    raise RuntimeError("the run ended without a token")


def command_times(cache: Path) -> dict[str, float]:
    """Seconds of each part that the command line tells of, in order; the last ends with the first token."""
    command = [sys.executable, "-m", "duoviz", "generate", PROMPT, "--max-new-tokens", "8"]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    told = [(start, "importing")]

    def listen() -> None:
        for line in process.stderr:
            if line[:4].strip().endswith("%"):
                told.append((time.perf_counter(), line[5:].strip().partition(",")[0]))

    listener = threading.Thread(target=listen)
    listener.start()
    process.stdout.read(1)
    told.append((time.perf_counter(), ""))
    process.communicate()
    listener.join()
    parts: dict[str, float] = {}
    for (begin, part), (end, _) in zip(told, told[1:], strict=False):
        parts[part] = parts.get(part, 0.0) + end - begin
    return parts


def main() -> None:
    options = arguments(__doc__, rounds=3).parse_args()
    found: dict[str, list[dict[str, float]]] = {"empty": [], "full": []}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for rounds in found.values():
                rounds.append(server_times(Path(folder, "page")) | command_times(Path(folder, "command")))
    for cache, rounds in found.items():
        print(f"\n{cache} cache: seconds, medians of {len(rounds)}")
        for part in dict.fromkeys(part for times in rounds for part in times):
            print(f"  {median(times.get(part, 0.0) for times in rounds):6.2f}  {part}")


if __name__ == "__main__":
    main()
