"""What a release writes of the Lab's results: the README's table, and the page of results."""

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from jinja2 import FileSystemLoader

from duoviz.decoding import METHODS
from duoviz.lab.answers import Value, like_the_papers, speeds, tasks_of, tokens, ttft
from duoviz.lab.findings import TOO_FEW, about_checks, about_noise, about_table_1, about_turns
from duoviz.lab.plan import VANILLA, label_of, table_1_lanes
from duoviz.lab.prediction import works_beside
from duoviz.lab.report import TEMPLATES, about
from duoviz.lab.results import Results
from duoviz.lab.rows import Row
from duoviz.lab.tables import TARGETS_CORES
from duoviz.lab.tasks import ALL_TASKS, SHORT_ANSWER, SHORT_TASKS, task_name

BEGIN, END = "<!-- speeds: `python -m tests.release` replaces what follows -->", "<!-- end of speeds -->"
# The picture, and the page of all tables, from the README's folder.
PICTURE, PAGE = "assets/speed-ups.svg", "docs/results.md"
PICTURE_WORDS = "Speed-ups over vanilla by task, and the acceptance at which drafting pays"


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines))


HERE = TEMPLATES.overlay(loader=FileSystemLoader(Path(__file__).parent))
TEMPLATE = HERE.get_template("results.md", globals={"markdown": markdown})


def with_speeds(text: str, results: Results) -> str:
    """A README with what stands between its markers made anew."""
    return replaced(text, BEGIN, summary(results), END)


def replaced(text: str, begin: str, part: str, end: str) -> str:
    """The text with another part between two lines, each of which it has once."""
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{part}\n{end}{after}"


def summary(results: Results) -> str:
    """For the README: each method's speed over all tasks, and a picture."""
    lines = [[name, speed, tau, phi] for name, speed, _, tau, phi, _ in speed_lines(results, METHODS)]
    return TEMPLATE.render(**measured(results), summary=True, lines=lines)


def results_page(results: Results) -> str:
    """Where it was measured, each method's speed over all tasks, whose text it wrote, and φ by task."""
    by_task = {lane: found.phi for lane, found in speeds(results.rows, table_1_lanes()).items() if lane != VANILLA}
    measured_here = measured(results)
    return TEMPLATE.render(
        **measured_here,
        lines=speed_lines(results, table_1_lanes()),
        checks=about_checks(results),
        targets_cores=TARGETS_CORES,
        about=[
            about(results)[1],
            like_the_papers(results.rows, results.plan),
            *about_turns(results),
            *about_noise(results),
        ],
        by_task=[
            [label_of(lane), *(in_digits(phis[task], 2) for task in measured_here["tasks"])]
            for lane, phis in by_task.items()
        ],
    )


def measured(results: Results) -> dict:
    """Where, when and on what it was measured."""
    tasks = tasks_of(results.rows)
    shortened = [task for task in tasks if task in SHORT_TASKS and results.plan["max_new_tokens"] > SHORT_ANSWER]
    return {
        "environment": results.environment,
        "plan": results.plan,
        "date": str(results.environment["date"])[:10],
        "asked": len({row["question_id"] for row in results.rows}),
        "tasks": [task_name(task) for task in tasks],
        "short": [task_name(task).lower() for task in shortened],
        "short_answer": SHORT_ANSWER,
        "said": [TOO_FEW] if results.plan["quick"] else about_table_1(results),
        "picture": PICTURE,
        "picture_words": PICTURE_WORDS,
    }


def speed_lines(results: Results, lanes: Iterable[str]) -> list[list[str]]:
    """Each lane's figures over all tasks: its name, tokens/s, time to the first token, τ, and φ over both baselines."""
    return [
        [
            label_of(lane) + way_taken(lane, found.rows),
            in_digits(found.tps[ALL_TASKS], 1),
            f"{median(map(ttft, found.rows)):.2f} s",
            f"{sum(map(tokens, found.rows)) / sum(sum(row['choices'][0]['decoding_steps']) for row in found.rows):.2f}",
            with_noise(found.phi[ALL_TASKS]),
            with_noise(found.phi_same),
        ]
        for lane, found in speeds(results.rows, lanes).items()
    ]


def way_taken(lane: str, rows: list[Row]) -> str:
    """Of a method that chooses whether to draft beside the target: what it chose."""
    if lane not in METHODS or "overlap" not in METHODS[lane].settings:
        return ""
    beside = sum(map(works_beside, rows))
    if beside in (0, len(rows)):
        return f" ({'parallel' if beside else 'sequential'} in all answers)"
    return f" (parallel in {beside} of {len(rows)} answers)"


def in_digits(value: Value | None, digits: int) -> str:
    return f"{value.value:.{digits}f}" if value else "–"


def with_noise(value: Value | None) -> str:
    return in_digits(value, 2) + (f" ± {value.spread:.2f}" if value and value.spread else "")
