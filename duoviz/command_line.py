"""What the project's command lines share: their parser, how an error ends a command, what they check and report."""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn


class UsageError(ValueError):
    """An argument cannot be used; the message is a sentence for the user."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"duoviz: {message} (see --help)\n")


def add_serving(command: argparse.ArgumentParser) -> None:
    """The options of `serve`, and what it does."""
    command.add_argument(
        "--places", metavar="N|auto", help="runs at once; auto: as the cores allow; default: DUOVIZ_PLACES, or 1"
    )
    add_ray(command)
    command.set_defaults(run=serve, stopped="stopped")


def add_ray(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--ray", metavar="ADDRESS|local", help="run on the nodes of this Ray cluster, or on one started here"
    )


def serve(options: argparse.Namespace) -> None:
    from duoviz.web.start import serve

    serve(options.places, options.ray)


def run(parser: Parser, arguments: list[str] | None, *, mistakes: tuple[type[Exception], ...]) -> int:
    """Run the command that the arguments name, `options.run`; the exit status.

    mistakes: what a command raises, as UsageError, where the user can do something about it: one line on stderr, and 1.
    """
    options = parser.parse_args(arguments)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return options.run(options) or 0
    except (*mistakes, UsageError) as error:
        print(f"duoviz: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"duoviz: {options.stopped}", file=sys.stderr)
        return 130


def tell(fraction: float, text: str) -> None:
    """Show loading progress on stderr."""
    print(f"{fraction:4.0%} {text}", file=sys.stderr, flush=True)


@contextmanager
def check_write(path: Path) -> Iterator[None]:
    """Raise UsageError in place of the system's error."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
