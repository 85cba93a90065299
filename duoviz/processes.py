"""How signals end a process, and a command in one of its own, so that a sentence says why it ended."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from duoviz.models.bounds import expend, why_ended

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def on_ending(handler: Any) -> None:
    """Handle these signals so, but for those that whoever started this process has it ignore, as nohup does."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def die_of(number: int) -> None:
    """End at once, as a process does that handles no signal."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


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
