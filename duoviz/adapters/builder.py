"""A trace of what another engine did, from the least one must know."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.method import VERIFYING, Proposer
from duoviz.errors import UserError
from duoviz.runs import end, versions
from duoviz.trace.reading import SCHEMA_VERSION, wrong_in_trace
from duoviz.trace.record import Recorder


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """A drafted token.

    parent: the index of the drafted token that it follows in the same iteration, -1 for the text; by default the one
    before it. q: its probability to what drafted it; p: to the target.
    """

    id: int
    parent: int | None = None
    q: float | None = None
    p: float | None = None


class TraceBuilder:
    """Collects an engine's iterations and makes a trace of them, which all that shows runs of ours shows too.

    engine, method: what the run is called, as in `transformers` and `assisted generation`. tokenizer: one of
    transformers, or an object with `decode(ids, skip_special_tokens=…)` and `(text, add_special_tokens=…)`, which gives
    `{"input_ids": ids}`. prompt: its text; prompt_ids: its tokens.
    proposer: what drafts (`duoviz.decoding.method.DRAFT`, `PROMPT` or one of your own), None where nothing does.
    target, draft: the models' `name`, and `device` and `precision` where known. submitted: when the run began, in
    seconds on the clock of the iterations' times; None where times are not known: then none is shown.
    """

    def __init__(
        self,
        *,
        engine: str,
        method: str,
        tokenizer: Any,
        prompt: str,
        prompt_ids: Sequence[int],
        max_new_tokens: int,
        target: Mapping[str, str],
        draft: Mapping[str, str] | None = None,
        proposer: Proposer | None = None,
        settings: Mapping[str, Any] | None = None,
        engine_version: str = "",
        submitted: float | None = None,
    ):
        self.recorder = Recorder(tokenizer, submitted or 0.0, prompt_ids)
        self.source, self.timed = proposer.id if proposer else "target", submitted is not None
        self.prompt_tokens, self.iterations = len(prompt_ids), list[dict]()
        self.header = {
            "schema": SCHEMA_VERSION,
            "method": f"{engine} {method}",
            "about": about(f"{engine}, {method}", proposer, has_draft=draft is not None),
            "clock": "seconds" if self.timed else "iterations",
            "target": {"device": "", **target},
            "draft": draft and {"device": "", **draft},
            "can_overlap": False,
            "settings": {**(settings or {}), "max_new_tokens": max_new_tokens},
            "prompt": prompt,
            "prompt_tokens": self.prompt_tokens,
            "versions": {**versions(), engine: engine_version},
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def add(
        self,
        committed: Sequence[int],
        *,
        drafted: Sequence[Drafted] = (),
        accepted: int = 0,
        target_seconds: tuple[float, float] | None = None,
        draft_seconds: Sequence[tuple[float, float]] = (),
    ) -> None:
        """Add one iteration: one forward of the target, and what was drafted for it.

        committed: the token ids that the text goes on with, of which the first `accepted` are drafted ones.
        target_seconds, draft_seconds: start and end of the target's forward, and of the draft's (or of all of them as
        one). Raises UserError where the accepted tokens are no branch of the drafted ones.
        """
        parents = [at - 1 if each.parent is None else each.parent for at, each in enumerate(drafted)]
        nodes = [Node(each.id, at, self.source, q=each.q, p=each.p) for at, each in zip(parents, drafted, strict=True)]
        branch, last = accept(nodes, committed[:accepted])
        met = any(node.parent == last for node in nodes)
        own = [Node(token, last, "target", status="correction") for token in committed[accepted:]]
        rows = len(nodes) + (1 if self.iterations else self.prompt_tokens)
        count = len(self.iterations)
        start, stop = target_seconds or (count, count + 1)
        each = len(nodes) if len(draft_seconds) == 1 else 1
        iteration = Iteration(
            target=Span(start, stop, rows),
            sync=stop,
            draft=[Span(*step, each) for step in draft_seconds],
            checked=[*nodes, *own],
            drafted=[],
            committed=[*branch, *own],
            outcome=("rejection" if met and own else "hit") if nodes else "none",
            tested=accepted + (met and bool(own)),
            accepted=accepted,
        )
        self.iterations.append(self.recorder.iteration(iteration))

    def trace(self, *, stopped: str = "length") -> dict:
        """The trace of what was added. stopped: why the run ended: `eos`, `length` or `context`. Raises UserError."""
        rest = self.recorder.pieces.flush()
        if self.iterations and self.iterations[-1]["committed"]:
            self.iterations[-1]["committed"][-1]["text"] += rest
        trace = {"header": self.header, "iterations": self.iterations, "end": end(self.iterations, stopped)}
        if (wrong := wrong_in_trace(trace)) is not None:
            raise UserError(f'What was added is no trace: "{wrong}" is missing or wrong.')
        return trace


def accept(nodes: list[Node], accepted: Sequence[int]) -> tuple[list[Node], int]:
    """Mark what became of the drafted nodes; gives the accepted ones, and the last one's index. Raises UserError."""
    last, branch = -1, list[Node]()
    for token in accepted:
        follow = next((at for at, node in enumerate(nodes) if (node.parent, node.token) == (last, token)), None)
        if follow is None:
            raise UserError(f"Token {token} was accepted and is not among the drafted ones that could stand there.")
        branch.append(nodes[last := follow])
        branch[-1].status = "accepted"
    for node in nodes:
        if node.status != "accepted":
            node.status = "rejected" if node.parent == last else "discarded"
    return branch, last


def about(title: str, proposer: Proposer | None, *, has_draft: bool) -> dict:
    """What the header says of the method, see `about` in the schema."""
    return {
        "title": title,
        "name": title,
        "draft": has_draft,
        "parallel": False,
        "proposers": [asdict(proposer)] if proposer else [],
        "statuses": list(VERIFYING if proposer else ["correction"]),
        "numbers": ["acceptance"] if proposer else [],
        "caption": "drafted, then checked" if proposer else "",
        "verified": "{tokens:# token was|# tokens were} drafted" if proposer else "",
        "nothing": "Nothing was drafted" if proposer else "",
    }
