"""Command line: serve, generate, compare, calibrate, bench, ship, export, record, datastore, space."""

import signal
import sys

from duoviz.signals import on_ending
from duoviz.supervised import supervised


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with one line on stderr on a user's mistake.

    arguments: None for those of this process, which ends silently with Ctrl+C while it imports what it needs.
    """
    if arguments is None:
        on_ending(signal.SIG_DFL)
        arguments = sys.argv[1:]
        return run_one(arguments) if arguments[:1] == ["serve"] else supervised(lambda: run_one(arguments))
    return run_one(arguments)


def run_one(arguments: list[str]) -> int:
    from duoviz.command_line import Parser, add_serving, run
    from duoviz.decoding.settings import SettingsError

    if arguments[:1] == ["serve"]:
        # The page's process imports nothing that decodes, as all other commands do.
        page = Parser(prog="python -m duoviz serve")
        add_serving(page)
        return run(page, arguments[1:], mistakes=(SettingsError,))
    from duoviz import options

    return run(options.parser(), arguments, mistakes=options.MISTAKES)


if __name__ == "__main__":
    sys.exit(main())
