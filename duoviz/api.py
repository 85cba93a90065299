"""What computes for who works in Python: a run as events or as one object, a race, and the Lab's measurement."""

import os
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, cast

from duoviz import runner, runs
from duoviz.comparison import outcome
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.lab.bench import bench as measure
from duoviz.lab.plan import make_plan
from duoviz.lab.results import opened
from duoviz.notebook import Race, Results, Run
from duoviz.notebook import open as open_saved
from duoviz.runs import Lane

# Those of `decoding.METHODS`, for a type checker.
Method = Literal["vanilla", "speculative", "prompt_lookup", "rest", "lookahead", "duodecoding", "duotree"]


def generate(
    engine: Engine,
    method: Method,
    prompt: str,
    settings: Settings = Settings(),
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
    stopped: Callable[[], bool] = bool,
) -> Generator[dict]:
    """One run as events; see `runner.stream`."""
    return runner.stream(engine, method, prompt, settings, raw=raw, before=before, stopped=stopped)


def run(
    engine: Engine,
    method: Method,
    prompt: str,
    settings: Settings = Settings(),
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
) -> Run:
    """One whole run. What goes wrong before its first token raises UserError; later it ends the run: see `Run.message`.

    raw: continue the text as it is, without a chat template. before: the conversation's earlier turns, as (what the
    user said, the answer).
    """
    return Run(runs.collect(runner.stream(engine, method, prompt, settings, raw=raw, before=before)))


def race(
    engine: Engine,
    lanes: Sequence[Method | Lane],
    prompts: str | Sequence[str],
    settings: Settings = Settings(),
    *,
    repeats: int = 1,
    raw: bool = False,
) -> Race:
    """Every lane on every prompt, `repeats` times, in alternation and after a warm-up; each run alone.

    lanes: methods, which run with these settings, or `Lane`s with a name and settings of their own. Raises UserError,
    also where a lane cannot go on.
    """
    taking = [lane if isinstance(lane, Lane) else Lane(lane, lane, settings) for lane in lanes]
    asked = [prompts] if isinstance(prompts, str) else list(prompts)
    rows = list(runner.compare(engine, asked, taking, repeats=repeats, raw=raw))
    named = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in taking]
    return Race(named, rows, outcome(engine, taking, rows, {}) if len(taking) == 2 and len(asked) == 1 else None)


def bench(
    engine: Engine,
    *,
    questions: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] = (),
    each: int | None = None,
    methods: Sequence[Method] = (),
    max_new_tokens: int | None = None,
    repeats: int = 1,
    quick: bool = False,
    table_1: bool = False,
    variants: bool = False,
    out: str | os.PathLike[str] | None = None,
    report: Callable[[str], object] | None = None,
) -> Results:
    """The paper's tables and figures, measured here; the options are those of `duoviz bench`.

    questions: a file of them. out: a folder that keeps each answer as it is finished, and is continued where it holds
    some; without it only what is returned is kept. report: is given a line after each answer, such as `print`. Raises
    UserError.
    """
    plan = make_plan(
        quick=quick,
        tasks=tasks,
        file=None if questions is None else Path(questions),
        methods=methods,
        max_new_tokens=max_new_tokens,
        repeats=repeats,
        per_task=each,
        variants=variants,
        ablations=not table_1,
    )
    with TemporaryDirectory() as spare, opened(Path(out) if out else Path(spare, "results")) as folder:
        for progress in measure(engine, plan, folder):
            if report:
                report(f"{progress.words}: {progress.text}")
        return cast(Results, open_saved(folder.path))
