"""What each command of the command line does: a run, a table, files."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from duoviz import comparison, recordings, runner, runs
from duoviz.command_line import tell
from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.settings import DEFAULTS, Settings, parsed
from duoviz.errors import UserError, check_write
from duoviz.lab.tasks import questions_in
from duoviz.models.pair import check_prompt
from duoviz.models.registry import check_draft
from duoviz.notebook import Race, Run
from duoviz.space import ROOT, publish, rehearse
from duoviz.trace.metrics import metrics


def generate(options: argparse.Namespace) -> int:
    """Stream one answer to stdout and keep its trace; the metrics follow, or one JSON object."""
    settings, prompt = settings_of(options), standard_input() if options.prompt == "-" else options.prompt
    check([prompt], [options.method], options.pair)
    check_place(options.trace)
    trace = runs.new_trace()
    with load_engine(options.pair, tell) as engine:
        try:
            for event in runner.stream(engine, options.method, prompt, settings, raw=options.raw):
                runs.add_event(trace, event)
                if event["type"] == "iteration":
                    print(runs.text_of([event["iteration"]]), end="", flush=True)
        finally:
            if trace["header"]:
                trace["end"] = trace["end"] or runs.end(trace["iterations"], "stopped")
                if options.trace:
                    Run(trace).write(options.trace, ".json")
            print()
    result = runs.summary(trace)
    if options.json:
        print(json.dumps(result))
    elif result["metrics"]["new_tokens"]:
        print(metrics_line(result["metrics"]), file=sys.stderr)
    if "message" in result:
        print(f"duoviz: {result['message']}", file=sys.stderr)
    return 1 if result["stopped"] == "error" else 0


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings among the options, which have the same names."""
    return Settings(**{name: parsed(name, getattr(options, name)) for name in DEFAULTS})


def standard_input() -> str:
    """The text on standard input, without the end of its last line. Raises UserError."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig") if sys.stdin else ""
    except UnicodeDecodeError as error:
        raise UserError("Standard input is no text in UTF-8.") from error
    return text.removesuffix("\n").removesuffix("\r")


def check(prompts: Sequence[str], methods: Sequence[str], pair: str) -> None:
    """Raise UserError for what shows before anything is loaded: a prompt or a method, or a draft that one lacks."""
    for prompt in prompts:
        check_prompt(prompt)
    for method in methods:
        runs.check_method(method)
    if any(METHODS[method].draft for method in methods):
        check_draft(pair)


def check_place(path: Path | None) -> None:
    """Raise UserError where a file cannot be written, before what it is to hold is computed."""
    if path:
        is_new = not path.exists()
        with check_write(path):
            path.open("a").close()
        if is_new:
            path.unlink()


def metrics_line(figures: dict) -> str:
    """A run's metrics in a line."""
    shares = [f", {name} {figures[name]:.2f}" for name in ("acceptance", "overlap") if figures[name] is not None]
    return (
        f"{figures['new_tokens']} tokens, {figures['tps']:.1f} tokens/s, first token {figures['ttft']:.2f} s, "
        f"τ {figures['tau']:.2f}{''.join(shares)}"
    )


def compare(options: argparse.Namespace) -> None:
    """Alternate the methods; print a table of means and whether each wrote vanilla's text."""
    settings = settings_of(options)
    # A prompt that stands there twice is run as one: --repeats is for running it again.
    prompts, methods = list(dict.fromkeys(read_prompts(options.prompts))), names_in(options.methods)
    check(prompts, methods, options.pair)
    if options.trace:
        with check_write(options.trace):
            options.trace.mkdir(parents=True, exist_ok=True)
    check_place(options.csv)
    lanes, rows = runs.lanes(methods, settings), []
    with load_engine(options.pair, tell) as engine:
        try:
            for row in runner.compare(engine, prompts, lanes, repeats=options.repeats, raw=options.raw):
                lane = f"{row['method']:13} {row['cores']:6}"
                said = f". {row['message']}" if "message" in row else ""
                print(f"{lane} {metrics_line(row['metrics'])}{said}", file=sys.stderr, flush=True)
                rows.append(row)
                if options.trace:
                    run = f"{1 + prompts.index(row['prompt']):03}-{row['method']}-{row['cores']}-{row['repeat'] + 1}"
                    Run(row["trace"]).write(options.trace / f"{run}.duoviz.json", ".json")
        finally:
            # Also where a method failed or the user stopped it: what was measured before is not lost.
            if rows:
                race = Race([], rows)
                if options.csv:
                    race.write(options.csv, ".csv")
                print_comparison(engine, race, options)


def read_prompts(source: str) -> list[str]:
    """The first turn of each question in a file, or the one prompt itself. Raises UserError."""
    if not source.endswith(".jsonl") and not os.path.exists(source):
        return [source]
    questions = questions_in(Path(source))
    if any(not question.turns for question in questions):
        raise UserError(f"{source} has a question without turns: write one at least.")
    return [question.turns[0] for question in questions]


def names_in(text: str) -> list[str]:
    """The names between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


# The table's figures: the title, name, width and digits of each.
FIGURES = (
    ("tokens/s", "tps", 9, 2), ("lowest", "tps_lowest", 7, 2), ("highest", "tps_highest", 8, 2),
    ("TTFT s", "ttft", 7, 3), ("τ", "tau", 5, 2), ("φ", "phi", 5, 2), ("φ same cores", "phi_same_cores", 13, 2),
)  # fmt: skip


def print_comparison(engine: Engine, race: Race, options: argparse.Namespace) -> None:
    """Print the table, and of a single prompt what makes the difference, or what disturbed the runs.

    In the table "–" stands for a figure that could not be measured.
    """
    disturbed = race.disturbance
    lines = comparison.table(race.rows)
    agreements = comparison.against_vanilla(engine, race.rows)
    titles = [f"{title:>{width}}" for title, _, width, _ in FIGURES]
    print(f"{'method':13} {'cores':7} {'runs':>4}", *titles, " equal/tie/defect")
    for line in lines:
        numbers = [(line[name], width, digits) for _, name, width, digits in FIGURES]
        figures = ["–".rjust(width) if it is None else f"{it:{width}.{digits}f}" for it, width, digits in numbers]
        mine = [each for each in agreements if (each["method"], each["cores"]) == (line["method"], line["cores"])]
        found = Counter(each["verdict"] for each in mine)
        counts = "/".join(str(found[verdict]) for verdict in ("equal", "tie", "defect")) if mine else ""
        print(f"{line['method']:13} {line['cores']:7} {line['runs']:4}", *figures, f" {counts}")
    explained = not disturbed and len({row["prompt"] for row in race.rows}) == 1
    reasons = comparison.reasons(race.rows) if explained else {}
    said = [disturbed] if disturbed else [f"{method}: {' '.join(why)}" for method, why in reasons.items()]
    for words in said:
        print(f"\n{words}")
    if options.json:
        about = {"versions": runs.versions(), "cores": str(engine.pair.cores)}
        result = {"table": lines, "agreements": agreements, "disturbance": disturbed, "reasons": reasons}
        print(json.dumps(result | about))


def bench(options: argparse.Namespace) -> None:
    """Measure what DIR does not hold, and write the report, also after an interruption."""
    from duoviz.lab.bench import bench as measure
    from duoviz.lab.plan import make_plan
    from duoviz.lab.report import write_report
    from duoviz.lab.results import is_results, load, opened

    plan = make_plan(
        quick=options.quick,
        tasks=names_in(options.tasks),
        file=options.questions,
        methods=names_in(options.methods),
        max_new_tokens=options.max_new_tokens,
        repeats=options.repeats,
        per_task=options.each,
        variants=options.variants,
        ablations=not options.table_1,
    )
    check_draft(options.pair)
    beside = [load(path) for path in options.beside]
    with opened(options.out) as folder:
        try:
            with load_engine(options.pair, tell) as engine:
                for progress in measure(engine, plan, folder):
                    print(f"{progress.words}: {progress.text}", file=sys.stderr, flush=True)
        finally:
            if is_results(folder.path):
                write_report(folder.path, folder.load(), beside)
                print(folder.path / "report.html")


def ship(options: argparse.Namespace) -> None:
    """Keep a run's results where the page finds them."""
    from duoviz.lab import shipping

    if not re.fullmatch(r"[\w.+-]+", options.name):
        raise UserError("--name: use letters, digits, '-', '_', '+' and '.' only.")
    print(shipping.ship(options.results, options.out, options.name))


def record(options: argparse.Namespace) -> None:
    """Record one run of each method and print a line about each."""
    settings = Settings(max_new_tokens=options.max_new_tokens)
    with check_write(options.out):
        options.out.mkdir(parents=True, exist_ok=True)
    with load_engine(options.pair, tell) as engine:
        traces = recordings.record(engine, settings, options.prompt, report=tell)
        places = recordings.places(engine.pair, traces["vanilla"])
    with check_write(options.out):
        recordings.write(traces, places, options.out)
    for method, trace in traces.items():
        print(f"{method:13} {metrics_line(metrics(trace))}")


def space(options: argparse.Namespace) -> None:
    """Send the page to a Space, and print its address; or list what would be sent."""
    if options.dry_run:
        return print(*rehearse(ROOT, options.name, hardware=options.hardware), sep="\n")
    print(publish(ROOT, options.name, hardware=options.hardware, private=options.private, progress=tell))
