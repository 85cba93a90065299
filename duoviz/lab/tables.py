"""The paper's tables, made from rows, and the paper's own values beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.lab import paper
from duoviz.lab.course import cost_models
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.plan import (
    AROUND,
    DUO,
    FOUR_TASKS,
    ONE_SEQUENCE,
    STATIC,
    TARGET_ONLY,
    VANILLA,
    label_of,
    lane_labels,
    table_1_lanes,
)
from duoviz.lab.prediction import Prediction, predict
from duoviz.lab.results import Results
from duoviz.lab.rows import BEYOND, Row
from duoviz.lab.tasks import TASKS, in_order, task_name
from duoviz.lab.values import Value, average, iterations, mean_if_any, phi, rows_of, spread, tps

# The lines of Tables 2 and 3, in the paper's order.
TABLE_2 = (*STATIC, DUO)
TABLE_3 = (*list(AROUND)[:2], ONE_SEQUENCE, *list(AROUND)[2:])

# The figures of a prediction, in the table's order, with their digits; seconds in ms, shares in %.
PREDICTED = (
    ("speed", 1), ("speed_predicted", 1), ("error", 0), ("tau", 2), ("tau_predicted", 2), ("seconds", 1),
    ("seconds_predicted", 1),
)  # fmt: skip
SCALES = {"seconds": 1e3, "seconds_predicted": 1e3, "error": 100}

Cell = Value | str | None


@dataclass(frozen=True)
class Table:
    """columns: headings, with units; lines: each a label and a cell a column. note: how to read it. papers: its values
    are the paper's. shares: how strongly to shade each cell, 0..1. words: its cells are texts, not numbers."""

    name: str
    title: str
    head: str
    columns: list[str]
    lines: list[tuple[str, list[Cell]]]
    note: str = ""
    papers: bool = False
    shares: list[list[float]] = field(default_factory=list)
    words: bool = False


def tasks_of(rows: Sequence[Row]) -> list[str]:
    """The tasks that have rows, in the order of the tables."""
    return in_order(row["task"] for row in rows)


def lanes_of(rows: Sequence[Row], wanted: Iterable[str]) -> list[str]:
    """Those of the lanes that have rows."""
    present = {row["model_id"] for row in rows}
    return [lane for lane in wanted if lane in present]


def table_1(results: Results) -> Table:
    """Tokens per second, and φ, of each method on each task."""
    rows, tasks = results.rows, tasks_of(results.rows)
    base, same = rows_of(rows, VANILLA), rows_of(rows, TARGET_ONLY)
    lines = []
    for lane in lanes_of(rows, table_1_lanes()):
        mine = rows_of(rows, lane)
        cells = [tps(rows_of(rows, lane, task)) for task in tasks]
        cells += [average(mine, tasks), phi(mine, base, tasks), phi(mine, same, tasks)]
        lines.append((label_of(lane), cells + [papers_phi(model, lane) for model in paper.TABLE_1]))
    return Table(
        "table-1",
        "Table 1: tokens per second by task, and the speed-up φ over vanilla",
        "Method",
        [
            *(f"{task_name(task)}, tokens/s" for task in tasks),
            "Average, tokens/s",
            "φ over vanilla",
            "φ over vanilla on the target's cores",
            *(f"the paper's φ, {model}" for model in paper.TABLE_1),
        ],
        lines,
        "Total tokens over total time, including the prompt. The average is the mean over tasks; φ is the ratio of "
        "two averages, over the questions that both answered. ± is the standard deviation over answers, for the "
        "average over tasks. Vanilla runs on the cores where it is faster at the time. The target's cores: all cores "
        "for the prompt, as in DuoDecoding, then its share.",
    )


def papers_phi(model: str, lane: str) -> str | None:
    """The paper's φ over all tasks; None where it has none for the lane."""
    values = paper.TABLE_1[model].get(lane)
    return f"{values[-1]:.2f}" if values else None


def papers_table_1() -> list[Table]:
    return [
        Table(
            f"paper-table-1-{model.lower()}",
            f"The paper's Table 1, {model}",
            "Method",
            [*(f"{name}, tokens/s" for name in TASKS.values()), "Average, tokens/s", "φ over vanilla"],
            [(label_of(lane), [f"{value:.2f}" for value in values]) for lane, values in lines.items()],
            papers=True,
        )
        for model, lines in paper.TABLE_1.items()
    ]


def ablation(results: Results, wanted: Sequence[str]) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """The tasks on which the lanes ran, and a line of tokens per second for each lane."""
    rows = [row for row in results.rows if row["model_id"] in wanted]
    # DuoDecoding itself runs on all tasks.
    tasks = tasks_of([row for row in rows if row["model_id"] != DUO])
    lanes = lanes_of(rows, wanted)
    return tasks, [(label_of(lane), [tps(rows_of(rows, lane, task)) for task in tasks]) for lane in lanes]


def table_2(results: Results) -> Table:
    """DuoDecoding with a fixed number of sequences, and with the dynamic one."""
    tasks, lines = ablation(results, TABLE_2)
    return Table(
        "table-2",
        "Table 2: one, two and three draft sequences against the dynamic number",
        "Sequences k",
        [f"{task_name(task)}, tokens/s" for task in tasks],
        [(label.removeprefix("DuoDecoding, ").replace("DuoDecoding", "dynamic"), cells) for label, cells in lines],
        "Every row uses the measured draft budget γ.",
    )


def table_3(results: Results) -> Table:
    """One sequence, with budgets around the measured γ."""
    tasks, lines = ablation(results, TABLE_3)
    lanes = lanes_of(results.rows, TABLE_3)
    for lane, (_, cells) in zip(lanes, lines, strict=True):
        used = iterations(rows_of(results.rows, lane), "budget", "draft_steps", later=True)
        cells.append(mean_if_any(budget for budget, _ in used if budget is not None))
        cells.append(mean_if_any(steps for _, steps in used))
    return Table(
        "table-3",
        "Table 3: draft budgets around the measured γ, one sequence",
        "Budget",
        [*(f"{task_name(task)}, tokens/s" for task in tasks), "γ used, draft steps", "draft steps made"],
        [(label.removeprefix("DuoDecoding, k = 1").removeprefix(", ") or "γ", cells) for label, cells in lines],
        "γ is measured again in every iteration and is at least 1; the last columns are means over iterations. The "
        "draft makes fewer steps where a longer sequence would not pay; the offset is added to that length too.",
    )


def papers_four_tasks(name: str, title: str, values: dict[str, tuple], labels: Sequence[str]) -> Table:
    return Table(
        name,
        title,
        "",
        [f"{task_name(task)}, tokens/s" for task in FOUR_TASKS],
        [(label, [f"{value:.2f}" for value in line]) for label, line in zip(labels, values.values(), strict=True)],
        papers=True,
    )


def papers_table_2() -> Table:
    labels = ["k = 1", "k = 2", "k = 3", "dynamic"]
    return papers_four_tasks("paper-table-2", "The paper's Table 2, Llama-2-7b", paper.TABLE_2, labels)


def papers_table_3() -> Table:
    labels = ["γ −2", "γ −1", "γ", "γ +1", "γ +2"]
    return papers_four_tasks("paper-table-3", "The paper's Table 3, Llama-2-7b", paper.TABLE_3, labels)


def confusion(rows: Sequence[Row]) -> list[list[int]]:
    """How often which k was predicted (columns, from 1) where which was needed (lines, from 1; the last is beyond)."""
    counts = [[0] * MAX_SEQUENCES for _ in range(BEYOND)]
    for needed, k in iterations(rows_of(rows, DUO), "needed", "k"):
        if needed is not None and k is not None:
            counts[needed - 1][k - 1] += 1
    return counts


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
    lanes = [lane for lane in lane_labels() if lane != VANILLA and lane in {row["model_id"] for row in results.rows}]
    failed = [row for row in results.failed if row["model_id"] not in lanes]
    lines = []
    for lane in [*lanes, *dict.fromkeys(row["model_id"] for row in failed)]:
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
        f"({f'{delta:.1e} logits here' if delta else 'not measured here'}). Any other difference is a defect.",
    )


def predictions(results: Results) -> Table:
    """The cost model's speed of each lane beside the measured one."""
    forwards, lines = results.forward_seconds, []
    for lane in lanes_of(results.rows, lane_labels()):
        rows = rows_of(results.rows, lane)
        if together := predict(rows, forwards):
            apart = [prediction for row in rows if (prediction := predict([row], forwards))]
            cells = [figure(together, apart, name, digits) for name, digits in PREDICTED]
            lines.append((label_of(lane), cells))
    return Table(
        "cost-model",
        "The cost model against measurements",
        "Method",
        [
            "measured, tokens/s",
            "predicted, tokens/s",
            "error, %",
            "τ measured, tokens",
            "τ by formula, tokens",
            "one iteration measured, ms",
            "one iteration predicted, ms",
        ],
        lines,
        "Without reading the prompt. An iteration's time is predicted from the measured cost of its rows and draft "
        "steps. τ is predicted from the measured acceptance, where there is a formula for independent tokens.",
    )


def failures(results: Results) -> Table:
    """The answers that could not be had, and why."""
    lines = []
    for row in results.failed:
        cells = [task_name(row["task"]), str(row["question_id"]), row["message"]]
        lines.append((label_of(row["model_id"]), cells))
    return Table("failed", "Failed answers", "Method", ["task", "question", "why"], lines, words=True)


def figure(together: Prediction, apart: Sequence[Prediction], name: str, digits: int) -> Value | None:
    """One figure of all answers together, with its spread over them."""
    value = getattr(together, name)
    if value is None:
        return None
    values = [single for answer in apart if (single := getattr(answer, name)) is not None]
    scale = SCALES.get(name, 1)
    return Value(scale * value, spread([scale * single for single in values]), len(values), digits)


def environments(several: Sequence[Results]) -> Table:
    """Where each of the results comes from."""
    lines = []
    for name in ("date", "pair", "models", "devices", "cores", "threads", "precision", "versions", "system"):
        lines.append((name.capitalize(), [in_words(results.environment.get(name)) for results in several]))
    if any("machines" in results.environment for results in several):
        lines.append(("Places", [in_words(results.environment.get("machines", "one")) for results in several]))
    for name in ("quick", "questions", "repeats", "max_new_tokens", "tasks", "source"):
        lines.append((name.replace("_", " ").capitalize(), [in_words(results.plan.get(name)) for results in several]))
    for name in (TOGETHER, IN_TURN):
        lines.append((f"Costs, measured {name}", [costs_in_words(results.environment, name) for results in several]))
    return Table("environment", "Where this was measured", "", [results.name for results in several], lines, words=True)


def in_words(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {in_words(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def costs_in_words(environment: dict, name: str) -> str:
    """What one token costs the target and one step the draft, without context."""
    costs = cost_models(environment)[name]
    target, draft = (1e3 * side[0][0] for side in (costs.target, costs.draft))
    return f"target {target:.1f} ms a token, draft {draft:.2f} ms a step"


def compared(several: Sequence[Results]) -> Table:
    """Several results side by side: tokens per second and φ of each lane of Table 1."""
    lines = []
    for lane in table_1_lanes():
        if not any(rows_of(results.rows, lane) for results in several):
            continue
        cells: list[Cell] = []
        for results in several:
            tasks, mine = tasks_of(results.rows), rows_of(results.rows, lane)
            cells += [average(mine, tasks), phi(mine, rows_of(results.rows, VANILLA), tasks)]
        lines.append((label_of(lane), cells))
    return Table(
        "compared",
        "Several results side by side",
        "Method",
        [f"{results.name}, {figure}" for results in several for figure in ("tokens/s", "φ over vanilla")],
        lines,
        "Averages over the tasks of each result. Compare them only where tasks and settings are the same.",
    )
