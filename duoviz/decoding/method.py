"""A decoding method as one record: who drafts in its runs, and what the rest of duoviz says of it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.theory import Expectation


@dataclass(frozen=True, kw_only=True)
class Proposer:
    """What proposes a method's tokens.

    id: their `source` in traces. token: one of them in the legend. origin: where it comes from, within a sentence.
    counts: the meaning of its `count`.
    """

    id: str
    token: str
    origin: str
    counts: str = ""


DRAFT = Proposer(id="draft", token="token from the draft", origin="from the draft")
TARGET = Proposer(id="target", token="token from the target", origin="from the target")
PROMPT = Proposer(id="prompt", token="token from earlier in the text", origin="from earlier in the text")

# The statuses of proposed tokens.
VERIFYING = ("accepted", "rejected", "discarded", "correction")

# What a trace's header says of its method.
DESCRIBED = (
    "title", "name", "draft", "parallel", "proposers", "statuses", "numbers", "caption", "verified", "nothing",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method: all that the command line, the page, Compare, the Lab and traces know of it.

    id: its name on the command line and in traces. title: in tables; name: in full; about: in one sentence. drafter:
    makes a run's Drafter of its RunPlan. draft: a draft model proposes; parallel: at the same time as the target, on
    cores of its own (the setting `overlap` chooses for methods that read it). trees: needs a target that reads trees.
    settings: those it reads beyond every method's. statuses: of its tokens. numbers: the page's figures beyond every
    run's. expected: its theory.

    The page's words for an iteration (places in braces: `visualizer/sentence.js`): caption: over the verified tokens;
    verified: what was proposed; nothing: why nothing was.
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
        """Whether it can accept by the classical rule, which needs the distribution that was drafted from."""
        return "acceptance" in self.settings

    def described(self) -> dict:
        """What a trace's header says of it, as JSON."""
        facts = asdict(self)
        return {name: list(facts[name]) if isinstance(facts[name], tuple) else facts[name] for name in DESCRIBED}
