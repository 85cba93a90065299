"""What stands in for Hugging Face's `spaces` package: a decorator that forks, as its own does, and lends no GPU."""

import multiprocessing
import threading
from contextvars import ContextVar

CONTEXT = multiprocessing.get_context("fork")
VISITOR = ContextVar("visitor", default="nobody")


class Refusal(Exception):
    title = "ZeroGPU quota exceeded"

    def __init__(self, message):
        super().__init__(repr(message))
        self.message = message


class Aborted(Exception):
    title = "ZeroGPU worker error"


class Spaces:
    """asked: (visitor, seconds) of each call. processes: all forks. given: seconds that the device gives instead."""

    def __init__(self):
        self.asked, self.processes, self.idle, self.refused, self.given = [], [], [], False, None

    def GPU(self, duration):
        def decorate(task):
            def call(*arguments):
                yield from self.call(task, arguments, duration(*arguments))

            return call

        return decorate

    def call(self, task, arguments, seconds):
        self.asked.append((VISITOR.get(), seconds))
        if self.refused:
            raise Refusal("You have exceeded your ZeroGPU quota (60s requested vs. 20s left). Try again in 1:00:00. ")
        fork = self.idle.pop() if self.idle else self.fork(task)
        process, pipe = fork
        pipe.send(arguments)
        timer = threading.Timer(self.given or seconds, process.kill)
        timer.start()
        try:
            while (event := pipe.recv()) is not None:
                yield event
        except EOFError:
            raise Aborted("GPU task aborted") from None
        finally:
            timer.cancel()
        self.idle.append(fork)

    def fork(self, task):
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=serve, args=(task, theirs, ours), daemon=True)
        process.start()
        theirs.close()
        self.processes.append(process)
        return process, ours


def serve(task, pipe, parents):
    parents.close()
    while True:
        for event in task(*pipe.recv()):
            pipe.send(event)
        pipe.send(None)
