"""Processes that tests start: forked from one that has imported what all of them need."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from unittest import mock

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.workers.loads"])


def start(function: Callable, *arguments, daemon: bool = False) -> tuple[BaseProcess, Connection]:
    """A process in this one's environment that calls `function(pipe, *arguments)`; it, and our end of the pipe."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=call, args=(function, theirs, dict(os.environ), arguments), daemon=daemon)
    process.start()
    theirs.close()
    return process, ours


@contextmanager
def forking() -> Iterator[None]:
    """Workers and drafts that this process starts are forked from that one too."""
    with mock.patch.object(multiprocessing, "get_context", lambda kind: CONTEXT):
        yield


def call(function: Callable, pipe: Connection, environment: dict[str, str], arguments: tuple) -> None:
    os.environ.update(environment)
    function(pipe, *arguments)
