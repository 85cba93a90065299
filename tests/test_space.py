"""`python -m duoviz space`, with a stand-in for the hub's client."""

import os
import re
import subprocess
from copy import deepcopy
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import httpx2
import pytest
import yaml
from huggingface_hub import CommitOperationDelete, SpaceHardware
from huggingface_hub.errors import LocalTokenNotFoundError
from huggingface_hub.utils import hf_raise_for_status

from duoviz import commands, space
from duoviz.__main__ import main
from duoviz.recordings import FOLDER
from duoviz.training.__main__ import CORPUS

# What the hub puts into a Space that it makes.
BLANK = {".gitattributes": b"", "README.md": b"---\nsdk: gradio\n"}


@dataclass
class Space:
    """One repository, and the machine that it asks for."""

    files: dict[str, bytes] = field(default_factory=BLANK.copy)
    private: bool = False
    hardware: str = "cpu-basic"
    commits: int = 1


def refuse(status: int, reason: str, code: str = "") -> NoReturn:
    """Raise what the client makes of such an answer."""
    request = httpx2.Request("POST", f"{Hub.endpoint}/api/spaces/them/duoviz")
    hf_raise_for_status(
        httpx2.Response(status, json={"error": reason}, headers={"X-Error-Code": code}, request=request)
    )
    raise AssertionError


class Hub:
    """The client of the user `me`, whose token is `token`. requests: the names of all calls so far.

    spoilt: by the name of a call, what it ends with instead: a status and a reason, or an error.
    """

    endpoint = "https://hub.test"

    def __init__(self):
        self.spaces: dict[str, Space] = {}
        self.spoilt: dict[str, tuple[int, str] | Exception] = {}
        self.requests: list[str] = []

    def asked(self, call: str, name: str | None = None) -> Space | None:
        """Note a call; of one that changes something, the Space of this name."""
        self.requests.append(call)
        match self.spoilt.get(call):
            case (status, reason):
                refuse(status, reason)
            case Exception() as error:
                raise error
        if name and not name.startswith(("me/", "lab/")):
            refuse(403, "Forbidden: you have no write access to this repository")
        return self.spaces.get(name)

    def whoami(self) -> dict:
        if not os.environ["HF_TOKEN"]:
            raise LocalTokenNotFoundError
        self.asked("whoami")
        return {"name": "me"} if os.environ["HF_TOKEN"] == "token" else refuse(401, "Invalid username or password.")

    def space_info(self, name: str) -> SimpleNamespace:
        self.asked("space_info")
        space = self.spaces.get(name)
        if space is None or space.private and not name.startswith("me/"):
            refuse(404, "Repository not found", "RepoNotFound")
        return SimpleNamespace(
            sha=str(space.commits), private=space.private,
            siblings=[SimpleNamespace(rfilename=file) for file in space.files],
            runtime=SimpleNamespace(requested_hardware=space.hardware, hardware=None),
        )  # fmt: skip

    def create_repo(self, name, *, repo_type, space_sdk, space_hardware, private) -> None:
        assert (repo_type, space_sdk) == ("space", "gradio") and not self.asked("create_repo", name)
        self.spaces[name] = Space(private=bool(private), hardware=space_hardware or "cpu-basic")

    def update_repo_settings(self, name, *, repo_type, private) -> None:
        self.asked("update_repo_settings", name).private = private

    def request_space_hardware(self, name, hardware) -> None:
        self.asked("request_space_hardware", name).hardware = hardware

    def create_commit(self, name, operations, *, repo_type, commit_message) -> SimpleNamespace:
        space = self.asked("create_commit", name)
        files = dict(space.files)
        for each in operations:
            if isinstance(each, CommitOperationDelete):
                del files[each.path_in_repo]
            else:
                with each.as_file() as file:
                    files[each.path_in_repo] = file.read()
        space.commits += files != space.files
        space.files = files
        return SimpleNamespace(oid=str(space.commits))


PROJECT = {
    "assets/draft/model.safetensors": b"\0weights",
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
def hub(monkeypatch):
    hub = Hub()
    monkeypatch.setenv("HF_TOKEN", "token")
    monkeypatch.setattr(space, "HfApi", lambda: hub)
    return hub


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
    assert total == "me/duoviz would hold 10 files (0.0 MB); nothing was sent."
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
    assert made.private and made.hardware == "cpu-upgrade" and "request_space_hardware" not in hub.requests
    assert told.out == f"{hub.endpoint}/spaces/me/duoviz\n"
    assert [line[5:] for line in told.err.splitlines() if line[3:5] == "% "] == [
        "Asking the hub who you are",
        "Preparing the Space me/duoviz as me",
        "Sending what has changed of 10 files (0.0 MB)",
        "Sent: the hub builds and starts it now",
    ]


def test_an_update_sends_what_changed_and_removes_what_is_gone(hub, project, capsys):
    assert main(["space", "lab/duoviz"]) == 0
    there = hub.spaces["lab/duoviz"]
    assert not there.private
    # The Space's owner may add to it; what lies beside our folders is not ours.
    there.files["packages.txt"] = b"git"
    (project / "assets/lessons/01-one.md").unlink()
    write(project, {"app.py": b"print(2)", "duoviz/web/new.py": b"", "assets/draft/model.safetensors": b"\0trained on"})
    assert main(["space", "lab/duoviz"]) == 0
    sent = {name: (project / name).read_bytes() for name in space.space_files(project)}
    assert there.files == {".gitattributes": b"", "packages.txt": b"git"} | sent
    assert "assets/lessons/01-one.md" not in sent and there.commits == 3
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
    assert not {"update_repo_settings", "request_space_hardware"} & set(hub.requests)
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


@pytest.mark.parametrize("there", [None, Space(), Space(private=True)], ids=["not there", "there", "hidden"])
@pytest.mark.parametrize("wish", [[], ["--private"], ["--hardware", "cpu-upgrade"]], ids=str)
def test_a_space_of_somebody_else(there, wish, hub, project, capsys):
    if there:
        hub.spaces["them/duoviz"] = deepcopy(there)
    line = failure(["them/duoviz", *wish], capsys)
    assert line.startswith("duoviz: The hub does not let you change them/duoviz (")
    assert "): you are me, them must be you or your organisation" in line
    assert hub.spaces.get("them/duoviz") == there


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_hardware_that_must_be_paid_for(there, hub, project, capsys):
    if there:
        hub.spaces["me/duoviz"] = Space()
    paid = 402, "You must add a payment method to your account."
    hub.spoilt = dict.fromkeys(["create_repo", "request_space_hardware"], paid)
    line = failure(["me/duoviz", "--hardware", "t4-small"], capsys)
    assert line.startswith(f"duoviz: The hub does not let you change me/duoviz ({paid[1][:-1]}): ")
    assert hub.spaces == ({"me/duoviz": Space()} if there else {})


@pytest.mark.parametrize(
    "call, answer, sentence",
    [
        ("whoami", (429, "Too many"), "The hub answered with error 429 ("),
        ("whoami", httpx2.ConnectError("no route"), "The Space could not be sent (no route): check the network"),
        ("whoami", JSONDecodeError("not JSON", "<html>Log in", 0), "The Space could not be sent ("),
        ("space_info", (503, "Down"), "The hub answered with error 503 (Down): wait a while, and run the same"),
        ("create_repo", (400, "Bad\nname."), "The hub answered with error 400 (Bad name): wait"),
        ("create_commit", ValueError("Invalid metadata in README.md."), "The Space could not be sent (Invalid"),
        ("create_commit", OSError("cut"), "The Space could not be sent (cut): check the network, and run the same"),
    ],
)
def test_what_else_a_hub_may_answer_and_the_same_command_goes_on(call, answer, sentence, hub, project, capsys):
    hub.spoilt[call] = answer
    assert failure(["me/duoviz"], capsys).startswith(f"duoviz: {sentence}")
    assert hub.spaces in ({}, {"me/duoviz": Space()})
    hub.spoilt.clear()
    assert main(["space", "me/duoviz"]) == 0
    assert hub.spaces["me/duoviz"].files == {".gitattributes": b""} | PROJECT
