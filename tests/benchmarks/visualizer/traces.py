"""The runs that are shown: recorded, and made longer."""

import json
from pathlib import Path

from duoviz import runner
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.trace.metrics import metrics
from tests.benchmarks.harness import questions

METHOD = "duodecoding"


def recorded(file: Path | None, tokens: int) -> dict:
    """The trace in a file, or of a run now."""
    if file:
        return json.loads(file.read_text(encoding="utf-8"))
    settings = Settings(max_new_tokens=tokens)
    with load_engine() as engine:
        runs = [runner.collect(runner.stream(engine, METHOD, questions(1)[0], settings)) for _ in range(2)]
    return runs[-1]


def longer(trace: dict, count: int) -> dict:
    """A trace of so many iterations: those after the first over and over, each time later by their length."""
    first, *others = trace["iterations"]
    length = others[-1]["sync"] - first["sync"]
    iterations = [first]
    while len(iterations) < count:
        turn, place = divmod(len(iterations) - 1, len(others))
        iterations.append(later(others[place], turn * length, len(iterations)))
    return trace | {"iterations": iterations, "end": runner.end(iterations, "length")}


def later(iteration: dict, seconds: float, index: int) -> dict:
    def moved(span: dict) -> dict:
        return span | {name: round(span[name] + seconds, 6) for name in ("start", "end")}

    moves = {"index": index, "sync": round(iteration["sync"] + seconds, 6), "target": moved(iteration["target"])}
    return iteration | moves | {"draft": [moved(step) for step in iteration["draft"]]}


def events_of(trace: dict) -> list[dict]:
    """As a run tells them, from its header to its end."""
    told = [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
    last = {"type": "end", "end": trace["end"], "metrics": metrics(trace)}
    return [{"type": "header", "header": trace["header"]}, *told, last]
