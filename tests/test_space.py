"""`python -m duoviz space`, on a client of the hub that only notes what it is asked."""

import re
import subprocess
from json import JSONDecodeError
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import httpx2
import pytest
import yaml
from huggingface_hub import CommitOperationDelete, HfApi, SpaceHardware
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError
from huggingface_hub.utils import hf_raise_for_status

from duoviz import commands, space
from duoviz.__main__ import main
from duoviz.recordings import FOLDER
from duoviz.training.__main__ import CORPUS

# What the hub puts into a Space that it makes.
BLANK = (".gitattributes", "README.md")
CHANGES = ("create_repo", "update_repo_settings", "request_space_hardware", "create_commit")
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


def there(files=BLANK, *, private=False, hardware="cpu-basic"):
    """What the client says of a Space."""
    siblings = [SimpleNamespace(rfilename=file) for file in files]
    runtime = SimpleNamespace(requested_hardware=hardware, hardware=None)
    return SimpleNamespace(sha="first", private=private, siblings=siblings, runtime=runtime)


def answer(status: int, reason: str, code: str = "") -> HfHubHTTPError:
    """What the client makes of such an answer."""
    request = httpx2.Request("POST", "https://hub.test/api/spaces/me/duoviz")
    headers = {"X-Error-Code": code}
    with pytest.raises(HfHubHTTPError) as error:
        hf_raise_for_status(httpx2.Response(status, json={"error": reason}, headers=headers, request=request))
    return error.value


MISSING = answer(404, "Repository not found", "RepoNotFound")


@pytest.fixture
def hub(monkeypatch):
    """The client of the user `me`, who has a Space as the hub makes it."""
    hub = create_autospec(HfApi, instance=True, endpoint="https://hub.test")
    hub.whoami.return_value, hub.space_info.return_value = {"name": "me"}, there()
    hub.create_commit.return_value = SimpleNamespace(oid="second")
    monkeypatch.setattr(space, "HfApi", lambda: hub)
    return hub


def changed(hub):
    """The calls so far that change something, each with its arguments."""
    made = [(name, [*arguments[1:]], options) for name, arguments, options in hub.mock_calls if name in CHANGES]
    hub.reset_mock()
    return {name: [*arguments, *options.values()] for name, arguments, options in made}


def sent(hub):
    """What the commit makes of each file; None: removed."""
    made = {}
    for each in hub.create_commit.call_args.args[1]:
        made[each.path_in_repo] = None
        if not isinstance(each, CommitOperationDelete):
            with each.as_file() as file:
                made[each.path_in_repo] = file.read()
    return made


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
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


def test_only_what_git_tracks_and_the_page_needs_is_sent_and_a_rehearsal_sends_nothing(hub, project, capsys):
    unneeded = ["tests/test_app.py", "duoviz/web/front/page.js", "assets/draft/selfchat.npz"]
    track(write(project, dict.fromkeys(unneeded, b"tracked")))
    write(project, dict.fromkeys([".env", "duoviz/new.py", "assets/mine.jsonl"], b"left by the user"))
    assert main(["space", "me/duoviz", "--dry-run"]) == 0
    *files, total = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in files] == sorted(PROJECT) and not hub.mock_calls
    assert total == "me/duoviz would hold 10 files (0.0 MB); nothing was sent."
    assert main(["space", "me/duoviz"]) == 0 and sent(hub) == PROJECT


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
    hub.space_info.side_effect = [MISSING, there(private=True, hardware="cpu-upgrade")]
    assert main(["space", "me/duoviz", "--hardware", "cpu-upgrade", "--private"]) == 0 and sent(hub) == PROJECT
    assert [*(made := changed(hub))] == ["create_repo", "create_commit"]
    assert made["create_repo"] == ["space", "gradio", "cpu-upgrade", True]
    told = capsys.readouterr()
    assert told.out == "https://hub.test/spaces/me/duoviz\n"
    assert [line[5:] for line in told.err.splitlines() if line[3:5] == "% "] == [
        "Asking the hub who you are",
        "Preparing the Space me/duoviz as me",
        "Sending what has changed of 10 files (0.0 MB)",
        "Sent: the hub builds and starts it now",
    ]


def test_an_update_sends_all_and_removes_what_is_gone_of_ours(hub, project, capsys):
    # The Space's owner may add to it; what lies beside our folders is not ours.
    hub.space_info.return_value = there([*BLANK, *PROJECT, "packages.txt", "assets/lessons/00-old.md"])
    assert main(["space", "lab/duoviz"]) == 0
    assert sent(hub) == PROJECT | {"assets/lessons/00-old.md": None}
    hub.create_commit.return_value = SimpleNamespace(oid="first")
    assert main(["space", "lab/duoviz"]) == 0 and "The files were up to date" in capsys.readouterr().err


PRIVATE, UPGRADE = ["update_repo_settings", ["space", True]], ["request_space_hardware", ["cpu-upgrade"]]


@pytest.mark.parametrize(
    "found, wish, made",
    [
        (there(hardware="cpu-upgrade"), [], []),
        (there(), ["--private", "--hardware", "cpu-upgrade"], [PRIVATE, UPGRADE]),
        (there(private=True, hardware="cpu-upgrade"), ["--private", "--hardware", "cpu-upgrade"], []),
        (there(private=True), [], []),
    ],
)
def test_the_hardware_and_who_sees_it_are_changed_only_if_asked(hub, project, found, wish, made):
    hub.space_info.return_value = found
    assert main(["space", "me/duoviz", *wish]) == 0
    *before, commit = changed(hub).items()
    assert [*map(list, before)] == made and commit[0] == "create_commit"


def test_on_zerogpu_the_package_that_lends_the_gpu_is_required_as_well(hub, project):
    for found, wish in (("cpu-basic", ["--hardware", "zero-a10g"]), ("zero-a10g", [])):
        hub.space_info.return_value = there(hardware=found)
        assert main(["space", "me/duoviz", *wish]) == 0
        assert sent(hub)["requirements.txt"].decode().splitlines() == ["gradio", space.ZERO.decode().strip()]
    assert main(["space", "me/duoviz", "--hardware", "cpu-basic"]) == 0
    assert sent(hub)["requirements.txt"] == b"gradio"


def failure(arguments: list[str], capsys) -> str:
    """The one line that the command fails with."""
    assert main(["space", *arguments]) == 1
    told = capsys.readouterr()
    (line,) = [line for line in told.err.splitlines() if line.startswith("duoviz: ")]
    assert told.err.endswith(f"{line}\n") and "Traceback" not in told.err and not told.out
    return line


def test_another_app_is_left_as_it_is(hub, project, capsys):
    hub.space_info.return_value = there(["app.py", "README.md", "assets/logo.png"])
    told = failure(["me/chat", "--private", "--hardware", "cpu-upgrade"], capsys)
    assert told == "duoviz: me/chat holds another app: choose another name." and not changed(hub)


def test_names_and_hardware_that_cannot_be(hub, project, capsys):
    for arguments, sentence in (
        (["duoviz"], "No Space can be named 'duoviz': write OWNER/NAME"),
        (["https://hf.co/spaces/me/duoviz"], "No Space can be named 'https://hf.co/spaces/me/duoviz'"),
        (["me/duo viz"], "No Space can be named 'me/duo viz': write OWNER/NAME, each of letters"),
        (["me/duoviz", "--hardware", "fast"], "There is no hardware named 'fast' for this page: choose one of cpu-"),
    ):
        assert failure(arguments, capsys).startswith(f"duoviz: {sentence}")
    assert not hub.mock_calls


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
    assert failure(["me/duoviz"], capsys).endswith(told) and not hub.mock_calls


NOT_YOURS, PAID = answer(403, "You have no write access."), answer(402, "You must add a payment method.")
DOWN, BUSY, BAD = answer(503, "Down"), answer(429, "Too many"), answer(400, "Bad\nname.")
UNKNOWN = "The hub does not know you: run `hf auth login` with a token that may write (https://huggingface.co/settings/"
REFUSED = "The hub does not let you change me/duoviz ({}): you are me, me must be you or your organisation"


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        ("whoami", LocalTokenNotFoundError(), UNKNOWN),
        ("whoami", answer(401, "Invalid username or password."), UNKNOWN),
        ("whoami", BUSY, "The hub answered with error 429 ("),
        ("whoami", httpx2.ConnectError("no route"), "The Space could not be sent (no route): check the network"),
        ("whoami", JSONDecodeError("not JSON", "<html>Log in", 0), "The Space could not be sent ("),
        ("space_info", DOWN, "The hub answered with error 503 (Down): wait a while, and run the same command again."),
        *((call, NOT_YOURS, REFUSED.format("You have no write access")) for call in CHANGES),
        *((call, PAID, REFUSED.format("You must add a payment method")) for call in CHANGES[::2]),
        ("create_repo", BAD, "The hub answered with error 400 (Bad name): wait"),
        ("create_commit", ValueError("Invalid metadata in README.md."), "The Space could not be sent (Invalid"),
        ("create_commit", OSError("cut"), "The Space could not be sent (cut): check the network, and run the same"),
    ],
)
def test_what_else_a_hub_may_answer_ends_the_command_in_a_sentence(call, error, sentence, hub, project, capsys):
    if call == "create_repo":
        hub.space_info.side_effect = MISSING
    getattr(hub, call).side_effect = error
    line = failure(["me/duoviz", "--private", "--hardware", "t4-small"], capsys)
    assert line.startswith(f"duoviz: {sentence}") and hub.mock_calls[-1][0] == call
