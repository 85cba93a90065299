"""The draft in a thread of this process, where a process cannot be started."""

import threading
from multiprocessing import Pipe

from duoviz.decoding.worker.loop import serve
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.decoding.worker.waiting import WaitingDraft
from duoviz.models.cores import Cores
from duoviz.models.pair import LoadDraft


class ThreadDraft(WaitingDraft):
    """A thread; it cannot be killed, and ends after the request that it is in."""

    def __init__(self, load: LoadDraft, cores: Cores):
        super().__init__()
        self.pipe, theirs = Pipe()
        self.thread = threading.Thread(target=serve, args=(theirs, load, cores), daemon=True)
        self.thread.start()

    def died(self) -> DraftDied:
        self.close()
        return DraftDied("The draft's thread ended: run again to start a new one.")

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.pipe.closed and not self.overdue

    def close(self) -> None:
        self.pipe.close()
