"""The paper's tables, made from rows, and the paper's own values beside them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from duoviz.decoding.costs import CONTEXTS, CostModel
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.lab import answers, machine, paper
from duoviz.lab.answers import Value, by_lane, like_the_papers, rows_of, tasks_of
from duoviz.lab.machine import IN_TURN, TOGETHER, part_in_words
from duoviz.lab.plan import (
    DUO,
    FOUR_TASKS,
    ONE_SEQUENCE,
    VANILLA,
    label_of,
    lane_labels,
    look_of,
    table_1_lanes,
    table_lanes,
)
from duoviz.lab.prediction import Predictions, ratio_of
from duoviz.lab.results import Results
from duoviz.lab.rows import BEYOND, Row
from duoviz.lab.tasks import ALL_TASKS, TASKS, task_name, with_all

# The figures of a `Prediction` in its order: each one's heading, its scale (of seconds and shares), and its digits.
PREDICTED = (
    ("measured, tokens/s", 1, 1),
    ("predicted, tokens/s", 1, 1),
    ("error, %", 100, 0),
    ("tokens an iteration, measured", 1, 2),
    ("tokens an iteration, by formula", 1, 2),
    ("one iteration measured, ms", 1e3, 1),
    ("one iteration predicted, ms", 1e3, 1),
)
VERDICTS = ("equal", "tie", "defect", "not checked", "failed")
# Of what results hold, where its name does not say enough.
HEADINGS = {
    "cores": "Cores in DuoDecoding, by number",
    "threads": "Number of cores at work",
    "quick": "Kind of run",
    "source": "Questions from",
}
AVERAGE, PHI = "Average, tokens/s", "φ over vanilla"
# Of the column with φ over vanilla on the target's cores.
TARGETS_CORES = (
    "The target's cores: all cores for the prompt, as in DuoDecoding, then its share. On a processor this is not the "
    "paper's setting exactly: DuoDecoding's target also gets the draft's core once the draft is done."
)
# Failed answers that are listed, and characters of why.
LISTED, WHY = 200, 500

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

    @property
    def counts(self) -> list[int | None]:
        """Of each column, from how many values all its figures come; None where these numbers differ."""
        columns = zip(*(cells for _, cells in self.lines), strict=True)
        found = [{cell.n for cell in column if isinstance(cell, Value) and cell.is_counted} for column in columns]
        return [numbers.pop() if len(numbers) == 1 else None for numbers in found]


def in_tokens(tasks: Iterable[str]) -> list[str]:
    """The tasks' columns."""
    return [f"{task_name(task)}, tokens/s" for task in tasks]


def table_1(results: Results) -> list[Table]:
    """Tokens per second, and φ, of each method on each task; and the paper's two of these."""
    lines = []
    for lane, found in answers.speeds(results.rows, table_1_lanes()).items():
        over_all, *by_task = found.tps.values()
        papers = [f"{values[lane][-1]:.2f}" if lane in values else None for values in paper.TABLE_1.values()]
        lines.append((label_of(lane), [*by_task, over_all, found.phi[ALL_TASKS], found.phi_same, *papers]))
    more = [
        AVERAGE,
        PHI,
        f"{PHI} on the target's cores, see the note",
        *(f"the paper's φ, {model}" for model in paper.TABLE_1),
    ]
    own = Table(
        "table-1",
        "Table 1: tokens per second by task, and the speed-up φ over vanilla",
        "Method",
        [*in_tokens(tasks_of(results.rows)), *more],
        lines,
        "Total tokens over total time, including the prompt. The average is the mean over tasks; φ is the ratio of "
        "two averages, over the questions that both answered. Noise is two standard errors of this figure over "
        "the questions; it includes the machine's noise during the run. A task's ± is the standard deviation over its "
        f"answers, n their number. {like_the_papers(results.rows, results.plan)} "
        f"Vanilla runs on the cores where it is faster at the time. {TARGETS_CORES}",
    )
    columns = [*in_tokens(TASKS), AVERAGE, PHI]
    return [own] + [
        of_papers(f"table-1-{model.lower()}", f"Table 1, {model}", values, columns, head="Method")
        for model, values in paper.TABLE_1.items()
    ]


def speed_bars(results: Results) -> dict:
    """Table 1 as speed-ups over vanilla, as plain data: for each lane, by task, what was measured and the paper's
    values; base: vanilla's tokens per second, by task; asked: see `like_the_papers`.
    """
    found = answers.speeds(results.rows, table_lanes())
    base = found.pop(VANILLA).tps if VANILLA in found else {}
    lines = [
        {
            "method": label_of(lane),
            "colour": look_of(lane).colour,
            "here": {
                name: {"phi": ratio.value, "noise": ratio.spread, "n": ratio.n}
                for name, ratio in line.phi.items()
                if ratio
            },
            "paper": {model: papers_speed_ups(values, lane) for model, values in paper.TABLE_1.items()},
        }
        for lane, line in found.items()
    ]
    groups = list(with_all(tasks_of(results.rows)))
    return {
        # One task is all tasks.
        "tasks": groups if len(groups) > 2 else groups[1:],
        "papers": list(paper.TABLE_1),
        "base": {name: value.value for name, value in base.items() if value},
        "lines": lines,
        "asked": like_the_papers(results.rows, results.plan),
    }


def papers_speed_ups(values: dict[str, tuple], lane: str) -> dict[str, float]:
    """The paper's φ by task: over all as it gives it, of a task the ratio of its tokens per second."""
    if lane not in values:
        return {}
    ratios = [mine / base for mine, base in zip(values[lane], values[VANILLA], strict=True)]
    return {ALL_TASKS: values[lane][-1]} | dict(zip(TASKS.values(), ratios, strict=False))


def of_papers(
    name: str, title: str, values: dict[str, tuple], columns: Iterable[str], *, label: Callable = label_of, head=""
) -> Table:
    """A table of the paper's own values, by lane."""
    lines = [(label(lane), [f"{value:.2f}" for value in line]) for lane, line in values.items()]
    # The paper asked MT-Bench's own questions.
    columns = [column.replace("-like", "") for column in columns]
    return Table(f"paper-{name}", f"The paper's {title}", head, columns, lines, papers=True)


def sequences_of(lane: str) -> str:
    """What a lane is called in Table 2."""
    return label_of(lane).removeprefix("DuoDecoding, ").replace("DuoDecoding", "dynamic")


def budget_of(lane: str) -> str:
    """What a lane is called in Table 3."""
    return label_of(lane).removeprefix("DuoDecoding, k = 1").removeprefix(", ") or "γ"


def ablation(results: Results, wanted: Iterable[str]) -> tuple[list[str], dict[str, list[Cell]]]:
    """The columns of the tasks on which the lanes ran, and by lane its tokens per second on each."""
    lanes = by_lane(results.rows, wanted)
    # DuoDecoding itself runs on all tasks.
    tasks = tasks_of(row for lane, rows in lanes.items() for row in rows if lane != DUO)
    return in_tokens(tasks), {
        lane: [answers.tps(rows_of(rows, lane, task)) for task in tasks] for lane, rows in lanes.items()
    }


def table_2(results: Results) -> list[Table]:
    """DuoDecoding with a fixed number of sequences, and with the dynamic one; and the paper's."""
    columns, lines = ablation(results, paper.TABLE_2)
    own = Table(
        "table-2",
        "Table 2: one, two and three draft sequences against the dynamic number",
        "Sequences k",
        columns,
        [(sequences_of(lane), cells) for lane, cells in lines.items()],
        "Every row uses the measured draft budget γ.",
    )
    papers = in_tokens(FOUR_TASKS)
    return [own, of_papers("table-2", "Table 2, Llama-2-7b", paper.TABLE_2, papers, label=sequences_of)]


def table_3(results: Results) -> list[Table]:
    """One sequence, with budgets around the measured γ; and the paper's."""
    columns, lines = ablation(results, paper.TABLE_3)
    for lane, cells in lines.items():
        used = answers.iterations(rows_of(results.rows, lane), "budget", "draft_steps", later=True)
        for values in ([budget for budget, _ in used if budget is not None], [steps for _, steps in used]):
            cells.append(answers.mean_of(values) if values else None)
    own = Table(
        "table-3",
        "Table 3: draft budgets around the measured γ, one sequence",
        "Budget",
        [*columns, "γ used, draft steps", "draft steps made"],
        [(budget_of(lane), cells) for lane, cells in lines.items()],
        "γ is measured again in every iteration in which the draft works, and is at least 1; the last columns are "
        "means over those and over all iterations. The draft makes fewer steps where a longer sequence would not pay; "
        "the offset is added to that length too." + steps_in_words(results),
    )
    papers = in_tokens(FOUR_TASKS)
    return [own, of_papers("table-3", "Table 3, Llama-2-7b", paper.TABLE_3, papers, label=budget_of)]


def steps_in_words(results: Results) -> str:
    """Why an offset moves γ by more than itself: what a pass and a draft step took with the smallest and with none."""
    parts = []
    for lane, rows in by_lane(results.rows, (next(iter(paper.TABLE_3)), ONE_SEQUENCE)).items():
        used = [each for each in answers.iterations(rows, "target", "draft", "draft_steps", later=True) if each[-1]]
        if used:
            target, draft = (1e3 * median(times) for times in ([each[0] for each in used], [d / n for _, d, n in used]))
            parts.append(f"{target:.1f} ms over {draft:.2f} ms with {budget_of(lane)}")
    return f" It also changes what γ is measured from, a pass over a draft step: {', '.join(parts)}." if parts else ""


def confusion(rows: Sequence[Row]) -> list[list[int]]:
    """How often which k was predicted (columns, from 1) where which was needed (lines, from 1; the last is beyond)."""
    counts = Counter(answers.iterations(rows_of(rows, DUO), "needed", "k"))
    return [[counts[needed, k] for k in range(1, MAX_SEQUENCES + 1)] for needed in range(1, BEYOND + 1)]


def table_4(results: Results) -> Table:
    """The number of sequences that was needed against the one that θ predicted."""
    counts = confusion(results.rows)
    total = sum(map(sum, counts))
    columns = [k for k in range(MAX_SEQUENCES) if any(line[k] for line in counts)]
    labels = [*map(str, range(1, BEYOND)), f"more than {BEYOND - 1}"]
    lines = {label: [line[k] for k in columns] for label, line in zip(labels, counts, strict=True) if any(line)}
    return Table(
        "table-4",
        "Table 4: how many sequences were needed, and how many θ predicted",
        "Needed k",
        [f"predicted k = {k + 1}, iterations" for k in columns],
        [(label, [Value(count, None, total, 0) for count in line]) for label, line in lines.items()],
        "Needed k: the rank of the target's token among the draft's first tokens. It is known where no token before "
        f"it was rejected: in {total:,} iterations. A cell's shade is its share of them.",
        shares=[[count / total for count in line] for line in lines.values()],
    )


def checks(results: Results) -> Table:
    """How many answers were vanilla's text, token for token."""
    lines = []
    lanes = [lane for lane in by_lane(results.rows, lane_labels()) if lane != VANILLA]
    for lane in dict.fromkeys((*lanes, *(row["model_id"] for row in results.failed))):
        verdicts = [row["verdict"] or "not checked" for row in rows_of(results.rows, lane)]
        verdicts += ["failed"] * len(rows_of(results.failed, lane))
        lines.append((label_of(lane), [Value(verdicts.count(each), None, len(verdicts), 0) for each in VERDICTS]))
    delta = results.environment.get("delta")
    return Table(
        "checks",
        "Is it vanilla's text?",
        "Method",
        [f"{verdict}, answers" for verdict in VERDICTS],
        lines,
        "A tie: the texts differ only where two tokens are equally good to within rounding "
        f"({f'{delta:.1e} logits here' if delta else 'not measured here'}). Any other difference is a defect.",
    )


def predictions(found: Predictions) -> Table:
    """The cost model's speed of each lane beside the measured one, with its spread over the answers."""
    lines = []
    for lane, (together, apart) in found.items():
        cells: list[Cell] = []
        for (_, scale, digits), value, *each in zip(PREDICTED, together, *apart, strict=True):
            values = [scale * one for one in each if one is not None]
            spread = answers.spread(values)
            cells.append(None if value is None else Value(scale * value, spread, len(values), digits))
        lines.append((label_of(lane), cells))
    return Table(
        "cost-model",
        "The cost model against measurements",
        "Method",
        [heading for heading, *_ in PREDICTED],
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


def environments(several: Sequence[Results]) -> Table:
    """Where each of the results comes from."""
    lines = []
    for part, names in (
        ("environment", ("date", "pair", "models", "devices", "cores", "threads", "precision", "versions", "system")),
        ("plan", ("quick", "questions", "repeats", "max_new_tokens", "tasks", "source")),
    ):
        for name in names:
            values = [part_in_words(getattr(results, part), name) for results in several]
            lines.append((HEADINGS.get(name, name.replace("_", " ").capitalize()), values))
    passes = [machine.pass_in_words(machine.passes(results.rows)) for results in several]
    lines.append(("Vanilla's forward pass of one token", passes))
    for name, where in ((TOGETHER, "on DuoDecoding's processors"), (IN_TURN, "where both take turns")):
        costs = [machine.cost_models(results.environment)[name] for results in several]
        lines.append((f"The cost model's times {where}", list(map(cost_in_words, costs))))
    return Table(
        "environment",
        "Where this was measured",
        "",
        [results.name for results in several],
        lines,
        "The measured times at the end say how fast the machine was then.",
        words=True,
    )


def cost_in_words(costs: CostModel) -> str:
    """What a pass of one token and a draft step take after a short text, and how many steps a pass is."""
    target, draft = (1e3 * float(time(1, CONTEXTS[0])) for time in (costs.target_time, costs.draft_time))
    return f"target {target:.2f} ms a pass, draft {draft:.3f} ms a step: {ratio_of(costs):.1f} draft steps a pass"


def compared(several: Sequence[Results]) -> Table:
    """Several results side by side: tokens per second and φ of each lane of Table 1."""
    found = [answers.speeds(results.rows, table_1_lanes()) for results in several]
    lines = []
    for lane in table_1_lanes():
        if any(lane in each for each in found):
            figures = [by_task for each in found for by_task in (each[lane][1:3] if lane in each else ({}, {}))]
            lines.append((label_of(lane), [by_task.get(ALL_TASKS) for by_task in figures]))
    return Table(
        "compared",
        "Several results side by side",
        "Method",
        [f"{results.name}, {figure}" for results in several for figure in ("tokens/s", PHI)],
        lines,
        "Averages over the tasks of each result. Compare them only where tasks and settings are the same. "
        + machine.about_speeds([(results.name, machine.passes(results.rows)) for results in several]),
    )
