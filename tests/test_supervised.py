"""A command's process: its exit status, why it ended where it was ended, and that nothing outlives it."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.app import ROOT
from tests.until import has_ended, wait_until

CODE = """
import os, signal, sys, threading
from duoviz.processes import on_ending
from duoviz.processes import supervised

def command():
    {how}

sys.exit(supervised(command))
"""
WAITS = "print(os.getpid(), flush=True); threading.Event().wait()"
SAYS_SO = f"""
    try: {WAITS}
    except KeyboardInterrupt: print("stopped", file=sys.stderr); return 130
"""
KILLED = "duoviz: The process that ran this was killed or ran out of memory (exit code -{:d}).\n"


def started(how):
    command = [sys.executable, "-c", CODE.format(how=how)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    "how, code, told",
    [
        ("return 0", 0, ""),
        ("return 3", 3, ""),
        ("sys.exit(2)", 2, ""),
        ("os.abort()", 1, KILLED.format(signal.SIGABRT)),
        ("os.kill(os.getpid(), signal.SIGKILL)", 1, KILLED.format(signal.SIGKILL)),
        (
            "os.kill(os.getpid(), signal.SIGPROF)",
            1,
            "duoviz: A model's tokenizer or chat template took too long, so its process was ended: "
            "choose another model.\n",
        ),
    ],
)
def test_the_exit_status_and_why_a_command_ended(how, code, told):
    process = started(how)
    assert (process.communicate()[1], process.returncode) == (told, code)


@pytest.mark.parametrize(
    "number, how, code, told",
    [
        (signal.SIGINT, SAYS_SO, 130, "stopped\n"),
        (signal.SIGTERM, WAITS, -signal.SIGTERM, ""),
        (signal.SIGHUP, WAITS, -signal.SIGHUP, ""),
        (signal.SIGKILL, WAITS, -signal.SIGKILL, ""),
    ],
)
def test_a_signal_ends_the_command_too(number, how, code, told):
    process = started(how)
    child = int(process.stdout.readline())
    assert child != process.pid
    process.send_signal(number)
    assert (process.communicate()[1], process.returncode) == (told, code)
    wait_until(lambda: has_ended(child))


def test_what_a_terminal_sends_to_both_comes_once():
    how = """
    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append(1))
    print("ready", flush=True)
    while not came: threading.Event().wait(0.01)
    threading.Event().wait(0.5)
    print(f"{len(came)} came", flush=True)
    return 0
"""
    process, terminal = pty.fork()
    if not process:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", CODE.format(how=how)])
    read_to(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_to(terminal, b"1 came")
    assert os.waitpid(process, 0)[1] == 0
    os.close(terminal)


def read_to(terminal, text):
    read = b""
    while text not in read:
        read += os.read(terminal, 1000)
