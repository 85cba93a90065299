"""A loaded target with its tokenizer, and how to load its draft."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from duoviz.errors import UserError
from duoviz.models.cores import Cores, core_label
from duoviz.models.language_model import LanguageModel
from duoviz.outside import in_short, is_text

# The longest text, in tokens: a cache for all that a long-context model can read would fill the memory.
CONTEXT_LIMIT = 8192
# The most characters of a prompt for models that are not loaded: the longest token of most tokenizers has about 100.
LONGEST_PROMPT = CONTEXT_LIMIT * 256

# Loads a pair's draft, on the CPU in its own precision unless its options `device` and `precision` say otherwise.
# Raises UserError.
LoadDraft = Callable[..., LanguageModel]


@dataclass(frozen=True)
class DraftSource:
    """A draft that is not loaded yet.

    load: picklable, because the draft is loaded where it runs. version: changes with the weights. folder: where they
    lie, None for a model made in memory.
    """

    load: LoadDraft
    label: str
    precision: str
    version: str = ""
    folder: Path | None = None


@dataclass(frozen=True)
class Pair:
    """A loaded target, its tokenizer (see `tokenizers.Tokenizer`), and its draft's source.

    eos: the ids that end a text. prompt_format: None where the tokenizer has a chat template, else see
    `registry.Models`. memory: bytes that the pair was to take, by device.
    """

    name: str
    target: LanguageModel
    tokenizer: Any
    eos: frozenset[int]
    cores: Cores
    draft: DraftSource
    prompt_format: str | None = None
    memory: dict[str, int] = field(default_factory=dict)

    @cached_property
    def longest_prompt(self) -> int:
        """How many characters a prompt may have: with more it has more tokens than the context holds."""
        return self.target.context_limit * max(map(len, self.tokenizer.get_vocab()))

    def encode(self, prompt: str, *, raw: bool = False, before: Sequence[tuple[str, str]] = ()) -> list[int]:
        """Token ids of a user turn, in the chat template or the pair's format, or of raw text. Raises UserError.

        before: the conversation's earlier turns, (user's text, answer). A template writes special tokens such as BOS
        itself; without one they are those of the tokenizer's own call.
        """
        check_prompt(prompt, self.longest_prompt)
        texts = [*(text for turn in before for text in turn), prompt]
        check_characters(sum(map(len, texts)), self.longest_prompt)
        ids, limit = self.tokenized(texts, raw=raw), self.target.context_limit
        if not (ids and self.tokenizer(prompt, add_special_tokens=False)["input_ids"]):
            raise UserError(f"The tokenizer of {self.target.label} knows nothing of this prompt: write another prompt.")
        if len(ids) >= limit:
            raise UserError(f"The prompt is too long: {len(ids):,} tokens; the limit is {limit:,}.")
        if (last := max(ids)) >= self.target.vocab_size:
            token = in_short(self.tokenizer.decode([last]))
            raise UserError(f"The prompt has the token {token}, which {self.target.label} does not know: leave it out.")
        return ids

    def tokenized(self, texts: list[str], *, raw: bool) -> list[int]:
        """Ids of a conversation's texts, of user and assistant in turn. Raises UserError."""
        if raw:
            return self.tokenizer("".join(texts))["input_ids"]
        if self.prompt_format is not None:
            texts[::2] = [self.prompt_format.format(prompt=text) for text in texts[::2]]
            return self.tokenizer(" ".join(texts))["input_ids"]
        chat = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
        text = self.tokenizer.render(chat)
        check_characters(len(text), self.longest_prompt, "The prompt in the model's chat template")
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def target_device_label(self, cores: tuple[int, ...], borrowed: tuple[int, ...] = ()) -> str:
        """What the target runs on, as the page calls it; cores, borrowed: those it uses where that is the CPU."""
        if self.target.device == "cpu":
            return core_label(cores, borrowed)
        from torch import cuda

        return cuda.get_device_name(self.target.device)

    def draft_device_label(self) -> str:
        return core_label(self.cores.draft)


def check_characters(count: int, most: int, what: str = "The prompt") -> None:
    """Raise UserError for a text too long to be read: counting its tokens would take long."""
    if count > most:
        raise UserError(f"{what} is too long: {count:,} characters; the limit is {most:,}.")


def check_prompt(prompt: object, longest: int = LONGEST_PROMPT) -> None:
    """Raise UserError for what is no text, a text of more than `longest` characters, or one without words."""
    if not isinstance(prompt, str):
        raise UserError(f"The prompt must be text, not {in_short(prompt)}.")
    if not is_text(prompt):
        raise UserError("The prompt contains an invalid character (an unpaired surrogate): type that character again.")
    check_characters(len(prompt), longest)
    if not prompt.strip():
        raise UserError("The prompt is empty: enter a prompt.")
