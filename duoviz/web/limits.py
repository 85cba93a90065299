"""What one run may ask of this machine, and the environment variables that say so."""

import math
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from duoviz.decoding.settings import MAX_NEW_TOKENS, SettingsError, whole
from duoviz.errors import UserError
from duoviz.models.cache import cache_folder
from duoviz.models.pair import LONGEST_PROMPT, check_prompt
from duoviz.models.registry import PAIRS, check_draft, first_pair
from duoviz.outside import in_short
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

    def check_prompt(self, prompt: object, longest: int | None) -> None:
        """Raise UserError for a prompt that is none, or has too many characters; its worker counts the tokens.

        longest: how many its models read, where they are loaded.
        """
        check_prompt(prompt, int(min(longest or LONGEST_PROMPT, self.prompt_tokens * CHARACTERS_A_TOKEN)))

    def check_tokens(self, count: object) -> None:
        """Raise SettingsError where a Space would have to write too much; all else is for Settings to check."""
        if self.on_space and isinstance(count, int | float) and count > self.new_tokens:
            raise SettingsError(
                f"On this Space a run may have at most {self.new_tokens} new tokens: "
                "enter fewer, or run duoviz on your own machine."
            )

    def check_datastore(self, folder: str) -> None:
        """Raise SettingsError on a Space, where no visitor names folders."""
        if self.on_space and folder:
            raise SettingsError("On this Space REST uses the shipped datastore: leave the field empty.")

    def note(self) -> str:
        """What a run may be, in one line; the page shows it on a Space."""
        if not self.on_space:
            return f"A run may take {self.run_seconds:g} seconds."
        return (
            f"On this Space a prompt may have {self.prompt_tokens:,} tokens, and a run may write {self.new_tokens} "
            f"and take {self.run_seconds:g} seconds."
        )


def limits_here() -> Limits:
    """The limits of a Space where the environment says that this is one.

    Raises UserError for a variable that cannot be kept: of the queue's bounds, the first pair or the cache.
    """
    bounds = Bounds(*map(whole_number, BOUNDS, Bounds()))
    space = {"on_space": True, "run_seconds": 60, "load_seconds": 300, "new_tokens": 256, "prompt_tokens": 1024}
    limits = Limits(bounds=bounds, **space if os.environ.get("SPACE_ID") else {})
    limits.check_pair(first_pair())
    check_cache(cache_folder())
    return limits


def whole_number(variable: str, usual: int) -> int:
    """What an environment variable says, a number from 1 on. Raises SettingsError."""
    text = os.environ.get(variable, "").strip() or str(usual)
    number = whole(text)
    if number is None or number < 1:
        raise SettingsError(f"{variable} must be a whole number from 1 on, not {in_short(text)}.")
    return number


def check_cache(folder: Path) -> None:
    """Raise UserError where nothing can be written, such as to a Space's storage that was not bought.

    One that was filled before may be read-only.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        with suppress(OSError):
            if any(folder.iterdir()):
                return
        reason = error.strerror
        raise UserError(f"{folder} cannot be written to ({reason}): set DUOVIZ_CACHE to another folder.") from error
