"""Committed tokens as texts, one call a token."""

import os
import re
from collections.abc import Sequence
from typing import Any

# How many tokens are decoded for a new one: from so many up to so many.
CONTEXT, WINDOW = 4, 12
BROKEN = "\ufffd"
# Where clean-up may take spaces away once more follows; see transformers' `clean_up_tokenization`.
UNCLEAN = re.compile(r"(?: (?:n'?|'[vr]?)?)+$")


class TextPieces:
    """Turns committed tokens into texts, one call a token: joined, they are what `decode` adds to the prompt's text.

    A token's text is what nothing that follows can change. So a character that is split over tokens belongs to the
    token that completes it, and the earlier ones get the empty text; tokens that stand for single bytes wait for the
    first that does not. Special tokens have no text. Where the prompt's text goes on otherwise than it ended, because
    it ended within a character or with a space that is cleaned up, the texts begin where both differ.
    """

    def __init__(self, tokenizer: Any, prompt: Sequence[int] = ()):
        self.tokenizer = tokenizer
        # Only transformers' tokenizers have them; see `tokenizers.Tokenizer`.
        self.byte_ids, self.clean = getattr(tokenizer, "byte_ids", ()), getattr(tokenizer, "clean", None)
        self.ids = self.context(prompt)
        self.text = self.decode(self.ids)
        # Of the text, this many characters are written; the prompt's are not until the answer shows how they go on.
        self.written, self.prompt = 0, self.cleaned(self.text)
        self.in_bytes, self.window = True, WINDOW

    def push(self, token: int) -> str:
        """The text that this token completes."""
        self.ids.append(token)
        text = self.decode(self.ids)
        # Bytes in a row are decoded together: if one is broken, none is a character. What has no text leaves them open.
        self.in_bytes = token in self.byte_ids or (self.in_bytes and text == self.text)
        self.text = text
        if self.in_bytes:
            return ""
        piece = self.write(self.settled(text))
        if len(self.ids) > self.window:
            self.shorten()
        return piece

    def flush(self) -> str:
        """What is left at the end of the text: the bytes of an unfinished character."""
        return self.write(len(self.text))

    def write(self, end: int) -> str:
        """The text up to this place, without what was written before."""
        piece = self.cleaned(self.text[self.written : end])
        if self.prompt.startswith(piece):
            return ""
        piece = piece[len(os.path.commonprefix([piece, self.prompt])) :]
        self.written, self.prompt = end, ""
        return piece

    def settled(self, text: str) -> int:
        """How many of its characters stay as they are, whatever follows; no byte is before the end."""
        end = len(text) - text.endswith(BROKEN)
        unclean = UNCLEAN.search(text, 0, end) if self.clean else None
        return unclean.start() if unclean else end

    def shorten(self) -> None:
        """Leave out the first tokens of those that are decoded, unless what waits would change."""
        ids = self.context(self.ids)
        text = self.decode(ids)
        end = self.settled(text)
        if text[end:] == self.text[self.written :]:
            self.ids, self.text, self.written = ids, text, end
        self.window = max(WINDOW, 2 * len(self.ids))

    def context(self, ids: Sequence[int]) -> list[int]:
        """The last of these tokens: as many as it takes for what follows to be decoded as after all of them.

        Of a character between two tokens the second makes nothing, and some tokenizers drop a space at the start, so a
        whole character must be among them, of a token that is not a byte.
        """
        count, loose = CONTEXT, f"{BROKEN} '" if self.clean else BROKEN
        while True:
            last = list(ids[-count:])
            whole = self.decode([id for id in last if id not in self.byte_ids])
            if len(last) == len(ids) or whole.strip(loose):
                return last
            count *= 2

    def decode(self, ids: Sequence[int]) -> str:
        options = {"clean_up_tokenization_spaces": False} if self.clean else {}
        return self.tokenizer.decode(ids, skip_special_tokens=True, **options)

    def cleaned(self, text: str) -> str:
        return self.clean(text) if self.clean else text
