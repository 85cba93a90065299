"""The draft in a thread of this process, where a process cannot be started."""

import queue
import threading
from concurrent.futures import Future

from duoviz.decoding.worker.loop import DraftLoop, answers_to
from duoviz.decoding.worker.protocol import DraftDied, reason_of
from duoviz.decoding.worker.requests import Answer, Request
from duoviz.decoding.worker.waiting import START_TIMEOUT, WaitingDraft
from duoviz.models.cores import on_cores
from duoviz.models.pair import LoadDraft


class ThreadDraft(WaitingDraft):
    """The draft in a thread of this process, where a process cannot be started."""

    def __init__(self, load: LoadDraft, cores: tuple[int, ...]):
        super().__init__()
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.answers: queue.SimpleQueue = queue.SimpleQueue()
        self.waiting: list[Answer | str] = []
        self.loaded: Future = Future()
        self.closed = False
        self.thread = threading.Thread(target=self.run, args=(load, cores), daemon=True)
        self.thread.start()

    def run(self, load: LoadDraft, cores: tuple[int, ...]) -> None:
        with on_cores(cores):
            try:
                loop = DraftLoop(load())
                self.loaded.set_result(None)
            except Exception as error:
                self.loaded.set_exception(error)
                return
            while (request := self.requests.get()) is not None:
                for answer in answers_to(request, loop, lambda: not self.requests.empty()):
                    self.answers.put(answer)

    def wait_until_started(self) -> None:
        try:
            self.loaded.result(START_TIMEOUT)
        except Exception as error:
            self.close()
            raise DraftDied(f"The draft could not be loaded: {reason_of(error)}.") from error

    def send(self, request: Request) -> None:
        self.requests.put(request)

    def poll(self, seconds: float) -> bool:
        try:
            if not self.waiting:
                self.waiting.append(self.answers.get(block=seconds > 0, timeout=seconds))
            return True
        except queue.Empty:
            return False

    def receive(self) -> Answer | str:
        return self.waiting.pop()

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.closed and not self.overdue

    def close(self) -> None:
        """Let the thread end after the request it is in; a thread cannot be killed."""
        self.closed = True
        self.requests.put(None)
