"""One visitor's run on the hardware, which has one place."""

import logging
import queue
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

from duoviz import runner
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.embedded import ModelUnavailable
from duoviz.models.pairs import PAIRS, Pair, PromptError, UnknownPair, load_pair
from duoviz.trace.metrics import metrics

USER_ERRORS = (DraftDied, ModelUnavailable, PromptError, SettingsError, UnknownPair)

# At most this many batches a second go to the browser.
BATCHES_PER_SECOND = 20

log = logging.getLogger(__name__)


class Run:
    """A run under way: its events come out of a queue, and it can be stopped."""

    def __init__(self):
        self.id = uuid.uuid4().hex
        self.events: queue.SimpleQueue = queue.SimpleQueue()
        self.stop = threading.Event()
        self.future: Future | None = None
        self.summary: dict | None = None
        self.error: str | None = None

    def fail(self, message: str) -> None:
        """End the run with a sentence for the visitor."""
        self.error = message
        self.events.put({"type": "error", "message": message})

    def batches(self, status: Callable[[], str]) -> Iterator[list[dict]]:
        """Lists of events, BATCHES_PER_SECOND at most, until the run has ended.

        `status` is asked while the run has not begun. The first batch comes at once.
        """
        told = status()
        yield [{"type": "status", "text": told}] if told else []
        while True:
            finished = self.future.done()
            events = drain(self.events)
            if not events and not finished and status() != told:
                told = status()
                events = [{"type": "status", "text": told}]
            if events:
                yield events
            if finished:
                return
            wait([self.future], timeout=1 / BATCHES_PER_SECOND)


def drain(events: queue.SimpleQueue) -> list[dict]:
    """All that is in the queue now."""
    taken = []
    while True:
        try:
            taken.append(events.get_nowait())
        except queue.Empty:
            return taken


class Hardware:
    """The one thread that loads pairs and decodes.

    torch keeps its threads and pins with the thread that calls it, so it is always the same one.
    """

    def __init__(self):
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hardware")
        self.pairs: dict[str, Pair] = {}
        self.status = ""
        self.current: Run | None = None

    def warm_up(self, name: str = "embedded") -> Future:
        """Begin to load a pair, so that the first visitor waits less."""
        return self.thread.submit(self.ready_pair, name)

    def ready_pair(self, name: str) -> Pair:
        if name not in self.pairs:
            try:
                self.pairs[name] = load_pair(name, lambda fraction, text: self.tell(f"{text} ({fraction:.0%})"))
                self.tell("Starting the draft and measuring what both models cost on this machine")
                runner.prepare(self.pairs[name], "duodecoding")
            finally:
                self.tell("")
        return self.pairs[name]

    def tell(self, text: str) -> None:
        self.status = text

    def start(self, pair: str, method: str, prompt: str, settings: Settings, *, raw: bool) -> Run:
        """Begin a run; it waits for its turn on the hardware. Raises UnknownPair and SettingsError."""
        runner.check_method(method)
        if pair not in PAIRS:
            raise UnknownPair(f"There is no pair named {pair!r}; there is: {', '.join(PAIRS)}.")
        if not prompt.strip():
            raise PromptError("The prompt is empty: type something for the model to answer.")
        run = Run()
        run.future = self.thread.submit(self.decode, run, pair, method, prompt, settings, raw)
        return run

    def decode(self, run: Run, pair: str, method: str, prompt: str, settings: Settings, raw: bool) -> None:
        """Put the run's events into its queue, until it ends or is stopped."""
        trace: dict = {"header": None, "iterations": [], "end": None}
        self.current = run
        try:
            ready = self.ready_pair(pair)
            ready.stopped = run.stop.is_set
            events = runner.stream(ready, method, prompt, settings, raw=raw)
            for event in events:
                if event["type"] == "iteration":
                    trace["iterations"].append(event["iteration"])
                else:
                    trace[event["type"]] = event[event["type"]]
                if event["type"] != "end":
                    run.events.put(event)
                if run.stop.is_set():
                    events.close()
                    break
            if trace["end"] is None:
                trace["end"] = runner.end(trace["iterations"], "stopped")
            run.events.put({"type": "end", "end": trace["end"], "metrics": metrics(trace)})
            if trace["end"]["stopped"] == "error":
                run.events.put({"type": "error", "message": trace["end"]["message"]})
            run.summary = runner.summary(trace)
        except USER_ERRORS as error:
            run.fail(str(error))
        except Exception:
            log.exception("a run failed")
            run.fail("The run failed for a reason of our own; the server's log has the details.")

    def close(self) -> None:
        """End the run under way, the waiting ones and the draft processes."""
        if self.current:
            self.current.stop.set()
        self.thread.shutdown(cancel_futures=True)
        for pair in self.pairs.values():
            if draft := pair.resources.get("draft"):
                draft.close()
