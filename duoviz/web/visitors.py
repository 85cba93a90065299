"""Which job is whose: a visitor's page shows its own job's events, and its Stop button ends that job alone."""

import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

import gradio as gr

from duoviz.errors import UserError
from duoviz.runs import add_event, new_trace
from duoviz.web import bounds
from duoviz.web.calls import Endpoint
from duoviz.web.components import batch
from duoviz.web.heads import HEARD, IN_SCOPE, Client
from duoviz.web.session import Hardware
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Task

# How a listener calls what yields `answer`: arguments come in as they were sent, for Settings and jobs to check.
ANSWERED = {"concurrency_limit": None, "preprocess": False}
# For `watch`: also skip Gradio's post-processing, which slows the run.
WATCHED = {**ANSWERED, "show_progress": "hidden", "api_visibility": "private", "postprocess": False}
# And what takes no time.
AT_ONCE = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
# Seconds of a run up to which it is compared without being asked.
LONGEST_COMPARED = 30

Shown = TypeVar("Shown")
Ask = Callable[[], Task]


class Visitors:
    """The jobs that the visitors of one tab watch, by their sessions."""

    def __init__(self, hardware: Hardware):
        self.hardware = hardware
        self.watched: dict[str, Job] = {}

    def watch(
        self, request: gr.Request, ask: Ask, before: Sequence[dict] = (), *, alone: Ask | None = None
    ) -> Generator[str, None, Job | None]:
        """The events of the task that `ask` gives, as values of the tab's component; a mistake is an event too.

        before: events that come before its own. alone: gives what the task is compared with once it has ended by
        itself, where nobody else waits; `alone` events of the same run tell of it: `last`, the event that ended it, or
        None until then, and `run`, its trace by then. Returns the first job where it ended by itself.
        """
        numbers, compared = count(), new_trace()

        def shown(job: Job, events: list[dict]) -> str:
            number = next(numbers)
            return batch(job.id, number, events if number else [*before, *events])

        def shown_of_run(run: str, other: Job, events: list[dict]) -> str:
            if len(self.hardware.queue) > 1:
                other.stop.set()
            for event in events:
                if event["type"] in ("header", "iteration", "end"):
                    add_event(compared, event)
            last = [{"last": event, "run": compared} for event in events if event["type"] in ("end", "error")]
            return batch(run, next(numbers), [{"type": "alone"} | told for told in last or [{"last": None}]])

        try:
            run = yield from self.follow(request, ask, shown)
            if alone and run and self.is_idle_after(run):
                yield from self.follow(request, alone, partial(shown_of_run, run.id))
            return run
        except UserError as error:
            yield batch(uuid.uuid4().hex, 0, [*before, {"type": "error", "message": str(error)}])
            return None

    def is_idle_after(self, run: Job) -> bool:
        """Whether nobody waits, and the run was short and not disturbed."""
        if len(self.hardware.queue) or run.ended is None or run.ended["end"].get("message"):
            return False
        return run.ended["metrics"]["wall"] < LONGEST_COMPARED

    def follow(
        self, request: gr.Request, ask: Ask, shown: Callable[[Job, list[dict]], Shown]
    ) -> Generator[Shown, None, Job | None]:
        """What `shown` makes of the events, as they come, of the task that `ask` gives. Raises UserError at first.

        It takes the place of the job that the visitor has here already, which is stopped. Returns the job where it
        ended by itself.
        """
        session = request.session_hash or ""
        if earlier := self.watched.pop(session, None):
            self.hardware.pool.leave(earlier)
        job = self.watched[session] = self.started(request, ask)
        stopped = False
        try:
            for events in self.hardware.batches(job):
                # What another job has replaced is not shown any more.
                if self.watched.get(session) is not job:
                    return None
                # Once it has left the queue it counts as stopped, however it ended.
                stopped = job.stop.is_set()
                yield shown(job, events)
            return None if stopped or job.error else job
        finally:
            if self.watched.get(session) is job:
                del self.watched[session]

    def stop(self, request: gr.Request) -> None:
        """End this visitor's job; what it has produced stays on the page."""
        if job := self.watched.get(request.session_hash or ""):
            job.stop.set()

    def answer(
        self,
        request: gr.Request,
        ask: Ask,
        progress: Callable[[list[dict]], dict],
        result: Callable[[dict], dict],
    ) -> Iterator[dict | None]:
        """What a client gets: `progress(events)` at each step, and at last `result` of the job's `end` event."""
        try:
            job = self.started(request, ask)
        except UserError as error:
            raise gr.Error(str(error), print_exception=False) from None
        for events in self.hardware.batches(job):
            yield progress(events)
        if job.error:
            raise gr.Error(job.error, print_exception=False)
        yield job.ended and result(job.ended)

    def started(self, request: gr.Request, ask: Ask) -> Job:
        """The task that `ask` gives, as a queued job; not before somebody listens to it. Raises UserError."""
        scope = request.request.scope if request.request else {}
        # Where there was no gate, the client is the session's.
        job = Job(task=ask(), client=scope.get(IN_SCOPE) or Client(request.session_hash or ""))
        heard = scope.get(HEARD)
        if heard and not heard.wait(bounds.LISTENER):
            raise UserError("The page was gone, so the run did not start.")
        self.hardware.start(job)
        return job

    def open(self, name: str, function: Callable, inputs: dict[str, Any], ask: Callable[..., Task]) -> None:
        """Make a function that yields `answer` an endpoint with these fields as arguments; `ask` makes its task."""
        usual = {argument: field.value for argument, field in inputs.items()}
        client, answer = gr.Button(visible=False), gr.JSON(visible=False)
        client.click(function, None, answer, api_name=name, inputs_kwargs=inputs, **ANSWERED)
        self.hardware.endpoints[name] = Endpoint(list(inputs), lambda sent: self.hardware.check(ask(**usual | sent)))
