"""The settings of a run, checked."""

from dataclasses import dataclass
from typing import Literal

MAX_NEW_TOKENS = 4096
MAX_BUDGET = 64
MAX_SEQUENCES = 8


class SettingsError(ValueError):
    """A setting is out of range; the message is a sentence for the user."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run decodes.

    sequences: k, the number of draft sequences, or "dynamic" (by the threshold θ).
    budget: γ, the draft budget in single-sequence draft steps, or "auto" (from measured costs).
    draft_mode: "batched" (all sequences grow together) or "paper" (one after another, γ tokens in all).
    cores: for methods that do not work in parallel, "all" cores or the "target"'s share only.
    """

    max_new_tokens: int = 256
    sequences: int | Literal["dynamic"] = "dynamic"
    budget: int | Literal["auto"] = "auto"
    draft_mode: Literal["batched", "paper"] = "batched"
    cores: Literal["all", "target"] = "all"

    def __post_init__(self) -> None:
        check_number("max_new_tokens", self.max_new_tokens, MAX_NEW_TOKENS)
        check_number("sequences", self.sequences, MAX_SEQUENCES, word="dynamic")
        check_number("budget", self.budget, MAX_BUDGET, word="auto")
        check_word("draft_mode", self.draft_mode, ("batched", "paper"))
        check_word("cores", self.cores, ("all", "target"))


def check_number(name: str, value: object, highest: int, *, word: str | None = None) -> None:
    """Raise SettingsError unless `value` is `word` or a whole number from 1 to `highest`."""
    if word is not None and value == word:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= highest:
        allowed = f"a whole number from 1 to {highest}" + (f" or {word!r}" if word else "")
        raise SettingsError(f"{name} must be {allowed}, not {value!r}.")


def check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise SettingsError(f"{name} must be one of {', '.join(words)}, not {value!r}.")


def parse_number(name: str, text: str | int, *, word: str) -> int | str:
    """Read a setting that is a whole number or `word`, as typed."""
    if str(text).strip() == word:
        return word
    try:
        return int(str(text).strip())
    except ValueError:
        raise SettingsError(f"{name} must be a whole number or {word!r}, not {text!r}.") from None
