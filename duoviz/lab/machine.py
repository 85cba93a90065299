"""How fast the machine was while results were measured, by vanilla's forward passes of one token."""

from collections.abc import Sequence
from statistics import mean

import numpy as np

from duoviz.lab.course import cost_models
from duoviz.lab.plan import VANILLA
from duoviz.lab.results import Results
from duoviz.lab.values import iterations, rows_of
from duoviz.recordings import recorded_speed

# Speeds closer than this are of one machine in one state, as far as tokens/s go.
ALIKE = 1.1


def passes(results: Results) -> list[float]:
    """Of each of vanilla's answers the mean seconds of a pass of one token; vanilla runs between all other methods."""
    answers = [iterations([row], "target", "rows") for row in rows_of(results.rows, VANILLA)]
    single = [[seconds for seconds, count in each if count == 1] for each in answers]
    return [mean(each) for each in single if each]


def pass_in_words(results: Results) -> str:
    """The median, and how much it varied."""
    if not (found := passes(results)):
        return "not measured"
    low, middle, high = (f"{1e3 * value:.1f}" for value in np.percentile(found, (25, 50, 75)))
    return f"{middle} ms" + (f" (half of the answers: {low} to {high} ms)" if low != high else "")


def about_speed(results: Results) -> list[str]:
    """How fast the machine was, and whether the recorded runs are of another speed."""
    if not (found := passes(results)):
        return []
    said = [f"Vanilla's forward pass of one token took {pass_in_words(results)}."]
    recorded = recorded_speed()
    if recorded and not alike([float(np.median(found)), recorded]):
        said.append(
            f"In the recorded runs of the other tabs it took {1e3 * recorded:.1f} ms: compare speed-ups with them, not "
            "tokens/s."
        )
    return said


def about_speeds(several: Sequence[Results]) -> str:
    """Of results side by side: how fast each one's machine was."""
    listed = "; ".join(f"{results.name}, {pass_in_words(results)}" for results in several)
    same = alike([float(np.median(found)) for results in several if (found := passes(results))])
    return f"Vanilla's forward pass of one token: {listed}.{'' if same else ' So compare φ, and not tokens/s.'}"


def alike(speeds: Sequence[float]) -> bool:
    return max(speeds, default=0) <= ALIKE * min(speeds, default=0)


def costs_in_words(environment: dict, name: str) -> str:
    """What one token costs the target and one step the draft, without context."""
    costs = cost_models(environment)[name]
    target, draft = (1e3 * side[0][0] for side in (costs.target, costs.draft))
    return f"target {target:.1f} ms a token, draft {draft:.2f} ms a step"
