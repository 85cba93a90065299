"""What computes for who works in Python: a run as events or as one object, and a race."""

from collections.abc import Callable, Generator, Sequence
from typing import Literal, cast

from duoviz import runner, runs
from duoviz.comparison import outcome
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.notebook import Race, Run
from duoviz.runs import Lane
from duoviz.trace.types import Event

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
) -> Generator[Event]:
    """One run as events; see `runner.stream`."""
    events = runner.stream(engine, method, prompt, settings, raw=raw, before=before, stopped=stopped)
    return cast("Generator[Event]", events)


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
