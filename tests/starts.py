"""Processes that tests start: forked from one that has imported what all of them need."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.children"])


def start(function: Callable, *arguments, daemon: bool = False) -> tuple[BaseProcess, Connection]:
    """A process in this one's environment that calls `function(pipe, *arguments)`; it, and our end of the pipe."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=call, args=(function, theirs, dict(os.environ), arguments), daemon=daemon)
    process.start()
    theirs.close()
    return process, ours


def call(function: Callable, pipe: Connection, environment: dict[str, str], arguments: tuple) -> None:
    os.environ.update(environment)
    function(pipe, *arguments)
