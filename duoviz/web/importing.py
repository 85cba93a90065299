"""Importing Gradio in less time."""

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quickly() -> Iterator[None]:
    """Import meanwhile, and do without what Python and Gradio do besides, which takes more than half of the time.

    Imports leave no garbage to look for. And Gradio writes stubs for editors anew at each import, from the source of
    each component, unless the component's class has no file.
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
