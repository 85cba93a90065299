"""Whether two runs wrote the same text: equal, a numerical tie, or a defect."""

from itertools import zip_longest

# How a run ends that had not written all it was to write.
CUT = ("stopped", "time", "error")


def committed(trace: dict) -> list[dict]:
    return [token for each in trace["iterations"] for token in each["committed"]]


def first_difference(first: dict, second: dict) -> int | None:
    """The first place, from 0, at which the tokens of two traces differ; None where there is none.

    Where one run was cut, what the other wrote beyond it is no difference.
    """
    for place, (one, other) in enumerate(zip_longest(committed(first), committed(second))):
        if one is None or other is None:
            shorter = first if one is None else second
            return None if shorter["end"]["stopped"] in CUT else place
        if one["id"] != other["id"]:
            return place
    return None


def drawn_by_chance(trace: dict) -> bool:
    """Whether the classical rule decided: its text has the target's distribution and is not the seed's one text."""
    settings = trace["header"]["settings"]
    by_rule = settings["acceptance"] == "rejection" and settings["temperature"] > 0
    return by_rule and trace["header"]["draft"] is not None


def agreement(first: dict, second: dict, delta: float) -> dict:
    """Compare two runs on the same prompt, with the same seed and sampling, token by token.

    delta: δ, how far in logits rounding can move a token (see `duoviz.decoding.rounding`). Gives
    `verdict`: `equal` (the same tokens, as far as both runs went); `tie` (where they first differ, each
    run's token was within δ of the next best, so that rounding decided; from there on the texts have
    different beginnings and say nothing); `defect`; or `incomparable` (the classical rule decided one).
    tokens: how many are the same from the start; place: of the first difference, from 0, or None;
    margin: the larger of both gaps there, None where another token could not be drawn at all.
    """
    both = min(len(committed(first)), len(committed(second)))
    if drawn_by_chance(first) or drawn_by_chance(second):
        return {"verdict": "incomparable", "tokens": 0, "place": None, "margin": None, "delta": None}
    place = first_difference(first, second)
    if place is None:
        return {"verdict": "equal", "tokens": both, "place": None, "margin": None, "delta": None}
    margin = margin_at(place, first, second)
    verdict = "tie" if margin is not None and margin <= delta else "defect"
    return {"verdict": verdict, "tokens": place, "place": place, "margin": margin, "delta": delta}


def margin_at(place: int, first: dict, second: dict) -> float | None:
    """The larger of both runs' top-2 gaps at a place; None where one has no token or no gap there."""
    gaps = [committed(trace)[place : place + 1] for trace in (first, second)]
    gaps = [token[0]["gap"] if token else None for token in gaps]
    return None if None in gaps else max(gaps)


# From the best to the worst.
VERDICTS = ("equal", "incomparable", "tie", "defect")


def worst(found: list[dict]) -> dict:
    """The agreement of several rounds: the first of the worst verdict."""
    return max(found, key=lambda each: VERDICTS.index(each["verdict"]))


def sentence(found: dict) -> str:
    """An agreement in words."""
    if found["verdict"] == "equal":
        return f"Both wrote the same {found['tokens']} tokens."
    if found["verdict"] == "incomparable":
        return (
            "The texts are not compared token by token: the classical rule draws with chance of its own, so its text "
            "has the target's distribution, but is not the same text."
        )
    apart = f"From token {found['place'] + 1} on the texts differ"
    if found["verdict"] == "tie":
        return (
            f"{apart}, by a tie: the target's two best tokens there are {found['margin']:.5f} logits apart, "
            f"and rounding moves them by up to {found['delta']:.5f}."
        )
    if found["margin"] is None:
        return f"{apart}, and it is no tie: the target could not have written both."
    return (
        f"{apart}, and it is no tie: the target's choice there was clear by {found['margin']:.5f} logits, "
        f"and rounding moves them by {found['delta']:.5f} at most. This is a defect of the program."
    )
