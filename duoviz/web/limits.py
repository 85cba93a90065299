"""What one run may ask of this machine, and the environment variables that say so."""

import math
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from duoviz.decoding.settings import MAX_NEW_TOKENS, whole
from duoviz.errors import UserError
from duoviz.models.cache import cache_folder
from duoviz.models.cores import available_cores
from duoviz.models.pair import LONGEST_PROMPT, check_prompt
from duoviz.models.registry import PAIRS, check_draft
from duoviz.outside import in_short
from duoviz.workers.local import number_of_workers
from duoviz.workers.request_queue import Bounds

# As many as in the longest prompts that are no attack; what has more is not even counted.
CHARACTERS_A_TOKEN = 8
# The environment variables of the queue's bounds, in the order of its fields: see docs/space.md.
BOUNDS = ("DUOVIZ_LINE", "DUOVIZ_SESSION_RUNS", "DUOVIZ_ADDRESS_RUNS")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """run_seconds: how long a run may decode. load_seconds: how long fetching a pair may take, and loading it.

    prompt_tokens: how long a prompt may be, for it is read before anything can be stopped or shown.
    bounds: of the queue.

    On a Space, which many share, all limits are lower.
    """

    on_space: bool = False
    run_seconds: float = 600
    load_seconds: float = math.inf
    new_tokens: int = MAX_NEW_TOKENS
    prompt_tokens: float = math.inf
    bounds: Bounds = Bounds()

    def check_pair(self, pair: object) -> None:
        """Raise UserError unless the pair is in the registry or, off a Space, two models as TARGET + DRAFT."""
        if self.on_space and not (isinstance(pair, str) and pair in PAIRS):
            known = ", ".join(PAIRS)
            raise UserError(f"There is no pair named {in_short(pair)} on this Space: choose one of {known}.")
        check_draft(pair)

    def check_prompt(self, prompt: object) -> None:
        """Raise UserError for a prompt that is none, or has too many characters; its worker counts the tokens."""
        check_prompt(prompt, int(min(LONGEST_PROMPT, self.prompt_tokens * CHARACTERS_A_TOKEN)))

    def check_settings(self, max_new_tokens: object, rest_datastore: object = "", **_: object) -> None:
        """Raise UserError on a Space for too much to write or a visitor's folder; all else is for Settings to check."""
        if not self.on_space:
            return
        if isinstance(max_new_tokens, int | float) and max_new_tokens > self.new_tokens:
            raise UserError(
                f"On this Space a run may have at most {self.new_tokens} new tokens: "
                "enter fewer, or run duoviz on your own machine."
            )
        if rest_datastore:
            raise UserError("On this Space REST uses the shipped datastore: leave the field empty.")

    def note(self) -> str:
        """What a run may be, in one line; the page shows it on a Space."""
        if not self.on_space:
            return f"A run may take {self.run_seconds:g} seconds."
        return (
            f"On this Space a prompt may have {self.prompt_tokens:,} tokens, and a run may write {self.new_tokens} "
            f"and take {self.run_seconds:g} seconds."
        )


def limits_here() -> Limits:
    """The limits of a Space where the environment says that this is one. Raises UserError."""
    bounds = Bounds(*map(whole_number, BOUNDS, Bounds()))
    if os.environ.get("SPACE_ID"):
        limits = {"run_seconds": 60, "load_seconds": 300, "new_tokens": 256, "prompt_tokens": 1024}
        return Limits(on_space=True, **limits, bounds=bounds)
    return Limits(bounds=bounds)


def whole_number(variable: str, usual: int) -> int:
    """What an environment variable says, a number from 1 on. Raises UserError."""
    text = os.environ.get(variable, "").strip() or str(usual)
    number = whole(text)
    if number is None or number < 1:
        raise UserError(f"{variable} must be a whole number from 1 on, not {in_short(text)}.")
    return number


def make_way(*, places: bool = True) -> list[str]:
    """Change the variables of this process that cannot be kept; a sentence about each.

    places: whether the number of places is that of this machine's environment.
    """
    checks: dict[str, Callable[[], object]] = {name: partial(whole_number, name, 1) for name in BOUNDS}
    checks |= {"DUOVIZ_CACHE": check_cache, "DUOVIZ_PAIR": lambda: limits_here().check_pair(os.environ["DUOVIZ_PAIR"])}
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
    """Raise UserError where the cache cannot be filled, such as a Space's storage that was not bought.

    One that was filled before may be read-only.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        with suppress(OSError):
            if any(folder.iterdir()):
                return
        raise UserError(f"{folder} cannot be written to ({error.strerror}).") from error
