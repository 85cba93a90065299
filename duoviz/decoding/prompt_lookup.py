"""Prompt lookup: propose what followed the text's last tokens earlier in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.iteration import Node
from duoviz.decoding.method import PROMPT, VERIFYING, Method
from duoviz.models.ngrams import NGrams

if TYPE_CHECKING:
    from duoviz.decoding.plan import RunPlan


class PromptLookup(Drafter):
    """Propose, as a chain, what followed an earlier occurrence of the longest possible n-gram at the text's end.

    Prompt Lookup Decoding (Saxena 2023, github.com/apoorvumang/prompt-lookup-decoding). The text includes the prompt;
    the two occurrences may overlap.
    """

    def __init__(self, plan: RunPlan):
        self.settings, self.ends, self.matched = plan.settings, plan.pair.eos, []
        self.ngrams = NGrams(self.settings.lookup_ngram)

    def propose(self, text: Sequence[int], longest: int) -> list[Node]:
        self.ngrams.append(text[len(self.ngrams.tokens) :])
        length, first, last, _ = self.ngrams.earlier(text[-self.settings.lookup_ngram :], end=len(text))
        self.matched = text[len(text) - length :]
        if not length:
            return []
        place = first if self.settings.lookup_occurrence == "first" else last
        followed = up_to_end(text[place : place + min(self.settings.lookup_tokens, longest)], self.ends)
        return [Node(token, index - 1, "prompt") for index, token in enumerate(followed)]

    def observe(self, text, iteration, target_tokens) -> None:
        iteration.matched = self.matched


def up_to_end(tokens: Sequence[int], ends: frozenset[int]) -> Sequence[int]:
    """The tokens up to and including the first that ends a text."""
    return next((tokens[:count] for count, token in enumerate(tokens, 1) if token in ends), tokens)


PROMPT_LOOKUP = Method(
    id="prompt_lookup",
    title="PLD",
    name="Prompt lookup (PLD)",
    about="Proposes what followed the last tokens earlier in the text; no draft model.",
    drafter=PromptLookup,
    proposers=(PROMPT,),
    settings=("lookup_ngram", "lookup_tokens", "lookup_occurrence", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="from earlier in the text, now checked",
    verified="{end} occurred earlier in the text, followed by {tokens:# token|# tokens}",
    nothing="The last token did not occur earlier in the text",
)
