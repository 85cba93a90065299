"""Recorded runs that the page reads, under addresses that say nothing of where they lie."""

from pathlib import Path

from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

ADDRESS = "/recordings"
# The folders whose files anybody may read.
FOLDERS: list[Path] = []


def publish(folder: Path) -> str:
    """The address, under that of the page, of a folder whose files anybody may read."""
    folder = folder.resolve()
    if folder not in FOLDERS:
        FOLDERS.append(folder)
    return f"{ADDRESS}/{FOLDERS.index(folder)}"


def routes() -> list[Mount]:
    """What serves them."""
    return [Mount(f"{ADDRESS}/{number}", StaticFiles(directory=folder)) for number, folder in enumerate(FOLDERS)]
