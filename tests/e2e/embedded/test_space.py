"""`python app.py` as a Space runs it: the files sent there and no others, read-only, uid 1000, on every interface."""

import os
import shutil
import socket
import sys
from pathlib import Path

import pytest
from gradio_client import Client

from duoviz.models.cache import cache_folder
from duoviz.space import space_files
from tests.e2e.embedded.conftest import ROOT, free_port, served

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


@pytest.fixture(scope="module")
def space(embedded_pair, tmp_path_factory):
    """The Space's URL and the file of what it prints."""
    folder = tmp_path_factory.mktemp("space")
    source, home, log = read_only_copy(folder / "source"), folder / "home", folder / "log"
    prefix, uid = without_rights()
    home.mkdir()
    if os.getuid() == 0:
        os.chown(home, uid, uid)
    port = space_port()
    environment = os.environ | {
        "SPACE_ID": "someone/duoviz",
        "HOME": str(home),
        "TMPDIR": str(home),
        "DUOVIZ_CACHE": str(cache_folder()),
        "GRADIO_SERVER_PORT": str(port),
    }
    with log.open("w") as output:
        command = [*prefix, sys.executable, "app.py"]
        with served(command, port, cwd=source, env=environment, stdout=output, stderr=output) as url:
            yield url, log


def test_a_space_runs_from_a_read_only_tree_and_keeps_its_limits(space):
    url, log = space
    client = Client(url, verbose=False)
    job = client.submit(prompt="Name a colour.", max_new_tokens=8, api_name="/generate")
    assert 1 <= job.result(timeout=600)["metrics"]["new_tokens"] <= 8
    for count in (257, 5000):
        with pytest.raises(Exception, match="On this Space a run may have at most 256 new tokens; run duoviz on your"):
            client.predict(prompt="Hi", max_new_tokens=count, api_name="/generate")
    # Neither Gradio, which would write beside the source, nor a visitor's mistake fills the log.
    assert "Traceback" not in log.read_text() and "denied" not in log.read_text()
    with pytest.raises(Exception, match=r"There is no pair named 'someone/big \+ someone/small' on this Space"):
        client.predict(prompt="Hi", pair="someone/big + someone/small", api_name="/generate")


def test_a_space_listens_on_every_interface(space):
    port = int(space[0].rstrip("/").rpartition(":")[2])
    with socket.socket() as caller:
        assert caller.connect_ex(("127.0.0.2", port)) == 0
