"""The environment variables of whoever serves the page: one that cannot be kept gives way, and the page starts."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from duoviz.decoding.settings import whole
from duoviz.errors import UserError
from duoviz.models.cores import available_cores
from duoviz.web.limits import BOUNDS, Limits, whole_number
from duoviz.workers.local import number_of_workers


def make_way(limits: Callable[[], Limits], *, places: bool = True) -> list[str]:
    """Change the variables of this process that cannot be kept, before `limits` is asked; a sentence about each.

    places: whether the number of places is that of this machine's environment.
    """
    checks: dict[str, Callable[[], object]] = {name: partial(whole_number, name, 1) for name in BOUNDS}
    checks |= {"DUOVIZ_CACHE": check_cache, "DUOVIZ_PAIR": lambda: limits().check_pair(os.environ["DUOVIZ_PAIR"])}
    if places:
        checks["DUOVIZ_PLACES"] = lambda: number_of_workers(None, len(available_cores()))
    return [note for name, check in checks.items() if (note := kept_or_changed(name, check))]


def kept_or_changed(variable: str, check: Callable[[], object]) -> str | None:
    """Why a variable was changed; None where it is kept, or says nothing."""
    text = os.environ.pop(variable, "").strip()
    if not text:
        return None
    os.environ[variable] = text
    try:
        check()
    except UserError as error:
        del os.environ[variable]
        instead = "the default"
        if variable == "DUOVIZ_PLACES" and (whole(text) or 0) > 1:
            instead = os.environ[variable] = str(len(available_cores()))
        return f"{variable} cannot be kept, and {instead} is used. {error}"
    return None


def check_cache() -> None:
    """Raise UserError where the chosen cache cannot be filled, such as a Space's storage that was not bought.

    One that was filled before may be read-only.
    """
    folder = Path(os.path.expanduser(os.environ["DUOVIZ_CACHE"]))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if not (os.access(folder, os.R_OK) and folder.is_dir() and any(folder.iterdir())):
            raise UserError(f"{folder} cannot be written to ({error.strerror}).") from error
