"""A decoding method as one record: who drafts in its runs, and all that is said of it anywhere."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.theory import Expectation


@dataclass(frozen=True, kw_only=True)
class Proposer:
    """What proposes a method's tokens.

    id: the `source` of its tokens in traces. token: what the legend calls one. origin: where a token comes
    from, in the middle of a sentence. counts: what a token's `count` says, where it has one.
    """

    id: str
    token: str
    origin: str
    counts: str = ""


DRAFT = Proposer(id="draft", token="token from the draft", origin="from the draft")
TARGET = Proposer(id="target", token="token from the target", origin="from the target")
PROMPT = Proposer(id="prompt", token="token from earlier in the text", origin="from earlier in the text")

# What the tokens of a method become that proposes first and verifies then.
VERIFYING = ("accepted", "rejected", "discarded", "correction")

# What a trace's header says of its method.
DESCRIBED = (
    "title", "name", "draft", "parallel", "proposers", "statuses", "numbers", "caption", "verified", "nothing",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method. The command line, the page, Compare, the Lab and the trace's checks know of it what stands here.

    id: its name on the command line and in traces. title: in tables; name: in full. about: what it does, in
    one sentence. drafter: makes the Drafter of a run from its RunPlan. draft: whether a draft model proposes;
    parallel: whether it works at the same time as the target, on cores of its own; a method that reads the
    setting `overlap` works either way. trees: whether it needs a target that reads a tree. proposers: none where
    nothing is proposed. settings: the names of those that it reads and not all methods do. statuses: what its tokens
    can become; numbers: which of the page's figures it has beyond those of every run. expected: what theory says of
    it, where it does.

    What the page says of an iteration (see `visualizer/note.js` for the places in braces) where `verified` is
    given: caption: over the tokens checked. verified: what was proposed. nothing: why nothing was proposed.
    """

    id: str
    title: str
    name: str
    about: str
    drafter: Callable[[Any], Drafter]
    draft: bool = False
    parallel: bool = False
    trees: bool = False
    proposers: tuple[Proposer, ...] = ()
    settings: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ("correction",)
    numbers: tuple[str, ...] = ()
    expected: Expectation | None = None
    caption: str = ""
    verified: str = ""
    nothing: str = ""

    @property
    def classical_rule(self) -> bool:
        """Whether the setting `acceptance` may be the classical rule, which needs the distribution drafted from."""
        return "acceptance" in self.settings

    def described(self) -> dict:
        """What a trace's header says of it: all that the page needs to draw a run, as JSON."""
        facts = asdict(self)
        return {name: list(facts[name]) if isinstance(facts[name], tuple) else facts[name] for name in DESCRIBED}
