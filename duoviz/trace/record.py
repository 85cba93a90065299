"""Iterations as JSON: what decoding yields, with texts and with times since the run was submitted."""

from collections.abc import Sequence
from typing import Any

from duoviz.decoding.iteration import Iteration, Node, Span, Start

# A UTF-8 character has at most four bytes, so at most four tokens.
LONGEST_CHARACTER = 4


class TextPieces:
    """Turns committed tokens into texts, one call a token.

    A character that is split over tokens belongs to the token that completes it; the earlier ones
    get the empty text. Special tokens have no text.
    """

    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer
        self.before: list[int] = []
        self.waiting: list[int] = []

    def push(self, token: int) -> str:
        """The text that this token completes."""
        self.waiting.append(token)
        text = self.text_of_waiting()
        if text.endswith("\ufffd") and len(self.waiting) < LONGEST_CHARACTER:
            return ""
        return self.release(text)

    def flush(self) -> str:
        """What is left at the end of the text: the bytes of an unfinished character."""
        return self.release(self.text_of_waiting()) if self.waiting else ""

    def text_of_waiting(self) -> str:
        # Some tokenizers drop a leading space at the start of a text, so what came before takes part.
        before = self.tokenizer.decode(self.before, skip_special_tokens=True)
        return self.tokenizer.decode(self.before + self.waiting, skip_special_tokens=True)[len(before) :]

    def release(self, text: str) -> str:
        """The waiting tokens have been written; the last of them stay as what came before."""
        self.before = self.waiting[-LONGEST_CHARACTER:]
        self.waiting = []
        return text


class Recorder:
    """Turns a run's iterations into the trace's (see `schema`)."""

    def __init__(self, tokenizer: Any, submitted: float):
        """submitted: when the run was submitted, on the clock of the iterations' spans."""
        self.tokenizer, self.submitted = tokenizer, submitted
        self.pieces = TextPieces(tokenizer)
        self.texts: dict[int, str] = {}
        self.count = 0

    def iteration(self, raw: Iteration) -> dict:
        """The trace's form of one iteration; call it in the order of the run."""
        committed = [
            {"id": new.token, "text": self.pieces.push(new.token), "source": new.source, "gap": rounded(new.gap)}
            for new in raw.committed
        ]
        if raw.stop and committed:
            committed[-1]["text"] += self.pieces.flush()
        self.count += 1
        living = {"rest": [self.node(node) for node in raw.rest], "start": start(raw.start)} if raw.start else {}
        return {
            "index": self.count - 1,
            "mode": raw.mode,
            "target": self.span(raw.target, "rows"),
            "draft": [self.span(step, "tokens") for step in raw.draft],
            "sync": self.seconds(raw.sync),
            "budget": raw.budget,
            "longest": raw.longest,
            "theta": rounded(raw.theta),
            "sequences": raw.sequences,
            "candidates": [
                {"id": first.token, "text": self.text(first.token), "p": rounded(first.p), "over": first.over}
                for first in raw.candidates
            ],
            "matched": self.matched(raw.matched),
            "checked": [self.node(node) for node in raw.checked],
            "drafted": [self.node(node) for node in raw.drafted],
            "verdict": {name: getattr(raw, name) for name in ("outcome", "tested", "accepted", "sequence")},
            "committed": committed,
            **living,
        }

    def seconds(self, instant: float) -> float:
        """An instant as seconds since the prompt was submitted."""
        return round(instant - self.submitted, 6)

    def span(self, span: Span, count_name: str) -> dict:
        return {"start": self.seconds(span.start), "end": self.seconds(span.end), count_name: span.tokens}

    def node(self, node: Node) -> dict:
        """A token of a tree; of a tree that lives on, with what is kept of it there."""
        living = {"chance": rounded(node.chance), "step": node.step, "was": node.was}
        return {
            "id": node.token,
            "text": self.text(node.token),
            "parent": node.parent,
            "source": node.source,
            "q": rounded(node.q),
            "count": node.count,
            "p": rounded(node.p),
            "status": node.status,
            **(living if node.chance is not None else {}),
        }

    def matched(self, tokens: Sequence[int]) -> dict | None:
        """How many of the text's last tokens were found elsewhere, and what they say."""
        if not tokens:
            return None
        return {"tokens": len(tokens), "text": self.tokenizer.decode(tokens, skip_special_tokens=False)}

    def text(self, token: int) -> str:
        """One token's own text, special tokens by name."""
        if token not in self.texts:
            self.texts[token] = self.tokenizer.decode([token], skip_special_tokens=False)
        return self.texts[token]


def start(raw: Start) -> dict:
    """Why the target began when it did, rounded."""
    return {
        "expected": round(raw.expected, 4),
        "rate": round(raw.rate, 3),
        "gain": rounded(raw.gain),
        "seconds": raw.seconds and round(raw.seconds, 6),
    }


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 5)
