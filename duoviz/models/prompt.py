"""What a prompt may be, and how long."""

from duoviz.errors import UserError
from duoviz.outside import in_short, is_text

# The longest text, in tokens: a cache for all that a long-context model can read would fill the memory.
CONTEXT_LIMIT = 8192
# The most characters of a prompt for models that are not loaded: the longest token of most tokenizers has about 100.
LONGEST_PROMPT = CONTEXT_LIMIT * 256


class PromptError(UserError):
    """The prompt cannot be used; the message is a sentence for the user."""


def check_characters(count: int, most: int, what: str = "The prompt") -> None:
    """Raise PromptError for a text of more characters than any that can be read: to count its tokens takes long."""
    if count > most:
        raise PromptError(f"{what} is too long: {count:,} characters; the limit is {most:,}.")


def check_prompt(prompt: object, longest: int = LONGEST_PROMPT) -> None:
    """Raise PromptError for what is no text, a text of more than `longest` characters, or one without words."""
    if not isinstance(prompt, str):
        raise PromptError(f"The prompt must be text, not {in_short(prompt)}.")
    if not is_text(prompt):
        raise PromptError(
            "The prompt contains an invalid character (an unpaired surrogate): type that character again."
        )
    check_characters(len(prompt), longest)
    if not prompt.strip():
        raise PromptError("The prompt is empty: enter a prompt.")
