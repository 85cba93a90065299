"""`python -m duoviz space`, against a hub of its own on this machine that the hub's real client talks to."""

import re
import subprocess
import time
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from huggingface_hub import SpaceHardware, constants

from duoviz import commands, space
from duoviz.__main__ import main
from duoviz.recordings import FOLDER
from duoviz.training.__main__ import CORPUS
from tests.stand_in_hub import Space, serving

BINARY = {"assets/draft/model.safetensors": b"\0weights", "assets/datastore/tokens.npy": b"\0tokens"}
PROJECT = BINARY | {
    "app.py": b"print()",
    "requirements.txt": b"gradio",
    "README.md": b"---\nsdk: gradio\n---\n",
    "LICENSE": b"free",
    "duoviz/__init__.py": b"",
    "duoviz/web/app.py": b"x = 1",
    "duoviz/web/static/page.js": b"let x",
    "assets/lessons/01-one.md": b"# One",
    "assets/traces/story/vanilla.duoviz.json": b"{}",
}


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def track(root: Path) -> Path:
    """Let git track all that is there."""
    for arguments in (["init"], ["add", "--all"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)
    return root


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of a few files, which the command sends in place of this one."""
    root = track(write(tmp_path / "project", PROJECT))
    monkeypatch.setattr(commands, "ROOT", root)
    return root


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub that the client takes for the real one, as the user `me`; without Xet, as every client can."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_TOKEN", "token")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_OIDC_RESOURCE", raising=False)
    # The client waits longer and longer before it tries anew.
    at_once = SimpleNamespace(**vars(time) | {"sleep": lambda seconds: None})
    monkeypatch.setattr("huggingface_hub.utils._http.time", at_once)
    with serving() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        yield hub


def test_only_what_git_tracks_and_the_page_needs_is_sent_and_a_rehearsal_sends_nothing(hub, project, capsys):
    write(
        project,
        dict.fromkeys(["tests/test_app.py", "duoviz/web/front/page.js", "assets/draft/selfchat.npz"], b"tracked"),
    )
    track(project)
    write(project, dict.fromkeys([".env", "duoviz/new.py", "assets/mine.jsonl"], b"left by the user"))
    assert main(["space", "me/duoviz", "--dry-run"]) == 0
    *files, total = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in files] == sorted(PROJECT) and not hub.requests
    assert total == "me/duoviz would hold 11 files (0.0 MB); nothing was sent."
    assert main(["space", "me/duoviz"]) == 0
    assert hub.spaces["me/duoviz"].files == {".gitattributes": b""} | PROJECT


def test_of_this_project_all_is_sent_that_the_page_reads():
    sent = set(space.space_files(space.ROOT))
    modules = {str(path.relative_to(space.ROOT)) for path in (space.ROOT / "duoviz").rglob("*.py")}
    modules = {name for name in modules if "node_modules" not in name}
    assert sent >= modules | {"app.py", "requirements.txt", "README.md", "LICENSE", "assets/draft/model.safetensors"}
    assert {"duoviz/web/static/entries.json", "duoviz/web/front/styles/frame.css", "duoviz/lab/report.css"} <= sent
    unsent = {str(path.relative_to(space.ROOT)) for path in [*CORPUS, *(FOLDER / "with-an-H100").iterdir()]}
    assert not sent & unsent and not any(file.startswith(("tests/", "docs/")) for file in sent)


def test_the_front_matter_names_the_versions_that_are_installed():
    front = yaml.safe_load((space.ROOT / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    required = dict(re.findall(r"^([\w-]+)==(\S+)$", (space.ROOT / "requirements.txt").read_text(), re.MULTILINE))
    # transformers needs 3.11, and a version without quotes could be read as a number.
    assert (front["sdk_version"], front["python_version"]) == (required["gradio"], "3.11")
    assert (space.ROOT / front["app_file"]).is_file() and front["suggested_hardware"] in list(SpaceHardware)


def test_a_new_space(hub, project, capsys):
    assert main(["space", "me/duoviz", "--hardware", "cpu-upgrade", "--private"]) == 0
    made, told = hub.spaces["me/duoviz"], capsys.readouterr()
    assert made.files == {".gitattributes": b""} | PROJECT and made.commits == 2
    assert made.private and made.hardware == "cpu-upgrade" and not hub.asked("POST /api/spaces/me/duoviz/hardware")
    assert told.out == f"{hub.address}/spaces/me/duoviz\n"
    assert [line[5:] for line in told.err.splitlines() if line[3:5] == "% "] == [
        "Asking the hub who you are",
        "Preparing the Space me/duoviz as me",
        "Sending what has changed of 11 files (0.0 MB)",
        "Sent: the hub builds and starts it now",
    ]
    assert set(hub.stored.values()) == set(BINARY.values())


def test_an_update_sends_what_changed_and_removes_what_is_gone(hub, project, capsys):
    assert main(["space", "lab/duoviz"]) == 0
    there = hub.spaces["lab/duoviz"]
    assert not there.private
    # The Space's owner may add to it; what lies beside our folders is not ours.
    there.files["packages.txt"] = b"git"
    (project / "assets/lessons/01-one.md").unlink()
    write(project, {"app.py": b"print(2)", "duoviz/web/new.py": b"", "assets/draft/model.safetensors": b"\0trained on"})
    hub.requests.clear()
    assert main(["space", "lab/duoviz"]) == 0
    sent = {name: (project / name).read_bytes() for name in space.space_files(project)}
    assert there.files == {".gitattributes": b"", "packages.txt": b"git"} | sent
    assert "assets/lessons/01-one.md" not in sent and len(hub.asked("PUT /stored/")) == 1 and there.commits == 3
    capsys.readouterr()
    assert main(["space", "lab/duoviz"]) == 0
    assert "The files were up to date" in capsys.readouterr().err and there.commits == 3


def test_the_hardware_and_who_sees_it_are_changed_only_if_asked(hub, project):
    there = hub.spaces["me/duoviz"] = Space(hardware="cpu-upgrade")
    assert main(["space", "me/duoviz"]) == 0
    assert (there.private, there.hardware) == (False, "cpu-upgrade")
    assert main(["space", "me/duoviz", "--private", "--hardware", "cpu-basic"]) == 0
    hub.requests.clear()
    assert main(["space", "me/duoviz", "--private", "--hardware", "cpu-basic"]) == 0
    assert (there.private, there.hardware) == (True, "cpu-basic")
    assert not hub.asked("PUT /api/spaces") and not hub.asked("POST /api/spaces/me/duoviz/hardware")
    assert main(["space", "me/duoviz"]) == 0
    assert (there.private, there.hardware) == (True, "cpu-basic")


def test_on_zerogpu_the_package_that_lends_the_gpu_is_required_as_well(hub, project):
    assert main(["space", "me/duoviz", "--hardware", "zero-a10g"]) == main(["space", "me/duoviz"]) == 0
    sent = hub.spaces["me/duoviz"].files
    assert sent["requirements.txt"].decode().splitlines() == ["gradio", space.ZERO.decode().strip()]
    assert main(["space", "me/duoviz", "--hardware", "cpu-basic"]) == 0
    assert hub.spaces["me/duoviz"].files["requirements.txt"] == b"gradio"


def test_another_app_is_left_as_it_is(hub, project, capsys):
    files = {"app.py": b"chat", "README.md": b"", "assets/logo.png": b"\0"}
    hub.spaces["me/chat"] = Space(files=dict(files))
    assert failure(["me/chat", "--private", "--hardware", "cpu-upgrade"], capsys) == (
        "duoviz: me/chat holds another app: choose another name."
    )
    assert hub.spaces["me/chat"] == Space(files=files)


def failure(arguments: list[str], capsys) -> str:
    """The one line that the command fails with."""
    assert main(["space", *arguments]) == 1
    told = capsys.readouterr()
    (line,) = [line for line in told.err.splitlines() if line.startswith("duoviz: ")]
    assert told.err.endswith(f"{line}\n") and "Traceback" not in told.err and not told.out
    return line


def test_names_and_hardware_that_cannot_be(hub, project, capsys):
    for arguments, sentence in (
        (["duoviz"], "No Space can be named 'duoviz': write OWNER/NAME"),
        (["https://hf.co/spaces/me/duoviz"], "No Space can be named 'https://hf.co/spaces/me/duoviz'"),
        (["me/duo viz"], "No Space can be named 'me/duo viz': write OWNER/NAME, each of letters"),
        (["me/duoviz", "--hardware", "fast"], "There is no hardware named 'fast' for this page: choose one of cpu-"),
    ):
        assert failure(arguments, capsys).startswith(f"duoviz: {sentence}")
    assert hub.requests == []


def test_what_is_no_clone_or_cannot_be_read(hub, project, monkeypatch, capsys):
    # A file that even root cannot read.
    (project / "LICENSE").unlink()
    (project / "LICENSE").symlink_to("/proc/self/mem")
    assert "A file of the project cannot be read (" in failure(["me/duoviz"], capsys)
    told = "is no clone of the repository, or git is missing: run `python -m duoviz space` in a clone."
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert failure(["me/duoviz"], capsys).endswith(told)
    (project / ".git").rename(project / "git")
    assert failure(["me/duoviz"], capsys).endswith(told) and hub.requests == []


@pytest.mark.parametrize("token", ["", "wrong"])
def test_not_logged_in(token, hub, project, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", token)
    line = failure(["me/duoviz"], capsys)
    assert line.startswith("duoviz: The hub does not know you: run `hf auth login` with") and "HF_TOKEN" in line
    assert hub.spaces == {}


def test_no_network(project, monkeypatch, capsys, hub):
    with serving() as gone:
        pass
    monkeypatch.setattr(constants, "ENDPOINT", gone.address)
    assert failure(["me/duoviz"], capsys).startswith("duoviz: The Space could not be sent (")


@pytest.mark.parametrize("there", [None, Space(), Space(private=True)], ids=["not there", "there", "hidden"])
@pytest.mark.parametrize("wish", [[], ["--private"], ["--hardware", "cpu-upgrade"]], ids=str)
def test_a_space_of_somebody_else(there, wish, hub, project, capsys):
    if there:
        hub.spaces["them/duoviz"] = deepcopy(there)
    line = failure(["them/duoviz", *wish], capsys)
    assert line.startswith("duoviz: The hub does not let you change them/duoviz (")
    assert "): you are me, them must be you or your organisation" in line
    assert hub.spaces.get("them/duoviz") == there and hub.stored == {}


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_hardware_that_must_be_paid_for(there, hub, project, capsys):
    if there:
        hub.spaces["me/duoviz"] = Space()
    paid = 402, "You must add a payment method to your account."
    hub.spoilt = dict.fromkeys(["POST /api/repos/create", "POST /api/spaces/me/duoviz/hardware"], paid)
    line = failure(["me/duoviz", "--hardware", "t4-small"], capsys)
    assert line.startswith(f"duoviz: The hub does not let you change me/duoviz ({paid[1][:-1]}): ")
    assert hub.spaces == ({"me/duoviz": Space()} if there else {}) and hub.stored == {}


@pytest.mark.parametrize(
    "request_, answer, sentence",
    [
        ("GET /api/whoami", (429, "Too many"), "The hub answered with error 429 ("),
        ("GET /api/whoami", (200, b"<html>Log in to this network"), "The Space could not be sent ("),
        ("POST /api/validate", (502, b"<html>Down"), "The Space could not be sent ("),
        ("GET /api/spaces", (503, "Down"), "The hub answered with error 503 (Down): wait a while, and run the same"),
        ("POST /api/repos", (400, "Bad\nname."), "The hub answered with error 400 (Bad name): wait"),
        ("POST /api/validate", (400, "Bad README"), "The Space could not be sent (Invalid metadata in README.md"),
        ("POST /api/spaces/me/duoviz/commit", (400, "No."), "The hub answered with error 400 (No): wait"),
    ],
)
def test_what_else_a_hub_may_answer(request_, answer, sentence, hub, project, capsys):
    hub.spoilt[request_] = answer
    assert failure(["me/duoviz"], capsys).startswith(f"duoviz: {sentence}")


@pytest.mark.thorough
@pytest.mark.parametrize("answer", [None, (503, "Down")], ids=["cut", "refused"])
@pytest.mark.parametrize("broken, again", [("PUT /stored/", 2), ("POST /api/spaces/me/duoviz/commit", 0)])
def test_an_upload_broken_off_goes_on(broken, again, answer, hub, project, capsys):
    """again: what had not arrived is sent again."""
    hub.spoilt[broken] = answer
    line = failure(["me/duoviz"], capsys)
    assert re.match(r"duoviz: The (Space could not be sent|hub answered with error 503) \(.+\): ", line)
    assert "run the same command again. It sends only what is missing." in line
    assert hub.spaces["me/duoviz"] == Space()
    hub.spoilt.clear()
    hub.requests.clear()
    assert main(["space", "me/duoviz"]) == 0
    assert hub.spaces["me/duoviz"].files == {".gitattributes": b""} | PROJECT
    assert len(hub.asked("PUT /stored/")) == again
