"""The paper's tables, made from rows, and the paper's own values beside them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from duoviz.decoding import METHODS
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.lab import paper
from duoviz.lab.environment import IN_TURN, TOGETHER, in_words
from duoviz.lab.machine import about_speeds, costs_in_words, pass_in_words
from duoviz.lab.plan import (
    DUO,
    FOUR_TASKS,
    TARGET_ONLY_COLOUR,
    VANILLA,
    label_of,
    lane_labels,
    look_of,
    table_1_lanes,
    table_lanes,
)
from duoviz.lab.prediction import Prediction, predict, predictions_of
from duoviz.lab.results import Results
from duoviz.lab.rows import BEYOND, Row
from duoviz.lab.tasks import ALL_TASKS, TASKS, task_name, with_all
from duoviz.lab.values import (
    Value,
    by_lane,
    iterations,
    mean_if_any,
    other_lanes,
    rows_of,
    speeds,
    spread,
    tasks_of,
    tps,
)

# The figures of a prediction: each one's heading, its scale (of seconds and shares), and its digits.
PREDICTED = {
    "speed": ("measured, tokens/s", 1, 1),
    "speed_predicted": ("predicted, tokens/s", 1, 1),
    "error": ("error, %", 100, 0),
    "tau": ("tokens an iteration, measured", 1, 2),
    "tau_predicted": ("tokens an iteration, by formula", 1, 2),
    "seconds": ("one iteration measured, ms", 1e3, 1),
    "seconds_predicted": ("one iteration predicted, ms", 1e3, 1),
}

# Failed answers that are listed, and characters of why.
LISTED, WHY = 200, 500

OTHERS = " The last lines are other engines': their φ is over the same engine without drafting."

Cell = Value | str | None


@dataclass(frozen=True)
class Table:
    """columns: headings, with units; lines: each a label and a cell a column. note: how to read it. papers: its values
    are the paper's. shares: how strongly to shade each cell, 0..1. words: its cells are texts, not numbers."""

    name: str
    title: str
    head: str
    columns: list[str]
    lines: Sequence[tuple[str, Sequence[Cell]]]
    note: str = ""
    papers: bool = False
    shares: list[list[float]] = field(default_factory=list)
    words: bool = False


def table_1(results: Results) -> Table:
    """Tokens per second, and φ, of each method on each task."""
    lines = []
    others = other_lanes(results.rows)
    for lane, found in speeds(results.rows, [*table_1_lanes(), *others]).items():
        over_all, *by_task = found.tps.values()
        papers = [values.get(lane) for values in paper.TABLE_1.values()]
        papers = [f"{values[-1]:.2f}" if values else None for values in papers]
        lines.append((label_of(lane), [*by_task, over_all, found.phi[ALL_TASKS], found.phi_same, *papers]))
    return Table(
        "table-1",
        "Table 1: tokens per second by task, and the speed-up φ over vanilla",
        "Method",
        [
            *map(in_tokens, tasks_of(results.rows)),
            "Average, tokens/s",
            "φ over vanilla",
            "φ over vanilla on the target's cores",
            *(f"the paper's φ, {model}" for model in paper.TABLE_1),
        ],
        lines,
        "Total tokens over total time, including the prompt. The average is the mean over tasks; φ is the ratio of "
        "two averages, over the questions that both answered. Noise is two standard errors of this figure: another "
        "draw of questions would move it so far. A task's ± is the standard deviation over its answers. Vanilla "
        "runs on the cores where it is faster at the time. The target's cores: all cores for the prompt, as in "
        "DuoDecoding, then its share." + OTHERS * bool(others),
    )


def speed_bars(results: Results) -> dict:
    """Table 1 as speed-ups over vanilla, as plain data: for each lane, by task, what was measured and the paper's
    values; base: vanilla's tokens per second, by task.
    """
    found = speeds(results.rows, table_lanes())
    base = found.pop(VANILLA, None)
    lines = [
        {
            "method": label_of(lane),
            "colour": look_of(lane).colour if lane in METHODS else TARGET_ONLY_COLOUR,
            "here": {
                name: {"phi": ratio.value, "noise": ratio.spread, "n": ratio.n}
                for name, ratio in line.phi.items()
                if ratio
            },
            "paper": {model: papers_speed_ups(model, lane) for model in paper.TABLE_1},
        }
        for lane, line in found.items()
    ]
    groups = list(with_all(tasks_of(results.rows)))
    return {
        # One task is all tasks.
        "tasks": groups if len(groups) > 2 else groups[1:],
        "papers": list(paper.TABLE_1),
        "base": {name: value.value for name, value in base.tps.items() if value} if base else {},
        "lines": lines,
    }


def papers_speed_ups(model: str, lane: str) -> dict[str, float]:
    """The paper's φ by task: over all as it gives it, of a task the ratio of its tokens per second."""
    mine, base = paper.TABLE_1[model].get(lane), paper.TABLE_1[model][VANILLA]
    if not mine:
        return {}
    ratios = {name: one / other for name, one, other in zip(TASKS.values(), mine, base, strict=False)}
    return {ALL_TASKS: mine[-1]} | ratios


def in_tokens(task: str) -> str:
    """A task's column."""
    return f"{task_name(task)}, tokens/s"


def papers_table(
    name: str, title: str, values: dict[str, tuple], label: Callable, tasks: Iterable[str], *more: str, head: str = ""
) -> Table:
    """A table of the paper's own values, by lane; more: the columns after those of the tasks."""
    lines = [(label(lane), [f"{value:.2f}" for value in line]) for lane, line in values.items()]
    return Table(f"paper-{name}", f"The paper's {title}", head, [*map(in_tokens, tasks), *more], lines, papers=True)


def papers_table_1() -> list[Table]:
    more = ("Average, tokens/s", "φ over vanilla")
    return [
        papers_table(f"table-1-{model.lower()}", f"Table 1, {model}", values, label_of, TASKS, *more, head="Method")
        for model, values in paper.TABLE_1.items()
    ]


def papers_table_2() -> Table:
    return papers_table("table-2", "Table 2, Llama-2-7b", paper.TABLE_2, sequences_of, FOUR_TASKS)


def papers_table_3() -> Table:
    return papers_table("table-3", "Table 3, Llama-2-7b", paper.TABLE_3, budget_of, FOUR_TASKS)


def sequences_of(lane: str) -> str:
    """What a lane is called in Table 2."""
    return label_of(lane).removeprefix("DuoDecoding, ").replace("DuoDecoding", "dynamic")


def budget_of(lane: str) -> str:
    """What a lane is called in Table 3."""
    return label_of(lane).removeprefix("DuoDecoding, k = 1").removeprefix(", ") or "γ"


def ablation(results: Results, wanted: Iterable[str]) -> tuple[list[str], dict[str, list[Cell]]]:
    """The tasks on which the lanes ran, and by lane its tokens per second on each."""
    lanes = by_lane(results.rows, wanted)
    # DuoDecoding itself runs on all tasks.
    tasks = tasks_of(row for lane, rows in lanes.items() for row in rows if lane != DUO)
    return tasks, {lane: [tps(rows_of(rows, lane, task)) for task in tasks] for lane, rows in lanes.items()}


def table_2(results: Results) -> Table:
    """DuoDecoding with a fixed number of sequences, and with the dynamic one."""
    tasks, lines = ablation(results, paper.TABLE_2)
    return Table(
        "table-2",
        "Table 2: one, two and three draft sequences against the dynamic number",
        "Sequences k",
        [*map(in_tokens, tasks)],
        [(sequences_of(lane), cells) for lane, cells in lines.items()],
        "Every row uses the measured draft budget γ.",
    )


def table_3(results: Results) -> Table:
    """One sequence, with budgets around the measured γ."""
    tasks, lines = ablation(results, paper.TABLE_3)
    for lane, cells in lines.items():
        used = iterations(rows_of(results.rows, lane), "budget", "draft_steps", later=True)
        cells.append(mean_if_any(budget for budget, _ in used if budget is not None))
        cells.append(mean_if_any(steps for _, steps in used))
    return Table(
        "table-3",
        "Table 3: draft budgets around the measured γ, one sequence",
        "Budget",
        [*map(in_tokens, tasks), "γ used, draft steps", "draft steps made"],
        [(budget_of(lane), cells) for lane, cells in lines.items()],
        "γ is measured again in every iteration and is at least 1; the last columns are means over iterations. The "
        "draft makes fewer steps where a longer sequence would not pay; the offset is added to that length too.",
    )


def confusion(rows: Sequence[Row]) -> list[list[int]]:
    """How often which k was predicted (columns, from 1) where which was needed (lines, from 1; the last is beyond)."""
    counts = Counter(iterations(rows_of(rows, DUO), "needed", "k"))
    return [[counts[needed, k] for k in range(1, MAX_SEQUENCES + 1)] for needed in range(1, BEYOND + 1)]


def table_4(results: Results) -> Table:
    """The number of sequences that was needed against the one that θ predicted."""
    counts = confusion(results.rows)
    total = sum(map(sum, counts))
    columns = [k for k in range(1, MAX_SEQUENCES + 1) if any(line[k - 1] for line in counts)]
    labels = [*map(str, range(1, BEYOND)), f"more than {BEYOND - 1}"]
    return Table(
        "table-4",
        "Table 4: how many sequences were needed, and how many θ predicted",
        "Needed k",
        [f"predicted k = {k}, iterations" for k in columns],
        [
            (label, [Value(line[k - 1], None, total, 0) for k in columns])
            for label, line in zip(labels, counts, strict=True)
            if any(line)
        ],
        "Needed k: the rank of the target's token among the draft's first tokens. It is known where no token before "
        f"it was rejected: in {total:,} iterations. A cell's shade is its share of them.",
        shares=[[line[k - 1] / total for k in columns] for line in counts if any(line)],
    )


def checks(results: Results) -> Table:
    """How many answers were vanilla's text, token for token."""
    others, lines = other_lanes(results.rows), []
    known = [*lane_labels(), *(lane for lane, baseline in others.items() if lane != baseline)]
    lanes = [lane for lane in by_lane(results.rows, known) if lane != VANILLA]
    for lane in dict.fromkeys((*lanes, *(row["model_id"] for row in results.failed))):
        verdicts = [row["verdict"] for row in rows_of(results.rows, lane)]
        errors = sum(row["model_id"] == lane for row in results.failed)
        cells = [verdicts.count(verdict) for verdict in ("equal", "tie", "defect")] + [verdicts.count(None), errors]
        lines.append((label_of(lane), [Value(count, None, len(verdicts) + errors, 0) for count in cells]))
    delta = results.environment.get("delta")
    return Table(
        "checks",
        "Is it vanilla's text?",
        "Method",
        [f"{verdict}, answers" for verdict in ("equal", "tie", "defect", "not checked", "failed")],
        lines,
        "A tie: the texts differ only where two tokens are equally good to within rounding "
        f"({f'{delta:.1e} logits here' if delta else 'not measured here'}). Any other difference is a defect."
        + " Another engine's text is compared with its own vanilla's; one that differs is not judged."
        * bool(others),
    )


def predictions(results: Results) -> Table:
    """The cost model's speed of each lane beside the measured one."""
    lines = []
    for lane, together in predictions_of(results).items():
        rows = rows_of(results.rows, lane)
        apart = [prediction for row in rows if (prediction := predict([row], results.forward_seconds))]
        lines.append((label_of(lane), [figure(together, apart, name) for name in PREDICTED]))
    return Table(
        "cost-model",
        "The cost model against measurements",
        "Method",
        [heading for heading, *_ in PREDICTED.values()],
        lines,
        "Without the iterations that read the prompt, which τ counts too. An iteration's time is predicted from the "
        "measured cost of its tokens and draft steps. Its tokens are predicted from the measured acceptance, where "
        "there is a formula for independent tokens.",
    )


def failures(results: Results) -> Table:
    """The answers that could not be had, and why."""
    lines = [
        (label_of(row["model_id"]), [task_name(row["task"]), str(row["question_id"]), row["message"][:WHY]])
        for row in results.failed[:LISTED]
    ]
    more = f"These are the first {LISTED} of {len(results.failed):,}." if len(results.failed) > LISTED else ""
    return Table("failed", "Failed answers", "Method", ["task", "question", "why"], lines, more, words=True)


def figure(together: Prediction, apart: Sequence[Prediction], name: str) -> Value | None:
    """One figure of all answers together, with its spread over them."""
    _, scale, digits = PREDICTED[name]
    if getattr(together, name) is None:
        return None
    value, *values = (scale * each for one in (together, *apart) if (each := getattr(one, name)) is not None)
    return Value(value, spread(values), len(values), digits)


def environments(several: Sequence[Results]) -> Table:
    """Where each of the results comes from."""
    lines = []
    for name in ("date", "pair", "models", "devices", "cores", "threads", "precision", "versions", "system"):
        lines.append((name.capitalize(), [in_words(results.environment.get(name)) for results in several]))
    if any("machines" in results.environment for results in several):
        lines.append(("Places", [in_words(results.environment.get("machines", "one")) for results in several]))
    for name in ("quick", "questions", "repeats", "max_new_tokens", "tasks", "source"):
        lines.append((name.replace("_", " ").capitalize(), [in_words(results.plan.get(name)) for results in several]))
    lines.append(("Vanilla's forward pass of one token", [pass_in_words(results) for results in several]))
    for name in (TOGETHER, IN_TURN):
        lines.append((f"Costs, measured {name}", [costs_in_words(results.environment, name) for results in several]))
    return Table("environment", "Where this was measured", "", [results.name for results in several], lines, words=True)


def compared(several: Sequence[Results]) -> Table:
    """Several results side by side: tokens per second and φ of each lane of Table 1."""
    lines, rows = [], [row for results in several for row in results.rows]
    wanted = [*table_1_lanes(), *other_lanes(rows)]
    found = [speeds(results.rows, wanted) for results in several]
    for lane in by_lane(rows, wanted):
        both = [
            (each[lane].tps[ALL_TASKS], each[lane].phi[ALL_TASKS]) if lane in each else (None, None) for each in found
        ]
        lines.append((label_of(lane), [cell for cells in both for cell in cells]))
    return Table(
        "compared",
        "Several results side by side",
        "Method",
        [f"{results.name}, {figure}" for results in several for figure in ("tokens/s", "φ over vanilla")],
        lines,
        "Averages over the tasks of each result. Compare them only where tasks and settings are the same. "
        + about_speeds(several),
    )
