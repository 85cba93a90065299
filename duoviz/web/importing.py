"""Importing Gradio in less time."""

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quickly() -> Iterator[None]:
    """What is imported meanwhile leaves out two things that no server needs.

    Imports leave no garbage, and to look for it takes a fifth of their time. Gradio makes stubs for editors at each
    import, from the source of each component whose class has a file; that takes two fifths of the rest.
    """
    file_of = inspect.getfile

    def file_of_no_class(thing: Any) -> str:
        if isinstance(thing, type):
            raise OSError("no stubs are wanted")
        return file_of(thing)

    gc.disable()
    inspect.getfile = file_of_no_class
    try:
        yield
    finally:
        inspect.getfile = file_of
        gc.freeze()
        gc.enable()
