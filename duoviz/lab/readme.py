"""The README's tables of speeds, made from the Lab's results and written between two markers."""

from statistics import median

from duoviz.lab.plan import TARGET_ONLY, VANILLA, label_of, table_lanes
from duoviz.lab.results import Results
from duoviz.lab.tables import lanes_of, tasks_of
from duoviz.lab.tasks import LabError, task_name
from duoviz.lab.values import Value, average, phi, rows_of, tokens, ttft

BEGIN, END = "<!-- speeds: `python -m duoviz ship` replaces what follows -->", "<!-- end of speeds -->"


def with_speeds(text: str, results: Results) -> str:
    """A README with what stands between its markers made anew. Raises LabError."""
    before, begun, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise LabError(f"The README has no place for the tables: it needs the lines {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{speeds_text(results)}\n{END}{after}"


def speeds_text(results: Results) -> str:
    """Where it was measured, each method's speed over all tasks, whose text it wrote, and φ by task."""
    parts = [measured_text(results), speeds_table(results), texts_sentence(results), by_task_table(results)]
    return "\n\n".join(parts)


def measured_text(results: Results) -> str:
    environment, plan = results.environment, results.plan
    versions = environment["versions"]
    return (
        f"Measured on {environment['devices']['target']} on {str(environment['date'])[:10]}, "
        f"torch {versions['torch']}, "
        f"target in {environment['precision']['target']}, draft in {environment['precision']['draft']}, greedy, "
        f"{plan['questions']} prompts of {len(tasks_of(results.rows))} tasks, up to {plan['max_new_tokens']} tokens, "
        f"methods alternated on every prompt; averages over the tasks, first token: the median."
    )


def speeds_table(results: Results) -> str:
    rows, tasks = results.rows, tasks_of(results.rows)
    lines = []
    for lane in lanes_of(rows, table_lanes()):
        mine = rows_of(rows, lane)
        forwards = sum(sum(row["choices"][0]["decoding_steps"]) for row in mine)
        lines.append(
            [
                label_of(lane),
                in_digits(average(mine, tasks), 1),
                f"{median(map(ttft, mine)):.2f} s",
                f"{sum(map(tokens, mine)) / forwards:.2f}",
                in_digits(phi(mine, rows_of(rows, VANILLA), tasks), 2),
                in_digits(phi(mine, rows_of(rows, TARGET_ONLY), tasks), 2),
            ]
        )
    heads = ["", "tokens/s", "first token", "tokens per target forward τ", "φ over vanilla, all cores"]
    return markdown([*heads, "φ over vanilla, target's cores"], lines)


def texts_sentence(results: Results) -> str:
    rows = [row for row in results.rows if row["model_id"] in table_lanes() and row["model_id"] != VANILLA]
    found = [row["verdict"] for row in rows]
    told = [f"{found.count('equal'):,} of these {len(found):,} answers are vanilla's very text"]
    told += [f"{count} {what}" for verdict, what in (("tie", "differ at a numerical tie"), ("defect", "are defects"))
             if (count := found.count(verdict))]  # fmt: skip
    return f"{', '.join(told)}. φ over vanilla on all cores, by task:"


def by_task_table(results: Results) -> str:
    rows, tasks = results.rows, tasks_of(results.rows)
    lines = [
        [
            label_of(lane),
            *(in_digits(phi(rows_of(rows, lane, task), rows_of(rows, VANILLA, task), [task]), 2) for task in tasks),
        ]
        for lane in lanes_of(rows, table_lanes())
        if lane != VANILLA
    ]
    return markdown(["", *map(task_name, tasks)], lines)


def in_digits(value: Value | None, digits: int) -> str:
    return f"{value.value:.{digits}f}" if value else "–"


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines))
