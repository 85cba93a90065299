"""Whether two runs wrote the same text: equal, a numerical tie, or a defect."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from duoviz.decoding import METHODS

# From the best to the worst.
VERDICTS = ("equal", "incomparable", "tie", "defect")

# How a run ends that had not written all it was to write.
CUT = ("stopped", "time", "error")


class Written(NamedTuple):
    """What a run wrote: token ids, and how far in logits the next best of each was (None: no other could be drawn).

    cut: whether it had more to write. by_chance: whether the classical rule decided, whose text has the target's
    distribution and is not the seed's one text.
    """

    ids: Sequence[int]
    gaps: Sequence[float | None]
    cut: bool = False
    by_chance: bool = False


def written(trace: dict) -> Written:
    """What a trace's run wrote."""
    committed = [token for iteration in trace["iterations"] for token in iteration["committed"]]
    settings = trace["header"]["settings"]
    by_rule = settings.get("acceptance") == "rejection" and settings["temperature"] > 0
    return Written(
        [token["id"] for token in committed],
        [token["gap"] for token in committed],
        cut=trace["end"]["stopped"] in CUT,
        by_chance=by_rule and METHODS[trace["header"]["method"]].classical_rule,
    )


def first_difference(first: Written, second: Written) -> int | None:
    """The first place, from 0, at which the tokens of two runs differ; None where there is none.

    Where one run was cut, what the other wrote beyond it is no difference.
    """
    for place, (one, other) in enumerate(zip_longest(first.ids, second.ids)):
        if one is None or other is None:
            return None if (first if one is None else second).cut else place
        if one != other:
            return place
    return None


def agreement(first: Written, second: Written, delta: float) -> dict:
    """Compare two runs on the same prompt, with the same seed and sampling, token by token.

    delta: δ, how far in logits rounding can move a token (see `duoviz.decoding.rounding`). Gives
    `verdict`: `equal` (the same tokens, as far as both runs went); `tie` (where they first differ, each
    run's token was within δ of the next best, so that rounding decided; from there on the texts have
    different beginnings and say nothing); `defect`; or `incomparable` (the classical rule decided one).
    tokens: how many are the same from the start; place: of the first difference, from 0, or None;
    margin: the larger of both gaps there, None where a run has no token, or another one could not be drawn at all.
    """
    if first.by_chance or second.by_chance:
        return {"verdict": "incomparable", "tokens": 0, "place": None, "margin": None, "delta": None}
    if (place := first_difference(first, second)) is None:
        both = min(len(first.ids), len(second.ids))
        return {"verdict": "equal", "tokens": both, "place": None, "margin": None, "delta": None}
    one, other = (run.gaps[place] if place < len(run.gaps) else None for run in (first, second))
    margin = None if one is None or other is None else max(one, other)
    verdict = "tie" if margin is not None and margin <= delta else "defect"
    return {"verdict": verdict, "tokens": place, "place": place, "margin": margin, "delta": delta}


def worst(agreements: Iterable[dict]) -> dict:
    """The agreement of several rounds: the first of the worst verdict."""
    return max(agreements, key=lambda agreement: VERDICTS.index(agreement["verdict"]))


def sentence(agreement: dict) -> str:
    """An agreement in words."""
    if agreement["verdict"] == "equal":
        return f"Both wrote the same {agreement['tokens']} tokens."
    if agreement["verdict"] == "incomparable":
        return (
            "Not compared token by token: standard speculative sampling draws its own random numbers, so its text "
            "has the target's distribution but is not the same text."
        )
    apart = f"The texts differ from token {agreement['place'] + 1} on"
    if agreement["verdict"] == "tie":
        return (
            f"{apart}. This is a tie: the target's two best tokens there are {agreement['margin']:.5f} logits apart, "
            f"and rounding moves them by up to {agreement['delta']:.5f}."
        )
    if agreement["margin"] is None:
        return f"{apart}. This is not a tie: the target could not have written both."
    return (
        f"{apart}. This is not a tie: the target's choice there was clear by {agreement['margin']:.5f} logits, "
        f"and rounding moves them by at most {agreement['delta']:.5f}. It is a bug."
    )
