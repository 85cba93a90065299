"""What a visitor asks of the hardware: one run, or a comparison of two methods."""

import queue
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from duoviz import runner
from duoviz.comparison import outcome
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import Stopped
from duoviz.decoding.settings import Settings, check_flag, check_number
from duoviz.models.files import ModelFiles
from duoviz.models.pair import Pair
from duoviz.trace.metrics import metrics
from duoviz.web.clients import Client
from duoviz.web.limits import Limits

MAX_REPEATS = 10


@dataclass(eq=False, kw_only=True)
class Job:
    """One visitor's place on the hardware: its events come out of a queue, and it can be stopped.

    pair: the models that it needs. client: whose it is. turn: when it runs (see `Line.place`). fetching: whether
    its models are being fetched, and others go before it. progress: how far that is. sources: their files, when they
    are here. ready_by: when they must be ready. future: done when the job has ended. deadline: when its time is over;
    None until its decoding begins. summary: what a client gets at the end. error: why it failed, a sentence. Times
    are on the monotonic clock.
    """

    pair: str
    client: Client | None = None
    turn: int = 0
    fetching: bool = False
    progress: str = ""
    sources: tuple[ModelFiles, ModelFiles] | None = None
    ready_by: float | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future = field(default_factory=Future)
    deadline: float | None = None
    summary: dict | None = None
    error: str | None = None

    @property
    def owner(self) -> str:
        """Who takes turns with others: an address, or on one's own machine a session."""
        return self.id if self.client is None else self.client.address or self.client.session

    def check_request(self, limits: Limits, pair: Pair | None) -> None:
        """Raise one of the runner's USER_ERRORS for what shows before it runs. pair: its models, if they are loaded."""

    def stream(self, engine: Engine) -> Generator[dict]:
        """The events of the job's work on the loaded pair, in the thread of the hardware."""
        raise NotImplementedError

    def take(self, event: dict) -> None:
        """Keep one of the events of `stream`, and put into the queue what the visitor sees of it."""
        raise NotImplementedError

    def finish(self, engine: Engine, reason: tuple[str, ...]) -> None:
        """Put the end into the queue; reason: of a run that was cut, how it was stopped and with which message."""
        raise NotImplementedError

    def over(self) -> bool:
        """Whether it is to end: its visitor said so, or its time is up."""
        return self.stop.is_set() or (self.deadline is not None and time.monotonic() > self.deadline)

    def late(self) -> bool:
        """Whether its models should have been ready by now."""
        # Read once: the thread that has them ready takes it away.
        ready_by = self.ready_by
        return ready_by is not None and time.monotonic() > ready_by

    def check(self) -> None:
        """Raise Stopped where its visitor has said so."""
        if self.stop.is_set():
            raise Stopped

    def fail(self, message: str) -> None:
        """End the job with a sentence for the visitor."""
        self.error = message
        self.events.put({"type": "error", "message": message})


def close(trace: dict, reason: tuple[str, ...]) -> None:
    """Give a trace the end that it lacks: a run that was cut does not know why."""
    if trace["end"] is None or trace["end"]["stopped"] == "stopped":
        trace["end"] = runner.end(trace["iterations"], *reason)


@dataclass(eq=False, kw_only=True)
class Run(Job):
    """One method on one prompt."""

    method: str
    prompt: str
    settings: Settings
    raw: bool
    trace: dict = field(default_factory=runner.new_trace)

    def check_request(self, limits: Limits, pair: Pair | None) -> None:
        limits.check_prompt(self.prompt, pair)
        check_flag("raw", self.raw)
        runner.check_method(self.method)

    def stream(self, engine: Engine) -> Generator[dict]:
        yield from runner.stream(engine, self.method, self.prompt, self.settings, raw=self.raw, stopped=self.over)

    def take(self, event: dict) -> None:
        runner.add_event(self.trace, event)
        if event["type"] != "end":
            self.events.put(event)

    def finish(self, engine: Engine, reason: tuple[str, ...]) -> None:
        close(self.trace, reason)
        self.events.put({"type": "end", "end": self.trace["end"], "metrics": metrics(self.trace)})
        self.summary = runner.summary(self.trace)


@dataclass(eq=False, kw_only=True)
class Comparison(Job):
    """Two methods on one prompt, each alone, in alternated order.

    lanes: the two sides first, then the baselines of φ that are run besides.
    """

    lanes: Sequence[runner.Lane]
    prompt: str
    raw: bool
    repeats: int
    rows: list[dict] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    running: dict = field(default_factory=dict)

    def check_request(self, limits: Limits, pair: Pair | None) -> None:
        limits.check_prompt(self.prompt, pair)
        check_flag("raw", self.raw)
        for lane in self.lanes:
            runner.check_method(lane.method)
        check_number("repeats", self.repeats, 1, MAX_REPEATS)

    def stream(self, engine: Engine) -> Generator[dict]:
        lanes = [
            {"name": lane.name, "method": lane.method, "baseline": place > 1} for place, lane in enumerate(self.lanes)
        ]
        yield {"type": "lanes", "lanes": lanes, "repeats": self.repeats}
        yield from runner.race(engine, [self.prompt], self.lanes, repeats=self.repeats, raw=self.raw, stopped=self.over)

    def take(self, event: dict) -> None:
        if event["type"] == "lanes":
            self.events.put(event)
        elif event["type"] == "error":
            self.fail_lane(event["lane"], event["message"])
        elif event["repeat"] is not None:
            self.record(event)
        elif event["type"] == "header":
            self.events.put({"type": "status", "text": f"Warming up: {event['lane']}{self.role(event['lane'])}."})
        elif event["type"] == "end" and event["end"]["stopped"] == "error":
            self.fail_lane(event["lane"], event["end"]["message"])

    def role(self, name: str) -> str:
        """What a lane that is none of both sides is there for."""
        return "" if name in [lane.name for lane in self.lanes[:2]] else ", the baseline of the speed-up φ"

    def fail_lane(self, lane: str, message: str) -> None:
        """Tell that a lane could not run; the others go on."""
        self.errors[lane] = message
        self.show(lane, None, {"type": "error", "message": message})

    def show(self, lane: str, repeat: int | None, event: dict) -> None:
        """Put one of a lane's own events into the queue."""
        self.events.put({"type": "lane", "lane": lane, "repeat": repeat, "event": event})

    def record(self, event: dict) -> None:
        """Add an event to the trace of the run under way; `finish` ends a run that was cut."""
        if event["type"] == "header":
            self.running = {"lane": event["lane"], "repeat": event["repeat"], "trace": runner.new_trace()}
        runner.add_event(self.running["trace"], event)
        if event["type"] != "end":
            self.show(event["lane"], event["repeat"], event)
        elif event["end"]["stopped"] != "stopped":
            self.end_run()

    def end_run(self) -> None:
        """Keep the run under way, and show its end."""
        lane, repeat, trace = self.running.values()
        self.running = {}
        self.rows.append(runner.row(trace, lane, repeat))
        if trace["end"]["stopped"] == "error":
            self.errors[lane] = trace["end"]["message"]
        self.show(lane, repeat, {"type": "end", "end": trace["end"], "metrics": metrics(trace)})

    def finish(self, engine: Engine, reason: tuple[str, ...]) -> None:
        if self.running:
            close(self.running["trace"], reason)
            self.end_run()
        if not self.rows and self.errors:
            return self.fail(next(iter(self.errors.values())))
        # Where the texts differ, rounding is measured now.
        self.events.put({"type": "status", "text": "Comparing both texts."})
        self.summary = outcome(engine, self.lanes, self.rows, self.errors)
        self.events.put({"type": "end", "result": self.summary})
