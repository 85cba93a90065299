"""Command line: serve, generate, compare, bench, ship, export, record, datastore, space."""

import signal
import sys

from duoviz.processes import on_ending


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with one line on stderr on a user's mistake.

    arguments: None for those of this process, which ends silently with Ctrl+C while it imports what it needs.
    """
    if arguments is None:
        on_ending(signal.SIG_DFL)
        arguments = sys.argv[1:]
    from duoviz.command_line import run
    from duoviz.options import parser

    return run(parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())
