"""The page as a Space runs it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duoviz.space import space_files
from tests.app import ROOT, free_port, served

CAP_DAC_READ_SEARCH = 2


def read_only_copy(folder: Path) -> Path:
    """What `python -m duoviz space` sends, without the right to write any of it."""
    for file in space_files(ROOT):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    return folder


def without_rights() -> tuple[list[str], int]:
    """The words before a command, and the uid, that make read-only files read-only for root too.

    The interpreter and the models may lie in root's home: uid 1000 keeps the right to read there.
    Where that right cannot be given on, root stays root and loses all that makes it special.
    """
    if os.getuid() != 0:
        return [], os.getuid()
    status = Path("/proc/self/status").read_text().splitlines()
    bounds = int(next(line for line in status if line.startswith("CapBnd")).split()[1], 16)
    if not bounds >> CAP_DAC_READ_SEARCH & 1:
        return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"], 0
    reading = "-all,+dac_read_search"
    user = ["--reuid=1000", "--regid=1000", "--clear-groups"]
    return ["setpriv", *user, f"--inh-caps={reading}", f"--ambient-caps={reading}"], 1000


def space_port() -> int:
    """The port of a Space, or another one where it is taken."""
    with socket.socket() as listener:
        return free_port() if listener.connect_ex(("127.0.0.1", 7860)) == 0 else 7860


@contextmanager
def space_served(
    source: Path, home: Path, python: str | Path, environment: dict[str, str], **options: Any
) -> Iterator[tuple[str, subprocess.Popen]]:
    """See `served`; source: a `read_only_copy`, home: a folder that is made, python: what runs it."""
    prefix, uid = without_rights()
    home.mkdir(exist_ok=True)
    if os.getuid() == 0:
        os.chown(home, uid, uid)
    environment |= {"SPACE_ID": "someone/duoviz", "HOME": str(home), "TMPDIR": str(home)}
    with served(space_port(), environment, command=[*prefix, python, "app.py"], cwd=source, **options) as found:
        yield found
