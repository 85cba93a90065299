"""Prompt lookup: what followed the text's last tokens earlier in the text is proposed again."""

from collections.abc import Iterator

from duoviz.decoding.in_turn import propose_and_verify
from duoviz.decoding.iteration import Iteration, Node
from duoviz.decoding.method import VERIFYING, Method, Proposer
from duoviz.decoding.settings import Settings
from duoviz.models.copying import NGrams
from duoviz.models.pair import Pair


def prompt_lookup(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Iteration]:
    """Propose the tokens that followed the longest n-gram at the text's end where it stood earlier, as a chain.

    Prompt Lookup Decoding (Saxena 2023, github.com/apoorvumang/prompt-lookup-decoding). The prompt is
    part of the text, and so is what was written since. An n-gram stood earlier where at least one
    token follows it; the last tokens of the two may overlap.
    """
    known = NGrams(settings.lookup_ngram)

    def propose(text: list[int], longest: int) -> tuple[int, list[Node]]:
        known.append(text[len(known.tokens) :])
        matched, places = known.earlier(text[-settings.lookup_ngram :], end=len(text))
        place = 0 if settings.lookup_occurrence == "first" else -1
        followed = text[places[place] :][: min(settings.lookup_tokens, longest)] if matched else []
        return matched, [Node(token, index - 1, "prompt") for index, token in enumerate(followed)]

    return propose_and_verify(pair, prompt_ids, settings, propose)


PROMPT = Proposer(id="prompt", token="token found earlier in the text", origin="found earlier in the text")

PROMPT_LOOKUP = Method(
    id="prompt_lookup",
    title="PLD",
    name="Prompt lookup (PLD)",
    about="What followed the text's last tokens earlier in the text is proposed again; no draft model.",
    decode=prompt_lookup,
    proposers=(PROMPT,),
    settings=("lookup_ngram", "lookup_tokens", "lookup_occurrence", "cores"),
    statuses=VERIFYING,
    numbers=("acceptance",),
    caption="stood earlier in the text, now checked",
    verified="{end} stood earlier in the text; "
    "{tokens:one token followed there, and|of the # tokens that followed there,} {target}",
    nothing="Nothing like the end of the text stood earlier",
    colour="#c98a1b",
    shape="x",
    mark="triangle-up",
)
