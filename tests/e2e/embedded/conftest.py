"""The embedded pair, and the app that runs it in a process of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from duoviz import runner
from duoviz.decoding.runtime import runtime
from duoviz.models.pairs import load_pair

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def embedded_pair():
    """The pair itself. It is converted and measured here, before any other process of these tests is there."""
    pair = load_pair()
    runner.prepare(pair, "duodecoding")
    yield pair
    runtime(pair).draft.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + 300
    while True:
        try:
            urllib.request.urlopen(url, timeout=10).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "the app does not come up"
            time.sleep(0.2)


@contextmanager
def served(command, port, **options):
    """The URL of the app that this command starts on this port."""
    process = subprocess.Popen(command, **options)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture(scope="module")
def app_url(embedded_pair):
    """`python app.py`, as the README starts it."""
    port = free_port()
    environment = os.environ | {"GRADIO_SERVER_PORT": str(port)}
    with served([sys.executable, "app.py"], port, cwd=ROOT, env=environment) as url:
        yield url
