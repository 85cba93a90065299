"""The settings of a run, checked."""

import re
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from duoviz.decoding.sampling import Sampling
from duoviz.errors import UserError
from duoviz.outside import in_short, is_text

MAX_NEW_TOKENS = 4096
MAX_BUDGET = 64
MAX_OFFSET = 8
MAX_SEQUENCES = 8
# At a tenth of it, floats cannot hold the probability of a token that only rounding (see `rounding`) keeps from being
# the best, so a tie would look like a defect; far below it, logits become infinite.
MIN_TEMPERATURE = 1e-5
MAX_TEMPERATURE = 2.0
# Whole numbers up to here survive JSON and JavaScript.
MAX_WHOLE = 2**53 - 1
# A whole number as typed, of as many digits as Python reads.
WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


@dataclass(frozen=True)
class About:
    """A setting's range, label and help, for its check, `--help`, the page's fields and the API.

    words: values, or alternatives to a number. low, high: of a number, whole if `low` is; zero: the meaning of 0 where
    that is allowed below `low`. A setting without words and numbers is a folder's name.
    """

    label: str
    info: str = ""
    words: tuple[str, ...] = ()
    low: float | None = None
    high: float = 0
    zero: str = ""

    def check(self, name: str, value: object) -> None:
        """Raise UserError unless the setting of this name may be `value`."""
        if self.low is not None:
            check_number(name, value, self.low, self.high, word="".join(self.words), zero=self.zero)
        elif self.words and value not in self.words:
            raise wrong(name, f"{', '.join(self.words[:-1])} or {self.words[-1]}", value)
        elif not self.words and not is_text(value):
            raise wrong(name, "the name of a folder", value)


def setting(default: Any, label: str, info: str = "", **limits: Any) -> Any:
    """A field of `Settings`; limits: what `About` has beside label and info."""
    return field(default=default, metadata={"about": About(label, info, **limits)})


def number(default: Any, low: float, high: float, *about: str, zero: str = "") -> Any:
    """A field for a number; where its default is a word, for that word too."""
    words = (default,) if isinstance(default, str) else ()
    return setting(default, *about, low=low, high=high, words=words, zero=zero)


def choice(words: tuple[str, ...], *about: str) -> Any:
    """A field for one of some words, the first of which is the default."""
    return setting(words[0], *about, words=words)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a run decodes; a method's record names the settings that only some methods read (`method.Method`).

    temperature 0 is greedy; else the target draws from softmax(logits / temperature) after top_k and top_p. acceptance:
    "coupled" (a drafted token is accepted if the target, with the same noise, draws it too) or "rejection" (the
    classical rule; greedy both are the same). sequences is k, budget γ in single-sequence draft steps.
    """

    max_new_tokens: int = number(256, 1, MAX_NEW_TOKENS, "Max new tokens")
    temperature: float = number(
        0.0, MIN_TEMPERATURE, MAX_TEMPERATURE, "Temperature", "0: always the most probable token", zero="greedy"
    )
    top_k: int = number(0, 0, MAX_WHOLE, "Top-k", "the k most probable tokens; 0: all")
    top_p: float = number(1.0, 0.01, 1, "Top-p", "the most probable tokens that together have this probability; 1: all")
    seed: int = number(0, 0, MAX_WHOLE, "Seed", "the same seed gives the same text (except with acceptance: rejection)")
    acceptance: Literal["coupled", "rejection"] = choice(
        ("coupled", "rejection"),
        "Acceptance",
        "coupled: the same text as the target alone; rejection: standard speculative sampling",
    )
    sequences: int | Literal["dynamic"] = number(
        "dynamic", 1, MAX_SEQUENCES, "Draft sequences k", "dynamic: by the threshold θ"
    )
    budget: int | Literal["auto"] = number("auto", 1, MAX_BUDGET, "Draft budget γ", "auto: measured")
    budget_offset: int = number(
        0, -MAX_OFFSET, MAX_OFFSET, "Budget offset", "added to an automatic γ and to the longest sequence"
    )
    draft_mode: Literal["batched", "paper"] = choice(
        ("batched", "paper"),
        "Drafting order",
        "batched: all at once; paper: one after another, always, on cores of its own, as the authors do",
    )
    cores: Literal["auto", "all", "target"] = choice(
        ("auto", "all", "target"),
        "Cores",
        "all: every core; target: those of DuoDecoding's target; auto: whichever is faster",
    )
    lookup_ngram: int = number(
        3, 1, 16, "Longest n-gram", "how many of the last tokens are looked up earlier in the text"
    )
    lookup_tokens: int = number(10, 1, MAX_BUDGET, "Tokens proposed", "how many of the tokens that follow are proposed")
    lookup_occurrence: Literal["first", "latest"] = choice(
        ("first", "latest"), "Which occurrence", "first or latest, where there are several"
    )
    rest_datastore: str = setting("", "Datastore", "a folder made by `datastore build`; empty: the shipped one")
    rest_longest: int = number(
        16, 1, 64, "Longest suffix", "how many of the last tokens are looked up in the datastore"
    )
    rest_shortest: int = number(2, 1, 64, "Shortest suffix", "shorter matches propose nothing")
    rest_tokens: int = number(64, 1, MAX_BUDGET, "Tokens proposed", "the most tokens in the tree of continuations")
    lookahead_window: int = number(7, 1, 32, "Window W", "how many positions ahead are guessed at once")
    lookahead_ngram: int = number(
        5, 2, 8, "N-gram size N", "an n-gram is N tokens in a row; N − 1 rounds of guesses make one"
    )
    lookahead_guesses: int = number(7, 1, 32, "Guesses G", "how many n-grams are verified at once")
    overlap: Literal["auto", "beside", "in_turn"] = choice(
        ("auto", "beside", "in_turn"),
        "When the draft works",
        "beside: parallel to the target; in_turn: alternating; auto: parallel to a target on a GPU",
    )
    tree_children: int = number(4, 1, MAX_SEQUENCES, "Children", "the most guesses after one token")
    tree_budget: int | Literal["auto"] = number(
        "auto", 1, MAX_BUDGET, "Tokens checked", "the most tokens checked in one forward pass; auto: as many as pay"
    )

    def __post_init__(self) -> None:
        for name, about in ABOUT.items():
            about.check(name, getattr(self, name))
        check_number("rest_shortest", self.rest_shortest, 1, self.rest_longest)

    def near(self, measured: int) -> int:
        """A measured number of draft steps, plus the user's offset."""
        return max(1, min(MAX_BUDGET, measured + self.budget_offset))

    @property
    def sampling(self) -> Sampling:
        """What the target's draw depends on."""
        return Sampling(float(self.temperature), self.top_k, float(self.top_p), self.seed)

    @property
    def by_rejection(self) -> bool:
        """Whether the classical rule decides; not in a greedy run."""
        return self.acceptance == "rejection" and self.temperature > 0


ABOUT: dict[str, About] = {setting.name: setting.metadata["about"] for setting in fields(Settings)}
DEFAULTS = {setting.name: setting.default for setting in fields(Settings)}


def wrong(name: str, allowed: str, value: object) -> UserError:
    """The error for a wrong value; None is a field that was left empty."""
    label = ABOUT[name].label if name in ABOUT else name
    label = label if label.lower() == name.lower() else f"{label} ({name})"
    return UserError(f"{label}: enter {allowed}{'' if value is None else f', not {in_short(value)}'}.")


def check_number(name: str, value: object, lowest: float, highest: float, *, word: str = "", zero: str = "") -> None:
    """Raise UserError unless `value` is in the range, and whole if `lowest` is; or the word, or a 0 with a meaning.

    word, zero: "" for none.
    """
    whole = isinstance(lowest, int)
    within = isinstance(value, int | float) and (lowest <= value <= highest or bool(zero and value == 0))
    usable = within and not isinstance(value, bool | float if whole else bool)
    if not usable and (not word or value != word):
        other = f"{word} or " if word else f"0 ({zero}) or " if zero else ""
        raise wrong(name, f"{other}a {'whole ' if whole else ''}number from {lowest} to {highest}", value)


def check_flag(name: str, value: object) -> None:
    """Raise UserError unless `value` is true or false."""
    if not isinstance(value, bool):
        raise wrong(name, "true or false", value)


def parsed(name: str, value: Any) -> Any:
    """A setting's value as typed: the whole number that it is, where both words and numbers are allowed."""
    about = ABOUT[name]
    if about.low is None or not about.words or not isinstance(value, str):
        return value
    number = whole(text := value.strip())
    return number if number is not None else text if text in about.words else value


def whole(text: str) -> int | None:
    """The whole number that a text is, else None."""
    return int(text) if WHOLE.fullmatch(text) else None
