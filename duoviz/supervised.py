"""A command in a process of its own, so that a sentence says why it ended where it cannot say so itself."""

import os
import signal
import sys
import threading
from collections.abc import Callable

from duoviz.models.bounds import expend, why_ended
from duoviz.signals import ENDING, die_of


def supervised(command: Callable[[], int]) -> int:
    """The command's exit status: it runs in a child, where the system can tell who sent a signal."""
    awaited = ENDING | {signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    ending, held = os.pipe()
    if not (child := os.fork()):
        os.close(held)
        threading.Thread(target=end_with, args=(ending,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        expend()
        return command()
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        came = signal.sigwaitinfo(awaited)
        # What a terminal sends the child has had already.
        if came.si_signo in ENDING and came.si_code <= 0:
            os.kill(child, came.si_signo)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    code = os.waitstatus_to_exitcode(ended[1])
    if -code in ENDING:
        die_of(-code)
    if code < 0:
        print(f"duoviz: {why_ended(code)}.", file=sys.stderr)
    return code if code >= 0 else 1


def end_with(pipe: int) -> None:
    """End this process when the other end of a pipe has: its process was killed."""
    os.read(pipe, 1)
    os._exit(1)
