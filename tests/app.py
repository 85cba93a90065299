"""`python app.py` in a process of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "app.py")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def served(
    port: int, environment: dict[str, str], *, command: Sequence[object] = COMMAND, cwd: Path = ROOT, **options: Any
) -> Iterator[tuple[str, subprocess.Popen]]:
    """The page's address and its process, from when it answers; environment: besides this process's own."""
    environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_SERVER_PORT": str(port)} | environment
    process = subprocess.Popen(command, cwd=cwd, env=environment, **options)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_for(url, process)
        yield url, process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + 300
    while True:
        try:
            return urllib.request.urlopen(url, timeout=10).close()
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the app does not come up"
            time.sleep(0.05)
