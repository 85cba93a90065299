"""The settings of a run, checked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from duoviz.decoding.sampling import Sampling
from duoviz.outside import is_text, shown

MAX_NEW_TOKENS = 4096
MAX_BUDGET = 64
MAX_OFFSET = 8
MAX_SEQUENCES = 8
# At a tenth of it, a token that rounding alone keeps from being the best (see `rounding`) has a probability that no
# float holds, so that a tie could not be told from a defect; far below it the logits themselves become infinite.
MIN_TEMPERATURE = 1e-5
MAX_TEMPERATURE = 2.0
# Whole numbers up to here survive JSON and JavaScript.
MAX_WHOLE = 2**53 - 1
# A whole number as typed; Python reads no longer ones.
WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


class SettingsError(ValueError):
    """A setting is out of range; the message is a sentence for the user."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run decodes.

    temperature: 0 is greedy; else, from MIN_TEMPERATURE on, the target's distribution is softmax(logits / temperature).
    top_k: only the k most probable tokens may be drawn, 0 for all. top_p: only the most probable
    tokens that together reach this mass may be drawn, 1 for all. seed: the same seed and settings
    give the same text. acceptance: "coupled" (a drafted token is accepted if the target draws it
    too, with the same noise) or "rejection" (the classical rule; where temperature is 0 both are the same).
    sequences: k, the number of draft sequences, or "dynamic" (by the threshold θ).
    budget: γ, the draft budget in single-sequence draft steps, or "auto" (from measured costs).
    budget_offset: added to γ where it is "auto", and to how long sequences may be; both are 1 at least.
    draft_mode: "batched" (all sequences grow together) or "paper" (one after another, γ tokens in all).
    cores: for methods that do not work in parallel, "all" cores or the "target"'s share only.
    lookup_*: prompt lookup's longest n-gram, how many tokens after it are proposed, and which of its
    occurrences counts. rest_*: REST's datastore (a folder, "" for the one that comes along), the
    longest and the shortest suffix looked for, and how many tokens the tree may have. lookahead_*:
    Lookahead's window W, n-gram size N and number of guesses G.
    """

    max_new_tokens: int = 256
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    acceptance: Literal["coupled", "rejection"] = "coupled"
    sequences: int | Literal["dynamic"] = "dynamic"
    budget: int | Literal["auto"] = "auto"
    budget_offset: int = 0
    draft_mode: Literal["batched", "paper"] = "batched"
    cores: Literal["all", "target"] = "all"
    lookup_ngram: int = 3
    lookup_tokens: int = 10
    lookup_occurrence: Literal["first", "latest"] = "first"
    rest_datastore: str = ""
    rest_longest: int = 16
    rest_shortest: int = 2
    rest_tokens: int = 64
    lookahead_window: int = 7
    lookahead_ngram: int = 5
    lookahead_guesses: int = 7

    def __post_init__(self) -> None:
        check_number("max_new_tokens", self.max_new_tokens, 1, MAX_NEW_TOKENS)
        if not is_zero(self.temperature):
            check_share("temperature", self.temperature, MIN_TEMPERATURE, MAX_TEMPERATURE, other="0 (greedy)")
        check_number("top_k", self.top_k, 0, MAX_WHOLE)
        check_share("top_p", self.top_p, 0.01, 1)
        check_number("seed", self.seed, 0, MAX_WHOLE)
        check_word("acceptance", self.acceptance, ("coupled", "rejection"))
        check_number("sequences", self.sequences, 1, MAX_SEQUENCES, word="dynamic")
        check_number("budget", self.budget, 1, MAX_BUDGET, word="auto")
        check_number("budget_offset", self.budget_offset, -MAX_OFFSET, MAX_OFFSET)
        check_word("draft_mode", self.draft_mode, ("batched", "paper"))
        check_word("cores", self.cores, ("all", "target"))
        check_number("lookup_ngram", self.lookup_ngram, 1, 16)
        check_number("lookup_tokens", self.lookup_tokens, 1, MAX_BUDGET)
        check_word("lookup_occurrence", self.lookup_occurrence, ("first", "latest"))
        if not is_text(self.rest_datastore):
            raise SettingsError(f"rest_datastore must be the name of a folder{given(self.rest_datastore)}.")
        check_number("rest_longest", self.rest_longest, 1, 64)
        check_number("rest_shortest", self.rest_shortest, 1, self.rest_longest)
        check_number("rest_tokens", self.rest_tokens, 1, MAX_BUDGET)
        check_number("lookahead_window", self.lookahead_window, 1, 32)
        check_number("lookahead_ngram", self.lookahead_ngram, 2, 8)
        check_number("lookahead_guesses", self.lookahead_guesses, 1, 32)

    def near(self, measured: int) -> int:
        """A number of draft steps at the offset from the measured one."""
        return max(1, min(MAX_BUDGET, measured + self.budget_offset))

    @property
    def sampling(self) -> Sampling:
        """What the target's draw depends on."""
        return Sampling(float(self.temperature), self.top_k, float(self.top_p), self.seed)

    @property
    def by_rejection(self) -> bool:
        """Whether the classical rule decides; a greedy run has nothing to draw."""
        return self.acceptance == "rejection" and self.temperature > 0


def check_number(name: str, value: object, lowest: int, highest: int, *, word: str | None = None) -> None:
    """Raise SettingsError unless `value` is `word` or a whole number from `lowest` to `highest`."""
    if word is not None and value == word:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        allowed = f"a whole number from {lowest} to {highest}" + (f" or {word!r}" if word else "")
        raise SettingsError(f"{name} must be {allowed}{given(value)}.")


def given(value: object) -> str:
    """The end of a sentence on a wrong value; a field that was left empty has none."""
    return ", and nothing was given" if value is None else f", not {shown(value)}"


def is_zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def check_share(name: str, value: object, lowest: float, highest: float, *, other: str = "") -> None:
    """Raise SettingsError unless `value` is a number from `lowest` to `highest`; other: what else may be, in words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not lowest <= value <= highest:
        allowed = f"{other} or a number" if other else "a number"
        raise SettingsError(f"{name} must be {allowed} from {lowest} to {highest}{given(value)}.")


def check_word(name: str, value: object, words: Sequence[str]) -> None:
    """Raise SettingsError unless `value` is one of the words."""
    if value not in words:
        raise SettingsError(f"{name} must be one of {', '.join(words)}{given(value)}.")


def check_flag(name: str, value: object) -> None:
    """Raise SettingsError unless `value` is true or false."""
    if not isinstance(value, bool):
        raise SettingsError(f"{name} must be true or false{given(value)}.")


def parse_number(name: str, text: object, *, word: str) -> object:
    """A setting that is a whole number or `word`, read where it was typed. Raises SettingsError."""
    if not isinstance(text, str) or text.strip() == word:
        return text.strip() if isinstance(text, str) else text
    if not WHOLE.fullmatch(text.strip()):
        raise SettingsError(f"{name} must be a whole number or {word!r}, not {shown(text)}.")
    return int(text)
