"""Whether other work kept the machine busy while methods ran: then their times allow no conclusion."""

from collections.abc import Sequence

from duoviz.decoding.costs import BUSY, Estimate

# By which factor the rounds of one method differ at most on a machine that does nothing else.
LARGEST_SPREAD = 4 / 3
WORDS = "This machine was busy with other work: {}."


def busy_words(target: Estimate) -> str | None:
    """The sentence for a visitor where forwards took far longer than usual by the end of a run; None where not."""
    longer = f"the target's forward passes took {target.slowdown:.1f} times as long as usual"
    return WORDS.format(longer) if target.slowdown > BUSY else None


def disturbance(rows: Sequence[dict]) -> str | None:
    """Why the rows of a comparison (see `runner.row`) allow no conclusion, in words; None where they do."""
    by_method: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        if row["metrics"]["tps"] is not None:
            by_method.setdefault((row["method"], row["cores"]), []).append(row)
    if not (signs := [sign for mine in by_method.values() if (sign := unsteady(mine) or slowed(mine))]):
        return None
    return (
        f"{WORDS.format('; '.join(signs))} Such times allow no conclusion about the methods. "
        "Try again when the machine is idle."
    )


def slowed(rows: Sequence[dict]) -> str | None:
    """How many times longer than usual one method's forwards took, where most of its runs say so (see `busy_words`)."""
    start, end = WORDS.split("{}")
    said = [row["trace"]["end"].get("message", "") for row in rows]
    said = [text.removeprefix(start).removesuffix(end) for text in said if text.startswith(start)]
    return f"{said[0]}, with {rows[0]['method']}" if len(said) * 2 > len(rows) else None


def unsteady(rows: Sequence[dict]) -> str | None:
    """How far one method's rounds are apart, where that is too far; of several prompts, on the median one."""
    by_prompt: dict[str, list[float]] = {}
    for row in rows:
        by_prompt.setdefault(row["prompt"], []).append(row["metrics"]["tps"])
    # Of an even number the steadier one of the two in the middle.
    spreads = sorted(by_prompt.values(), key=lambda speeds: max(speeds) / min(speeds))
    speeds = spreads[(len(spreads) - 1) // 2]
    if max(speeds) <= LARGEST_SPREAD * min(speeds):
        return None
    return f"{rows[0]['method']} wrote {min(speeds):.1f} tokens/s in one round and {max(speeds):.1f} in another"
