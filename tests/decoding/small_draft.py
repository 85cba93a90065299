"""A small draft that a process can load, and a draft in a thread, which starts sooner than a process."""

import threading
from functools import partial
from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np

from duoviz.decoding.worker.process import ProcessDraft, serve
from tests.weights import decoder, tiny_weights

load = partial(decoder, *tiny_weights(2, context=1024))


class EndingThread(threading.Thread):
    """It ends as its pipe does."""

    exitcode, kill = None, lambda thread: None


class ThreadDraft(ProcessDraft):
    """What a `ProcessDraft` does but for the process."""

    def __init__(self, load, cores):
        self.pipe, theirs = Pipe()
        self.busy, self.heartbeat = (
            np.zeros(1, np.int64),
            SimpleNamespace(silent=lambda: False, beats_again=lambda: True),
        )
        self.process = EndingThread(target=serve, args=(theirs, load, cores, self.busy), daemon=True)
        self.process.start()
