"""Whether a text is vanilla's: equal, different only where tokens tie, or a defect. Greedy."""

from collections.abc import Sequence

from duoviz.decoding.iteration import timed_prefill
from duoviz.decoding.rounding import ROW_COUNTS
from duoviz.models.language_model import LanguageModel

# The worst first: a row's verdict is the worst of its turns'.
VERDICTS = ("defect", "tie", "equal")

# One turn: prompt ids and token ids.
Turn = tuple[Sequence[int], Sequence[int]]


def judge(model: LanguageModel, mine: Turn, vanillas: Turn, delta: float) -> str:
    """`equal`, `tie` or `defect`.

    Where the texts differ, every token of either must be within `delta` (δ, in logits; see
    `decoding.rounding`) of the best one after its own text. The prompts of second turns differ
    where the answers to the first did.
    """
    if mine == vanillas:
        return "equal"
    return "tie" if all(farthest(model, *turn) <= delta for turn in (mine, vanillas)) else "defect"


def farthest(model: LanguageModel, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> float:
    """How far, in logits, a text's farthest token is from the target's best one, each after the text before it."""
    model.crop(0)
    if len(prompt_ids) > 1:
        timed_prefill(model, prompt_ids[:-1])
    read = [prompt_ids[-1], *token_ids[:-1]]
    found = 0.0
    # No more rows at once than δ was measured with.
    for begin in range(0, len(read), ROW_COUNTS[-1]):
        chunk, wanted = (ids[begin : begin + ROW_COUNTS[-1]] for ids in (read, token_ids))
        logits = model.forward(chunk)
        found = max(found, float((logits.amax(dim=-1) - logits[range(len(wanted)), list(wanted)]).max()))
    model.crop(0)
    return found
