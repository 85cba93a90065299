"""Jobs as visitors see them: checked, queued for the workers, and streamed in batches."""

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import replace

from duoviz.runs import end, new_trace
from duoviz.trace.metrics import metrics
from duoviz.web.calls import Endpoint
from duoviz.web.limits import Limits
from duoviz.workers.pool import Pool
from duoviz.workers.request_queue import Job
from duoviz.workers.tasks import Comparison, Run, Task

# Seconds between batches: during a run; while waiting; at most. A batch costs 2 ms here and 20 ms in a browser on the
# same CPU, so send few; but Gradio detects a closed tab only between batches.
RUNNING_STEP = 0.11
WAITING_STEP = 0.25
LONGEST_STEP = 1.0

LATE = "{} was not ready within {:g} seconds, the limit here: choose another pair."


def runs_ahead(number: int) -> str:
    """What a waiting visitor reads of its position in the queue."""
    return "One run ahead of yours; yours is next." if number == 1 else f"{number} runs ahead of yours."


class Hardware:
    """The workers, and the limits of what may be asked of them. endpoints: by name; the pages open them.

    notes: what its owner should read: a sentence for each variable that could not be kept.
    """

    def __init__(self, limits: Limits, pool: Pool, notes: Sequence[str] = ()):
        self.limits, self.pool, self.queue, self.notes = limits, pool, pool.queue, notes
        self.endpoints: dict[str, Endpoint] = {}

    def check(self, task: Task) -> None:
        """Raise UserError for a task that cannot be done here."""
        self.limits.check_pair(task.pair)
        if isinstance(task, Run | Comparison):
            self.limits.check_prompt(task.prompt)
        task.check()

    def start(self, job: Job) -> None:
        """Queue a job; `batches` gives its events. Raises UserError."""
        self.check(job.task)
        job.task = replace(job.task, prompt_tokens=self.limits.prompt_tokens)
        job.run_seconds, job.load_seconds = self.limits.run_seconds, self.limits.load_seconds
        self.pool.submit(job)

    def batches(self, job: Job) -> Iterator[list[dict]]:
        """The job's events as they come, in lists that may be empty; closing the generator stops the job.

        A job that is stopped before its decoding begins ends within `WAITING_STEP`, though its worker may
        be busy with its pair a while longer.
        """
        status, first = "", []
        try:
            while True:
                if job.late():
                    job.fail(LATE.format(job.task.pair, self.limits.load_seconds))
                    job.stop.set()
                    self.pool.end(job)
                finished = job.future.done()
                events = first + [job.events.get() for _ in range(job.events.qsize())]
                if job.stop.is_set() and not job.begun and not job.error:
                    yield [{"type": "end", "end": end([], "stopped"), "metrics": metrics(new_trace())}]
                    return
                # Nothing follows an error.
                if not job.error and (text := self.status_of(job)) != status:
                    status = text
                    events.insert(0, {"type": "status", "text": text})
                yield events
                if finished:
                    return
                first = self.next_event(job)
        finally:
            self.pool.leave(job)

    def next_event(self, job: Job) -> list[dict]:
        """Wait until there is something to tell, or for a while: the event that came first, if one did."""
        if before := self.queue.ahead(job):
            # What many who wait are sent takes time from the runs.
            job.stop.wait(min(WAITING_STEP * before, LONGEST_STEP))
        elif not wait([job.future], timeout=RUNNING_STEP).done:
            with suppress(queue.Empty):
                return [job.events.get(timeout=WAITING_STEP - RUNNING_STEP)]
        return []

    def status_of(self, job: Job) -> str:
        """What its visitor is told until its decoding begins; "" from then on."""
        if job.fetching:
            return f"{job.status or 'Waiting for the models'}. Others may run before you meanwhile."
        statuses = {slot.job: slot.status for slot in self.pool.slots}
        if job in statuses:
            return statuses[job]
        busy = next(filter(None, statuses.values()), "")
        if before := self.queue.ahead(job):
            return f"{runs_ahead(before)} Now: {busy}." if busy else runs_ahead(before)
        return busy
