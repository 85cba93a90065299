"""The sentences that the numbers support, and no more: who is faster is decided by `speed_up` alone."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from duoviz.lab import answers
from duoviz.lab.answers import FEWEST, Value, asked, by_lane, faster_of, paired, rows_of, speed_up, tasks_of
from duoviz.lab.machine import IN_TURN, TOGETHER, cost_models
from duoviz.lab.plan import DUO, DUOTREE, PUBLISHED, SPS, TARGET_ONLY, VANILLA, VARIANTS, label_of, table_lanes
from duoviz.lab.prediction import Predictions, ratio_of
from duoviz.lab.results import Results
from duoviz.lab.rows import Row
from duoviz.lab.tables import confusion
from duoviz.lab.tasks import task_name

TOO_FEW = (
    "This is a quick run: it fills every table and figure, but has too few answers for a conclusion. Make a full run "
    "for conclusions."
)


def about_table_1(results: Results) -> list[str]:
    """Which method is the fastest, and how each stands to vanilla and to SpS."""
    lanes = by_lane(results.rows, table_lanes())
    methods = {lane: rows for lane, rows in lanes.items() if lane != TARGET_ONLY}
    if VANILLA not in lanes or len(methods) < 2:
        return []
    sentences = []
    for lane in methods:
        others = [VANILLA, SPS] if lane != SPS else [VANILLA]
        # The method is compared on the questions that both answered.
        apart = {other: found for other in others if (found := speed_up(lanes[lane], lanes.get(other, [])))}
        if lane != VANILLA and apart:
            parts = [in_words(found, lower(label_of(other))) for other, found in apart.items()]
            sentences.append(f"{label_of(lane)} is {listed(parts)}, n = {min(found.n for found in apart.values())}.")
    return [the_fastest(methods), *sentences]


def the_fastest(lanes: Mapping[str, Sequence[Row]]) -> str:
    """The lane that is faster than each other beyond noise, or those that tie."""
    found = {lane: apart for lane, rows in lanes.items() if (apart := speed_up(rows, lanes[VANILLA]))}
    best, *others = sorted(found, key=lambda lane: -found[lane].value)
    verdicts = {other: apart.verdict for other in others if (apart := speed_up(lanes[best], lanes[other]))}
    if "too few" in verdicts.values():
        return "Too few answers to say which method is the fastest."
    if ties := [other for other in others if verdicts.get(other) == "tie"]:
        return f"No method is the fastest beyond noise: {listed([named(lane, found) for lane in (best, *ties)])} tie."
    return f"{named(best, found)} is the fastest, n = {found[best].n}."


def named(lane: str, found: Mapping[str, Value]) -> str:
    """A lane with its φ over vanilla."""
    if lane == VANILLA:
        return label_of(lane)
    around = f" ±\xa0{noise:.2f}" if (noise := found[lane].spread) is not None else ""
    return f"{label_of(lane)} (φ {found[lane].value:.2f}{around})"


def listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def lower(label: str) -> str:
    return label[0].lower() + label[1:] if label.startswith("Vanilla") else label


def in_words(apart: Value, other: str) -> str:
    """A difference of speed as a reader sees it, after "is"."""
    if apart.spread is None:
        return f"not comparable with {other} yet (too few answers)"
    much, noise = 100 * (apart.value - 1), f"±\xa0{100 * apart.spread:.0f}\xa0%"
    signed = f"{much:+.0f}\xa0%".replace("-", "−")
    if apart.verdict == "tie":
        return f"within noise of {other} ({signed} {noise})"
    return f"{abs(much):.0f}\xa0% {apart.verdict} than {other} ({noise})"


def in_percent(value: float, sign: str = "") -> str:
    return f"{100 * value:{sign}.0f} %"


def against_the_best(results: Results, lane: str, lanes: Collection[str], name: str) -> list[str]:
    """Task by task, how a lane stands to the fastest of the others."""
    found: dict[str, tuple[str, Value]] = {}
    # DuoDecoding itself runs on all tasks.
    for task in tasks_of(row for row in results.rows if row["model_id"] in lanes and row["model_id"] != DUO):
        rows = by_lane([row for row in results.rows if row["task"] == task], lanes)
        mine = rows.pop(lane, [])
        speeds = {other: speed.value for other, theirs in rows.items() if (speed := answers.tps(theirs))}
        best = max(speeds, key=lambda other: speeds[other], default="")
        if apart := speed_up(mine, rows.get(best, [])):
            found[task] = best, apart
    known = [apart.verdict for _, apart in found.values() if apart.verdict != "too few"]
    if not known:
        return [f"Too few answers to compare {name} with the others."] if found else []
    good = len(known) - known.count("slower")
    return [
        f"{name[0].upper()}{name[1:]} is at least within noise of the best on {good} of {len(known)} tasks.",
        *(f"{task_name(task)}: {name} is {in_words(apart, label_of(best))}." for task, (best, apart) in found.items()),
    ]


def about_table_4(results: Results) -> list[str]:
    counts = confusion(results.rows)
    if not (total := sum(map(sum, counts))):
        return []
    exact = sum(line[place] for place, line in enumerate(counts) if place < len(line)) / total
    enough = sum(sum(line[place:]) for place, line in enumerate(counts)) / total
    # What a k that is always the same would have done.
    same, k = max((sum(line), number) for number, line in enumerate(counts, 1))
    return [
        f"The predicted k was exactly right in {in_percent(exact)} of {total:,} iterations, and large enough in "
        f"{in_percent(enough)}. Always k = {k} would have been exactly right in {in_percent(same / total)}."
    ]


def about_figure_1(results: Results) -> list[str]:
    overheads = [
        (answers.mean_of(row["draft"]).value / answers.mean_of(row["target"]).value, row["length"])
        for row in results.forwards
    ]
    (low, shorter), (high, longer) = min(overheads), max(overheads)
    return [
        f"Drafting 8 tokens takes {low:.2f} (after {shorter:,} tokens) to {high:.2f} (after {longer:,}) times as "
        "long as verifying 8. At 1 neither side waits."
    ]


def about_figure_3(results: Results) -> list[str]:
    base = rows_of(results.rows, VANILLA)
    return [
        f"{label_of(lane)}'s first token takes {relative.value:.2f} times as long as vanilla's (n = {relative.n})."
        for lane in (SPS, DUO)
        if (relative := answers.relative_ttft(rows_of(results.rows, lane), base))
    ]


def about_time(results: Results) -> list[str]:
    if not (rows := rows_of(results.rows, DUO)):
        return []
    wall = sum(map(answers.seconds, rows))
    both, neither = (
        in_percent(sum(turn["time"][name] for row in rows for turn in row["measured"]) / wall)
        for name in ("both", "neither")
    )
    return [f"In DuoDecoding both models are busy for {both} of the time, and neither for {neither} (n = {len(rows)})."]


def about_predictions(predictions: Predictions) -> list[str]:
    if not predictions:
        return []
    errors = {lane: together.error for lane, (together, _) in predictions.items()}
    worst = max(errors, key=lambda lane: abs(errors[lane]))
    middle = sum(map(abs, errors.values())) / len(errors)
    high = sum(error > 0 for error in errors.values())
    return [
        f"With tokens per pass by formula where there is one, the cost model's mean error over {len(errors)} methods "
        f"is {in_percent(middle)}; the largest is {in_percent(errors[worst], '+')}, for {label_of(worst)}. "
        f"It is too high for {high} of them."
    ]


def about_paying(results: Results) -> list[str]:
    """Why no draft model pays here; nothing where one does, or where there are too few answers to say."""
    base = rows_of(results.rows, VANILLA)
    found = [speed_up(rows_of(results.rows, lane), base) for lane in (SPS, DUO, DUOTREE)]
    if not all(apart and apart.verdict in ("tie", "slower") for apart in found):
        return []
    costs = cost_models(results.environment)
    in_turn, beside = (ratio_of(costs[name]) for name in (IN_TURN, TOGETHER))
    return [
        f"No draft model pays here: a pass of the target takes only as long as {in_turn:.1f} draft steps where both "
        f"take turns, {beside:.1f} on DuoDecoding's processors."
    ]


def about_ways(results: Results) -> list[str]:
    """What it changes that a draft works beside the target, and not in turn with it, all else being the same."""
    in_turn, beside = (rows_of(results.rows, VARIANTS[f"DuoTree, {way}"].name) for way in ("sequential", "parallel"))
    if not (apart := speed_up(in_turn, beside)):
        return []
    told = in_words(apart, "drafting in parallel on the same processors")
    return [f"In these results, DuoTree drafting in turn is {told}, n = {apart.n}."]


def duo_or_sps(results: Results) -> str:
    """See `faster_of`; "" where not both were measured."""
    duo, sps, base = (rows_of(results.rows, lane) for lane in (DUO, SPS, VANILLA))
    phis = {label_of(lane): phi.value for lane, rows in ((DUO, duo), (SPS, sps)) if (phi := speed_up(rows, base))}
    apart = speed_up(duo, sps)
    return faster_of(phis, tie=apart.verdict in ("tie", "too few")) if apart and len(phis) > 1 else ""


def published(results: Results) -> Value | None:
    """How much faster than vanilla DuoDecoding is without what we changed."""
    return speed_up(rows_of(results.rows, VARIANTS[PUBLISHED].name), rows_of(results.rows, VANILLA))


def about_published(results: Results) -> list[str]:
    """`published`, in words."""
    found = published(results)
    return [f"As published, without our changes, it is {in_words(found, 'vanilla')}."] if found else []


def about_noise(results: Results) -> list[str]:
    """What ± holds and what it leaves out; nothing where the questions are too few for it."""
    tasks = {row["question_id"]: row["task"] for row in results.rows}
    if len(tasks) - len({*tasks.values()}) < FEWEST:
        return []
    moved = between_repeats(results.rows)
    again = max(moved, key=lambda lane: moved[lane], default=None)
    return [
        f"The ± after a φ, a percentage or an average is two standard errors over {len(tasks)} questions, "
        f"{asked(results.rows, results.plan)}: it includes the machine's noise during the run, but not "
        "differences between runs.",
        *([f"Asked again, φ over vanilla moved by {moved[again]:.2f} at most ({label_of(again)})."] if again else []),
    ]


def between_repeats(rows: Sequence[Row]) -> dict[str, float]:
    """Of each other lane, how far its φ over vanilla is apart in two repeats at most, on the questions of every repeat;
    nothing of those that were asked once."""
    repeats, lanes = {row["repeat"] for row in rows}, sorted({row["model_id"] for row in rows} - {VANILLA})
    moved = {}
    for lane in lanes if len(repeats) > 1 else ():
        times = Counter(mine["question_id"] for mine, _ in paired(rows_of(rows, lane), rows_of(rows, VANILLA)))
        always = [row for row in rows if times[row["question_id"]] == len(repeats)]
        base, mine = rows_of(always, VANILLA), rows_of(always, lane)
        each = [speed_up([row for row in mine if row["repeat"] == repeat], base) for repeat in repeats]
        if phis := [phi.value for phi in each if phi]:
            moved[lane] = max(phis) - min(phis)
    return moved


def about_turns(results: Results) -> list[str]:
    """Of the tasks whose questions have more than one turn, that all are asked."""
    turns = {row["task"]: len(row["measured"]) for row in results.rows}
    return [
        f"{task_name(task)} questions have {turns[task]} turns, and all were asked."
        for task in tasks_of(results.rows)
        if turns[task] > 1
    ]


def checked(results: Results) -> list[Row]:
    """The answers that were compared with vanilla's."""
    return [row for row in results.rows if row["model_id"] != VANILLA and row["verdict"]]


def same_text(results: Results) -> list[str]:
    """That all answers are vanilla's text; nothing where not all are."""
    rows = checked(results)
    same = rows and all(row["verdict"] == "equal" for row in rows)
    return [f"All {len(rows):,} answers are vanilla's text, token for token."] if same else []


def about_checks(results: Results) -> list[str]:
    rows = checked(results)
    verdicts, written = [row["verdict"] for row in rows], sum(map(answers.tokens, rows))
    sentences = []
    if rows:
        sentences.append(
            f"{verdicts.count('equal')} of {len(rows)} answers ({written:,} tokens) are vanilla's text, token for "
            f"token, {verdicts.count('tie')} differ at a numerical tie, {verdicts.count('defect')} are defects."
        )
    if results.failed:
        sentences.append(f"{len(results.failed)} answers failed; they are listed below and left out of all tables.")
    return sentences


def about_drafting(results: Results) -> list[str]:
    """The acceptance of DuoDecoding's guesses."""
    accepted = answers.acceptance(rows_of(results.rows, DUO)).rate
    if accepted is None:
        return []
    return [f"DuoDecoding had a correct guess at {in_percent(accepted)} of the tested positions."]
