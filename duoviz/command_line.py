"""What the project's command lines share: their parser, how an error ends a command, what they check and report."""

import argparse
import errno
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pkgutil import resolve_name
from typing import NoReturn

from duoviz.decoding.settings import whole
from duoviz.errors import DISK_FULL, UserError
from duoviz.outside import in_short

# Characters of a complaint about arguments, which may quote them.
LONGEST_COMPLAINT = 300
# As of a process that a closed pipe ends.
PIPE_CLOSED = 128 + 13


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        message = message if len(message) <= LONGEST_COMPLAINT else f"{message[:LONGEST_COMPLAINT]}…"
        self.exit(2, f"duoviz: {message} (see --help)\n")


def run(parser: Parser, arguments: list[str] | None) -> int:
    """Run the command that the arguments name; the exit status.

    Whatever the encoding of the output, what it lacks is printed as Python writes it in a string; where nobody reads
    the output any more, the command ends silently.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # None where it is closed.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            status, complaint = outcome(parser.parse_args(arguments))
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, *DISK_FULL):
            raise
        silence()
        if error.errno == errno.EPIPE:
            return PIPE_CLOSED
        status, complaint = 1, f"The output cannot be written: {error.strerror}."
    if complaint:
        print(f"duoviz: {complaint}", file=sys.stderr)
    return status


def outcome(options: argparse.Namespace) -> tuple[int, str]:
    """Call what `options.run` names; the exit status, and what the user did wrong.

    A command is imported only when it runs, so that help and complaints come at once.
    """
    command = resolve_name(options.run)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return command(options) or 0, ""
    except UserError as error:
        return 1, str(error)
    except KeyboardInterrupt:
        return 130, options.stopped


def number(lowest: int, highest: int) -> Callable[[str], int]:
    """An argument's type: a whole number from `lowest` to `highest`."""

    def read(text: str) -> int:
        value = whole(text)
        if value is None or not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(f"enter a whole number from {lowest} to {highest}, not {in_short(text)}")
        return value

    return read


def silence() -> None:
    """Let what cannot be written go nowhere: else the end of Python fails too."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell(fraction: float, text: str) -> None:
    """Show loading progress on stderr."""
    print(f"{fraction:4.0%} {text}", file=sys.stderr, flush=True)
