"""Token texts that concatenate to the decoded text exactly."""

from typing import Any

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
