"""What the README and the page of results say of speeds: tables, a picture and sentences, made of the Lab's results."""

from collections.abc import Iterable
from statistics import median

from duoviz.decoding import METHODS
from duoviz.lab.course import works_beside
from duoviz.lab.estimates import other_hardware
from duoviz.lab.findings import TOO_FEW, about_table_1
from duoviz.lab.plan import TARGET_ONLY, VANILLA, label_of, table_1_lanes
from duoviz.lab.results import Results
from duoviz.lab.rows import Row
from duoviz.lab.tasks import SHORT_ANSWER, SHORT_TASKS, LabError, task_name
from duoviz.lab.values import Value, average, by_lane, phi, rows_of, speed_ups, tasks_of, tokens, ttft

BEGIN, END = "<!-- speeds: `python -m duoviz ship` replaces what follows -->", "<!-- end of speeds -->"
# The picture, and the page of all tables, from the README's folder.
PICTURE, PAGE = "assets/speed-ups.svg", "docs/results.md"
PICTURE_WORDS = "Speed-ups over vanilla by task, and the acceptance at which drafting pays"


def with_speeds(text: str, results: Results) -> str:
    """A README with what stands between its markers made anew. Raises LabError."""
    if not results.rows:
        raise LabError("These results have no answers.")
    return replaced(text, BEGIN, summary(results), END)


def replaced(text: str, begin: str, part: str, end: str) -> str:
    """The text with another part between two lines. Raises LabError where it lacks one."""
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise LabError(f"The page has no place for the table: it needs the lines {begin} and {end}.")
    return f"{before}{begin}\n{part}\n{end}{after}"


def summary(results: Results) -> str:
    """For the README: each method's speed over all tasks, and a picture."""
    asked, environment = len({row["question_id"] for row in results.rows}), results.environment
    where = (
        f"{asked} prompts of {len(tasks_of(results.rows))} tasks on {environment['devices']['target']}, target in "
        f"{environment['precision']['target']}, greedy, {str(environment['date'])[:10]}:"
    )
    lines = [[name, speed, tau, phi] for name, speed, _, tau, phi, _ in speeds(results, METHODS)]
    table = markdown(["", "tokens/s", "tokens per forward pass τ", "speed-up φ"], lines)
    return "\n\n".join([where, table, f"![{PICTURE_WORDS}]({PICTURE})"])


def results_page(results: Results) -> str:
    """Where it was measured, each method's speed over all tasks, whose text it wrote, φ by task, and an estimate."""
    said = [TOO_FEW] if results.plan["quick"] else about_table_1(results)
    heads = ["", "tokens/s", "first token", "τ", "φ over vanilla", "φ over vanilla, target's cores"]
    parts = [
        "# Results",
        measured_text(results),
        markdown(heads, speeds(results, table_1_lanes())),
        " ".join(said),
        texts_sentence(results),
        by_task_table(results),
        f"![{PICTURE_WORDS}](../{PICTURE})",
        other_hardware(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def measured_text(results: Results) -> str:
    """Where, when and on what it was measured."""
    environment, plan, tasks = results.environment, results.plan, tasks_of(results.rows)
    asked = len({row["question_id"] for row in results.rows})
    few = [task_name(task).lower() for task in tasks if task in SHORT_TASKS and plan["max_new_tokens"] > SHORT_ANSWER]
    short = f" ({SHORT_ANSWER} for {' and '.join(few)})" if few else ""
    return (
        f"Measured on {environment['devices']['target']} on {str(environment['date'])[:10]}, "
        f"torch {environment['versions']['torch']}, "
        f"target in {environment['precision']['target']}, draft in {environment['precision']['draft']}, greedy, "
        f"{asked} prompts of {len(tasks)} tasks, up to {plan['max_new_tokens']} tokens{short}, "
        "all methods on each prompt, vanilla first and the others in rotating order. Figures are means over "
        "the tasks; the first token is a median, and τ is all tokens over all forward passes. The target's cores: all "
        "of them for the prompt, as in DuoDecoding, then its share. Machines are noisy, so look at the ratios."
    )


def speeds(results: Results, lanes: Iterable[str]) -> list[list[str]]:
    """Each lane's figures over all tasks: its name, tokens/s, time to the first token, τ, and φ over both baselines."""
    rows, tasks = results.rows, tasks_of(results.rows)
    return [
        [
            label_of(lane) + way_taken(lane, mine),
            in_digits(average(mine, tasks), 1),
            f"{median(map(ttft, mine)):.2f} s",
            f"{sum(map(tokens, mine)) / sum(sum(row['choices'][0]['decoding_steps']) for row in mine):.2f}",
            in_digits(phi(mine, rows_of(rows, VANILLA), tasks), 2),
            in_digits(phi(mine, rows_of(rows, TARGET_ONLY), tasks), 2),
        ]
        for lane, mine in by_lane(rows, lanes).items()
    ]


def way_taken(lane: str, rows: list[Row]) -> str:
    """Of a method that chooses whether to draft beside the target: what it chose."""
    if lane not in METHODS or "overlap" not in METHODS[lane].settings:
        return ""
    beside = sum(map(works_beside, rows))
    if beside in (0, len(rows)):
        return f" ({'parallel' if beside else 'sequential'} in all answers)"
    return f" (parallel in {beside} of {len(rows)} answers)"


def texts_sentence(results: Results) -> str:
    """How many answers are vanilla's text, and how many differ by what."""
    rows = [row for row in results.rows if row["model_id"] in table_1_lanes() and row["model_id"] != VANILLA]
    verdicts = [row["verdict"] for row in rows]
    parts = [f"{verdicts.count('equal'):,} of these {len(verdicts):,} answers are vanilla's text, token for token"]
    others = {"tie": "differ at a numerical tie", "defect": "are defects", None: "were not checked"}
    parts += [f"{count} {what}" for verdict, what in others.items() if (count := verdicts.count(verdict))]
    failed = f" {len(results.failed)} answers failed." if results.failed else ""
    return f"{', '.join(parts)}.{failed} φ over vanilla by task:"


def by_task_table(results: Results) -> str:
    """φ over vanilla, lane by lane and task by task."""
    tasks = [task_name(task) for task in tasks_of(results.rows)]
    values = speed_ups(results.rows, table_1_lanes())
    lines = [[label_of(lane), *(in_digits(line[task], 2) for task in tasks)] for lane, line in values.items()]
    return markdown(["", *tasks], lines)


def in_digits(value: Value | None, digits: int) -> str:
    return f"{value.value:.{digits}f}" if value else "–"


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines))
