"""Iterations as JSON: what decoding yields, with each token's text and with times since the run was submitted."""

from collections.abc import Sequence
from typing import Any

from duoviz.decoding.iteration import Iteration, Node, Span, Start

# Of the prompt, so many tokens are decoded with the answer's first.
CONTEXT = 64
BROKEN = "\ufffd"


class TextPieces:
    """Turns committed tokens into texts, one call a token: joined, they are what `decode` adds to the prompt's text.

    A token's text is what nothing that follows can change. So a character that is split over tokens belongs to the
    token that completes it, and the earlier ones get the empty text; tokens that stand for single bytes wait for the
    first that does not. Special tokens have no text.
    """

    def __init__(self, tokenizer: Any, prompt: Sequence[int] = ()):
        self.tokenizer = tokenizer
        # Only transformers' tokenizers have them; see `tokenizers.Tokenizer`.
        self.byte_ids, self.in_bytes = getattr(tokenizer, "byte_ids", ()), True
        self.begin_after(prompt[-CONTEXT:])

    def begin_after(self, ids: Sequence[int]) -> None:
        """Go on after these tokens: those before them do not change how the next ones are decoded."""
        self.ids = list(ids)
        self.text = self.decode(ids)
        self.written = len(self.text)

    def push(self, token: int) -> str:
        """The text that this token completes."""
        self.ids.append(token)
        text = self.decode(self.ids)
        # Bytes in a row are decoded together: if one is broken, none is a character. What has no text leaves them open.
        self.in_bytes = token in self.byte_ids or (self.in_bytes and text == self.text)
        self.text = text
        if self.in_bytes:
            return ""
        piece = self.write(len(text) - text.endswith(BROKEN))
        if piece and self.written == len(text):
            # How the next ones are decoded depends on the last token alone.
            self.begin_after([token])
        return piece

    def flush(self) -> str:
        """What is left at the end of the text: the bytes of an unfinished character."""
        return self.write(len(self.text))

    def write(self, end: int) -> str:
        """The text up to this place, without what was written before."""
        piece, self.written = self.text[self.written : end], max(self.written, end)
        return piece

    def decode(self, ids: Sequence[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)


class Recorder:
    """Turns a run's iterations into the trace's (see `schema`)."""

    def __init__(self, tokenizer: Any, submitted: float, prompt: Sequence[int]):
        """submitted: when the run was submitted, on the clock of the iterations' spans. prompt: its token ids."""
        self.tokenizer, self.submitted = tokenizer, submitted
        self.pieces = TextPieces(tokenizer, prompt)
        # Some tokenizers drop a space at the start of a text, so a token is shown as it is after a word.
        self.word = tokenizer("a", add_special_tokens=False)["input_ids"][-1:]
        self.word_text = tokenizer.decode(self.word, skip_special_tokens=False)
        self.texts: dict[tuple[int, ...], str] = {}
        self.count = 0

    def iteration(self, raw: Iteration) -> dict:
        """The trace's form of one iteration; call it in the order of the run."""
        committed = [
            {
                "id": new.token,
                "text": self.pieces.push(new.token),
                "source": new.source,
                "gap": new.margin and round(new.margin, 5),
            }
            for new in raw.committed
        ]
        if raw.stop and committed:
            committed[-1]["text"] += self.pieces.flush()
        self.count += 1
        living = {"rest": [self.node(node) for node in raw.unverified], "start": start(raw.start)} if raw.start else {}
        return {
            "index": self.count - 1,
            "mode": raw.mode,
            "target": self.span(raw.target, "rows"),
            "draft": [self.span(step, "tokens") for step in raw.draft],
            "sync": self.seconds(raw.sync),
            "budget": raw.budget,
            "longest": raw.longest,
            "theta": raw.theta and round(raw.theta, 5),
            "sequences": raw.sequences,
            "candidates": [
                {"id": first.token, "text": self.text(first.token), "p": round(first.p, 5), "over": first.over}
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
        recorded = {
            "id": node.token,
            "text": self.text(node.token),
            "parent": node.parent,
            "source": node.source,
            "q": node.q and round(node.q, 5),
            "count": node.count,
            "p": node.p and round(node.p, 5),
            "status": node.status,
        }
        if node.chance is not None:
            recorded |= {"chance": round(node.chance, 5), "step": node.step, "was": node.was}
        return recorded

    def matched(self, tokens: Sequence[int]) -> dict | None:
        """How many of the text's last tokens were found elsewhere, and what they say."""
        if not tokens:
            return None
        return {"tokens": len(tokens), "text": self.text(*tokens)}

    def text(self, *tokens: int) -> str:
        """The tokens' own text, as it is within a longer one, special tokens by name."""
        if tokens not in self.texts:
            text = self.tokenizer.decode([*self.word, *tokens], skip_special_tokens=False)
            within = text.startswith(self.word_text)
            self.texts[tokens] = (
                text[len(self.word_text) :] if within else self.tokenizer.decode(tokens, skip_special_tokens=False)
            )
        return self.texts[tokens]


def start(raw: Start) -> dict:
    """Why the target began when it did, rounded."""
    return {
        "expected": round(raw.expected, 4),
        "rate": round(raw.rate, 3),
        "gain": raw.gain and round(raw.gain, 5),
        "seconds": raw.seconds and round(raw.seconds, 6),
    }
