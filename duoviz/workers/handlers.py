"""How each kind of task is done on a loaded pair, as a generator of events."""

import time
from collections.abc import Iterator

from duoviz import runner
from duoviz.comparison import outcome, with_smaller
from duoviz.decoding.engine import Engine
from duoviz.errors import UserError
from duoviz.lab.bench import bench
from duoviz.lab.report import first_view, parts_of, write_report
from duoviz.lab.results import Results, is_results, opened
from duoviz.models.pair import Pair
from duoviz.runs import add_event, new_trace
from duoviz.trace.metrics import metrics
from duoviz.workers.tasks import Comparison, Measurement, Run

# Seconds between two drawings of the tables and figures in a run of the Lab; between two answers, so that none is
# slowed by it.
LOOK_EVERY = 30
BEGUN = {"type": "begun"}


class CancelToken:
    """Whether the running assignment is to end. number: the assignment's; latest: the last one that was cancelled."""

    def __init__(self):
        self.number = self.latest = 0

    def __call__(self) -> bool:
        return self.latest >= self.number


def check_tokens(task: Run | Comparison, pair: Pair) -> None:
    """Raise UserError for a prompt of more tokens than it may have."""
    # A token has at least one byte.
    if len(task.prompt.encode()) <= task.prompt_tokens:
        return
    count = len(pair.tokenizer(task.prompt, add_special_tokens=False)["input_ids"])
    if count > task.prompt_tokens:
        limit = f"the limit on this Space is {task.prompt_tokens:,}"
        raise UserError(f"The prompt is too long: {count:,} tokens; {limit}.")


def run(engine: Engine, task: Run, cancelled: CancelToken) -> Iterator[dict]:
    check_tokens(task, engine.pair)
    trace = new_trace()
    for event in runner.stream(engine, task.method, task.prompt, task.settings, raw=task.raw, stopped=cancelled):
        add_event(trace, event)
        if event["type"] == "header":
            yield BEGUN
        yield event | ({"metrics": metrics(trace)} if event["type"] == "end" else {})


def compare(engine: Engine, task: Comparison, cancelled: CancelToken) -> Iterator[dict]:
    check_tokens(task, engine.pair)
    lanes = [
        {"name": lane.name, "method": lane.method, "baseline": number > 1} for number, lane in enumerate(task.lanes)
    ]
    yield {"type": "lanes", "lanes": lanes, "repeats": task.repeats}
    baselines = [lane["name"] for lane in lanes if lane["baseline"]]
    rows, errors = list[dict](), dict[str, str]()
    events = runner.race(engine, [task.prompt], task.lanes, repeats=task.repeats, raw=task.raw, stopped=cancelled)
    for number, event in enumerate(events):
        if not number:
            yield BEGUN
        name, repeat = event["lane"], event["repeat"]
        shown = {"type": "lane", "lane": name, "repeat": repeat}
        if failure := runner.failure_in(event):
            errors[name] = failure
        if "row" in event:
            rows.append(event["row"])
            event = {"type": "end", "end": event["end"], "metrics": event["row"]["metrics"]}
        if event["type"] != "error" and repeat is not None:
            yield shown | {"event": event}
        elif event["type"] == "header":
            role = ", the baseline of the speed-up φ" if name in baselines else ""
            yield {"type": "status", "text": f"Warming up: {name}{role}."}
        elif name in errors:
            # It does not run again; the others go on.
            yield shown | {"repeat": None, "event": {"type": "error", "message": errors[name]}}
    if not rows and errors:
        yield {"type": "error", "message": next(iter(errors.values()))}
        return
    # Where the texts differ, rounding is measured now.
    yield {"type": "status", "text": "Comparing both texts."}
    result = outcome(engine, task.lanes, rows, errors)
    yield {"type": "end", "result": with_smaller(result, task.pair, task.smaller)}


def measure(engine: Engine, task: Measurement, cancelled: CancelToken) -> Iterator[dict]:
    """`progress` events, and every now and then `results`; writes the report of a run that was stopped, too.

    Raises UserError.
    """
    yield BEGUN
    looked = time.monotonic()
    with opened(task.path) as folder:
        for progress in bench(engine, task.plan, folder, stopped=cancelled):
            yield {"type": "progress", "progress": progress}
            if time.monotonic() - looked > LOOK_EVERY and is_results(folder.path):
                yield from shown_results(folder.load())
                looked = time.monotonic()
        if is_results(folder.path):
            write_report(folder.path, results := folder.load())
            yield from shown_results(results)
    yield {"type": "end", "stopped": cancelled()}


def shown_results(results: Results) -> Iterator[dict]:
    """What the page shows of results; before their first answer it goes on showing what it shows."""
    if answers := len(results.rows):
        yield {"type": "results", "answers": answers, "view": first_view(results), "parts": parts_of(results)}


HANDLERS = {Run: run, Comparison: compare, Measurement: measure}
