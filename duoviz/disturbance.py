"""Whether other work kept the machine busy while methods were compared: then their times allow no conclusion."""

from collections.abc import Callable, Sequence
from statistics import median

from duoviz.decoding import METHODS
from duoviz.decoding.costs import ROW_COUNTS, CostModel
from duoviz.decoding.engine import Engine
from duoviz.decoding.way import Way

# By which factor the rounds of one method differ at most, and by which its forwards take longer than calibrated at
# most, on a machine that does nothing else.
LARGEST_SPREAD, LARGEST_SLOWDOWN = 4 / 3, 2.0


def disturbance(engine: Engine, rows: Sequence[dict]) -> str | None:
    """Why the rows of a comparison (see `runner.row`) allow no conclusion, in words; None where they do."""
    by_method: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        if row["metrics"]["tps"] is not None:
            by_method.setdefault((row["method"], row["cores"]), []).append(row)
    signs = [sign for mine in by_method.values() if (sign := unsteady(mine) or slowed(engine, mine))]
    if not signs:
        return None
    return (
        f"This machine was busy with other work: {'; '.join(signs)}. Times like these say nothing of the methods, so "
        "nothing is concluded from them. Try again when the machine is quiet."
    )


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


def slowed(engine: Engine, rows: Sequence[dict]) -> str | None:
    """How many times longer than calibrated one method's forwards took, where that is far too long."""
    costs = known_costs(engine, rows[0])
    if costs is None:
        return None
    times = [slowdown(row["trace"], costs.target_time) for row in rows]
    longer = median([time for time in times if time is not None] or [1.0])
    if longer <= LARGEST_SLOWDOWN:
        return None
    return f"the target's forwards took {longer:.1f} times as long with {rows[0]['method']} as calibrated"


def known_costs(engine: Engine, row: dict) -> CostModel | None:
    """What the row's forwards were calibrated to take: on its own cores, else on the target's share, where they take
    no less."""
    beside = METHODS[row["settings"]["method"]].parallel or row["trace"]["header"]["can_overlap"]
    cores = engine.pair.cores
    own = Way(beside, cores.target if beside or row["cores"] == "target" else cores.all)
    return engine.known_costs(own) or engine.known_costs(Way(True, cores.target))


def slowdown(trace: dict, target_time: Callable[[int, int], float]) -> float | None:
    """Seconds of all the target's forwards over those calibrated; None where there was none but of the prompt.

    target_time: seconds of a forward by its rows and the context before it.
    """
    taken = expected = 0.0
    context = trace["header"]["prompt_tokens"]
    for iteration in trace["iterations"]:
        span = iteration["target"]
        if iteration["index"] and span["rows"] <= ROW_COUNTS[-1]:
            taken += span["end"] - span["start"]
            expected += float(target_time(span["rows"], context))
        context += len(iteration["committed"])
    return taken / expected if expected else None
