"""The sentences that the numbers support, and no more.

A difference counts where it is larger than two standard errors.
"""

import math
from collections.abc import Collection

from duoviz.lab.plan import DUO, SPS, TARGET_ONLY, VANILLA, label_of, table_lanes
from duoviz.lab.prediction import predictions_of
from duoviz.lab.results import Results
from duoviz.lab.tables import confusion
from duoviz.lab.tasks import ALL_TASKS, task_name
from duoviz.lab.values import (
    Difference,
    acceptance,
    by_lane,
    difference,
    mean_if_any,
    mean_of,
    ratios,
    rows_of,
    seconds,
    speeds,
    tasks_of,
    tokens,
    tps,
    ttft,
)

TOO_FEW = (
    "This is a quick run: it fills every table and figure, but has too few answers for a conclusion. Make a full run "
    "for conclusions."
)
SAMPLE = (
    "A sample that allows no conclusion: the shipped recorded runs, one prompt, each method once. "
    "A run of the Lab replaces it."
)


def about_table_1(results: Results) -> list[str]:
    """Which method is the fastest, and how DuoDecoding stands to the others."""
    values = speeds(results.rows, table_lanes())
    phis = {lane: value for lane, line in values.items() if lane != VANILLA and (value := line.phi[ALL_TASKS])}
    ranked = sorted(phis, key=lambda lane: -phis[lane].value)
    if len(ranked) < 2:
        return []
    best, second = ranked[:2]
    sentences = [f"{label_of(best)} is the fastest, with φ = {phis[best].value:.2f} (n = {phis[best].n})."]
    sentences += difference_sentence(results, best, second)
    pairs = [(DUO, VANILLA), (DUO, TARGET_ONLY), (DUO, SPS)]
    return sentences + [
        sentence for pair in pairs if set(pair) != {best, second} for sentence in difference_sentence(results, *pair)
    ]


def difference_sentence(results: Results, lane: str, other: str) -> list[str]:
    """One sentence on two lanes, none where too few questions were answered by both."""
    apart = difference(rows_of(results.rows, lane), rows_of(results.rows, other))
    return [f"{label_of(lane)} against {lower(label_of(other))}: {in_words(apart)}."] if apart else []


def lower(label: str) -> str:
    return label[0].lower() + label[1:] if label.startswith("Vanilla") else label


def in_words(apart: Difference) -> str:
    """A difference of speed as a reader sees it."""
    much, noise = percent(apart.mean), percent(apart.noise)
    if apart.is_noise:
        return f"no difference beyond noise ({much:+.1f} %, noise ± {noise:.1f} %, n = {apart.n})"
    return f"{abs(much):.1f} % {'faster' if much > 0 else 'slower'} (noise ± {noise:.1f} %, n = {apart.n})"


def in_percent(value: float, sign: str = "") -> str:
    return f"{100 * value:{sign}.0f} %"


def percent(log_ratio: float) -> float:
    """How many per cent faster a difference of logarithms is."""
    return 100 * (math.exp(log_ratio) - 1)


def against_the_best(results: Results, lane: str, lanes: Collection[str], name: str) -> list[str]:
    """Task by task, whether a lane is as fast as the fastest of the lanes, to within noise."""
    sentences, good = [], []
    # DuoDecoding itself runs on all tasks.
    for task in tasks_of(row for row in results.rows if row["model_id"] in lanes and row["model_id"] != DUO):
        rows = by_lane([row for row in results.rows if row["task"] == task], lanes)
        found = {other: speed.value for other, mine in rows.items() if (speed := tps(mine))}
        best = max(found, key=lambda other: found[other])
        if lane == best:
            sentences.append(f"{task_name(task)}: {name} is the fastest.")
            good.append(True)
        elif apart := difference(rows[best], rows.get(lane, [])):
            sentences.append(f"{task_name(task)}: {label_of(best)} against {name}: {in_words(apart)}.")
            good.append(apart.is_noise or apart.mean < 0)
    if not good:
        return []
    subject = name[0].upper() + name[1:]
    return [f"{subject} is within noise of the best on {sum(good)} of {len(good)} tasks.", *sentences]


def about_table_4(results: Results) -> list[str]:
    counts = confusion(results.rows)
    if not (total := sum(map(sum, counts))):
        return []
    cells = [(needed, k, count) for needed, line in enumerate(counts, 1) for k, count in enumerate(line, 1)]
    exact = sum(count for needed, k, count in cells if needed == k) / total
    enough = sum(count for needed, k, count in cells if needed <= k) / total
    return [
        f"The predicted k was exactly right in {in_percent(exact)} of {total:,} iterations, and large enough in "
        f"{in_percent(enough)}."
    ]


def about_figure_1(results: Results) -> list[str]:
    overheads = [
        (row["length"], mean_of(row["draft"]).value / mean_of(row["target"]).value)
        for row in sorted(results.forwards, key=lambda row: row["length"])
    ]
    low, high = min(overheads, key=lambda overhead: overhead[1]), max(overheads, key=lambda overhead: overhead[1])
    return [
        f"Drafting 8 tokens takes {low[1]:.2f} (after {low[0]:,} tokens) to {high[1]:.2f} (after {high[0]:,}) times as "
        "long as verifying 8. At 1 neither side waits."
    ]


def about_figure_3(results: Results) -> list[str]:
    base = rows_of(results.rows, VANILLA)
    return [
        f"{label_of(lane)}'s first token takes {relative.value:.2f} times as long as vanilla's (n = {relative.n})."
        for lane in (SPS, DUO)
        if (relative := mean_if_any(ratios(rows_of(results.rows, lane), base, ttft)))
    ]


def about_time(results: Results) -> list[str]:
    if not (rows := rows_of(results.rows, DUO)):
        return []
    shares = {name: sum(turn["time"][name] for row in rows for turn in row["measured"]) for name in ("both", "neither")}
    wall = sum(map(seconds, rows))
    return [
        f"In DuoDecoding both models are busy for {in_percent(shares['both'] / wall)} of the time, and neither for "
        f"{in_percent(shares['neither'] / wall)} (n = {len(rows)})."
    ]


def about_predictions(results: Results) -> list[str]:
    if not (predictions := predictions_of(results)):
        return []
    worst = max(predictions, key=lambda lane: abs(predictions[lane].error))
    middle = sum(abs(prediction.error) for prediction in predictions.values()) / len(predictions)
    return [
        f"The cost model's mean error over {len(predictions)} methods is {in_percent(middle)}; the largest is "
        f"{in_percent(predictions[worst].error, '+')}, for {label_of(worst)}."
    ]


def about_checks(results: Results) -> list[str]:
    rows = [row for row in results.rows if row["model_id"] != VANILLA]
    verdicts = [row["verdict"] for row in rows]
    written = sum(tokens(row) for row in rows if row["verdict"])
    sentences = []
    if checked := len(verdicts) - verdicts.count(None):
        sentences.append(
            f"{verdicts.count('equal')} of {checked} answers ({written:,} tokens) are vanilla's text, token for token, "
            f"{verdicts.count('tie')} differ at a numerical tie, {verdicts.count('defect')} are defects."
        )
    if results.failed:
        sentences.append(f"{len(results.failed)} answers failed; they are listed below and left out of all tables.")
    return sentences


def about_drafting(results: Results) -> list[str]:
    """The acceptance of DuoDecoding's guesses."""
    accepted = acceptance(rows_of(results.rows, DUO)).rate
    if accepted is None:
        return []
    return [f"DuoDecoding had a correct guess at {in_percent(accepted)} of the checked positions."]
