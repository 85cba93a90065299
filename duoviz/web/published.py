"""Recorded runs that the page reads, under addresses that say nothing of where they lie."""

import hashlib
from pathlib import Path

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

ADDRESS = "recordings"
# The folders whose files anybody may read, by their addresses.
FOLDERS: dict[str, Path] = {}
# For files whose address is another one when they change: a browser asks for them once.
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


class Kept(StaticFiles):
    """A folder of files that a browser may keep."""

    def file_response(self, *args, **options) -> Response:
        response = super().file_response(*args, **options)
        response.headers.update(KEPT)
        return response


def publish(folder: Path) -> str:
    """The address, from that of the page, of a folder whose files anybody may read."""
    folder = folder.resolve()
    files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.glob("*"))]
    address = f"{ADDRESS}/{hashlib.sha256(repr((str(folder), files)).encode()).hexdigest()[:12]}"
    FOLDERS[address] = folder
    return address


def routes() -> list[Mount]:
    """What serves them."""
    return [Mount(f"/{address}", Kept(directory=folder)) for address, folder in FOLDERS.items()]
