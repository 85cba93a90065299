"""The page as a Space on the Hugging Face hub: which files it needs there, and sending them."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import shorten

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, SpaceHardware, SpaceInfo, constants
from huggingface_hub.errors import (
    HfHubHTTPError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage]
    LocalTokenNotFoundError,
    RepositoryNotFoundError,
)
from huggingface_hub.utils import disable_progress_bars

from duoviz import __version__
from duoviz.errors import UserError, first_line
from duoviz.models.progress import Progress, no_progress

ROOT = Path(__file__).resolve().parents[1]

REQUIREMENTS = "requirements.txt"
# Of what git tracks, what the page needs: git's own patterns, of which some say what it does not need.
NEEDED = (
    *("app.py", REQUIREMENTS, "README.md", "LICENSE", "duoviz", "assets"),
    *(":!duoviz/web/front/*.js", ":!duoviz/web/front/*.json", ":!*.map", ":!*.npz", ":!assets/traces/with-an-H100"),
)
OURS = ("duoviz/", "assets/")
# Tells a Space of ours from another.
MARK = "duoviz/web/app.py"
# What the hub puts into a Space that it makes.
BLANK = {".gitattributes", "README.md"}

HARDWARE = [hardware.value for hardware in SpaceHardware]
# What a Space on ZeroGPU needs besides; `workers.zero` is written for this version.
ZERO = b"spaces==0.51.3\n"

NOT_LOGGED_IN = (
    "The hub does not know you: run `hf auth login` with a token that may write "
    "(https://huggingface.co/settings/tokens), or set HF_TOKEN to one."
)
NO_CLONE = "{} is no clone of the repository, or git is missing: run `python -m duoviz space` in a clone."
AGAIN = "run the same command again. It sends only what is missing."


def space_files(root: Path, patterns: Sequence[str] = NEEDED) -> list[str]:
    """The files that the page needs on a Space, relative to `root`: of those that git tracks. Raises UserError."""
    # Whose clone it is does not matter: its code is running already.
    command = ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z", "--", *patterns]
    try:
        if not (root / ".git").exists():
            raise UserError(NO_CLONE.format(root))
        listed = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(NO_CLONE.format(root)) from error
    names = listed.decode(errors="surrogateescape").split("\0")
    return sorted(name for name in names if name and (root / name).is_file())


def publish(
    root: Path, name: str, *, hardware: str | None = None, private: bool = False, progress: Progress = no_progress
) -> str:
    """Create the Space `name` ("owner/name"), or update it, with the files of `root`; returns its address.

    hardware: one of HARDWARE; None leaves it as it is. private: hide the Space; False leaves it as it is.
    progress: called with a fraction of 1 and a sentence. Raises UserError.
    """
    additions = read(root, name, hardware)
    api, user = HfApi(), None
    try:
        progress(0.0, "Asking the hub who you are")
        user = api.whoami()["name"]
        progress(0.05, f"Preparing the Space {name} as {user}")
        space = prepare(api, name, hardware=hardware, private=private)
        if (hardware or hardware_of(space)) == SpaceHardware.ZERO_A10G:
            needed = (root / REQUIREMENTS).read_bytes().rstrip() + b"\n" + ZERO
            others = [addition for addition in additions if addition.path_in_repo != REQUIREMENTS]
            additions = [*others, CommitOperationAdd(REQUIREMENTS, needed)]
        progress(0.1, f"Sending what has changed of {summary(additions)}")
        commit = send(api, name, additions, content(space))
    except (HTTPError, OSError, ValueError, RuntimeError) as error:
        raise UserError(refusal(error, name, user)) from error
    progress(1.0, "The files were up to date" if commit == space.sha else "Sent: the hub builds and starts it now")
    return f"{api.endpoint}/spaces/{name}"


def rehearse(root: Path, name: str, *, hardware: str | None = None) -> list[str]:
    """What `publish` would send: a line for each file, and their sum. Asks no hub. Raises UserError."""
    additions = read(root, name, hardware)
    lines = [f"{addition.upload_info.size:>12,}  {addition.path_in_repo}" for addition in additions]
    return [*lines, f"{name} would hold {summary(additions)}; nothing was sent."]


def summary(additions: list[CommitOperationAdd]) -> str:
    return f"{len(additions)} files ({sum(addition.upload_info.size for addition in additions) / 1e6:.1f} MB)"


def read(root: Path, name: str, hardware: str | None) -> list[CommitOperationAdd]:
    """The files as the hub's client sends them. Raises UserError for what shows before the hub is asked."""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise UserError(
            f"No Space can be named {name!r}: write OWNER/NAME, each of letters, digits, '-', '_' and '.'; "
            "OWNER is your name on the hub."
        )
    if hardware is not None and hardware not in HARDWARE:
        raise UserError(f"There is no hardware named {hardware!r} for this page: choose one of {', '.join(HARDWARE)}.")
    try:
        return [CommitOperationAdd(file, root / file) for file in space_files(root)]
    except OSError as error:
        raise UserError(f"A file of the project cannot be read ({error}).") from error


def prepare(api: HfApi, name: str, *, hardware: str | None, private: bool) -> SpaceInfo:
    """Make the Space or find it, hidden and on the hardware that is asked for; as it was found, or made.

    Raises UserError where it is another app, and what the hub's client raises.
    """
    try:
        space = api.space_info(name)
    except RepositoryNotFoundError:
        # Without a wish the owner's own default decides who sees it.
        wanted = SpaceHardware(hardware) if hardware else None
        api.create_repo(name, repo_type="space", space_sdk="gradio", space_hardware=wanted, private=private or None)
        space = api.space_info(name)
    if content(space) - BLANK and MARK not in content(space):
        raise UserError(f"{name} holds another app: choose another name.")
    if private and not space.private:
        api.update_repo_settings(name, repo_type="space", private=True)
    # Also for a new one: the hub need not have taken what it was created with.
    if hardware and hardware != hardware_of(space):
        api.request_space_hardware(name, SpaceHardware(hardware))
    return space


def hardware_of(space: SpaceInfo) -> str | None:
    """What a Space runs on, or has been promised."""
    return space.runtime and (space.runtime.requested_hardware or space.runtime.hardware)


def content(space: SpaceInfo) -> set[str]:
    """The files in a Space."""
    return {file.rfilename for file in space.siblings or []}


def send(api: HfApi, name: str, additions: list[CommitOperationAdd], there: set[str]) -> str:
    """Bring the Space, which holds the files `there`, to hold `additions` and none other of our folders.

    In one commit, so that it never runs half of them: the client's `upload_folder` makes several, and a Space rebuilds
    after each. Returns the id of the commit, the last one where nothing had changed.
    """
    # `models.hub` downloads without Xet, the hub's own transfer; an upload goes as the environment says.
    constants.HF_HUB_DISABLE_XET = os.environ.get("HF_HUB_DISABLE_XET", "").upper() in constants.ENV_VARS_TRUE_VALUES
    gone = sorted(file for file in there - {each.path_in_repo for each in additions} if file.startswith(OURS))
    operations = [*(CommitOperationDelete(file, is_folder=False) for file in gone), *additions]
    # The client's bars of bytes are for a terminal; in a log they would be hundreds of lines.
    with nullcontext() if sys.stderr.isatty() else disable_progress_bars():
        return api.create_commit(name, operations, repo_type="space", commit_message=f"duoviz {__version__}").oid


def refusal(error: BaseException, name: str, user: str | None) -> str:
    """Why the hub, or the way to it, does not do what it was asked; user: None before the hub knows the token."""
    if not isinstance(error, HfHubHTTPError | LocalTokenNotFoundError):
        # The client wraps what ended a file's upload; Xet's own reasons end in long addresses.
        cause = error if isinstance(error, ValueError) else error.__cause__ or error
        reason = shorten(first_line(cause), 100, placeholder=" …")
        return f"The Space could not be sent ({reason}): check the network, and {AGAIN}"
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else 401
    if status == 401 and user is None:
        return NOT_LOGGED_IN
    # The hub's own reason, in one line.
    words = " ".join((getattr(error, "server_message", None) or first_line(error)).split()).rstrip(".")
    if status in (401, 402, 403, 404):
        return (
            f"The hub does not let you change {name} ({words}): you are {user}, {name.partition('/')[0]} must be you "
            "or your organisation, and your token must be allowed to write."
        )
    return f"The hub answered with error {status} ({words}): wait a while, and {AGAIN}"
