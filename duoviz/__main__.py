"""Command line: serve, generate, compare, calibrate, bench, ship, export, record, datastore, space."""

import sys

from duoviz.command_line import Parser, add_serving, run
from duoviz.decoding.settings import SettingsError


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with one line on stderr on a user's mistake."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["serve"]:
        # The page's process imports nothing that decodes, as all other commands do.
        page = Parser(prog="python -m duoviz serve")
        add_serving(page)
        return run(page, arguments[1:], mistakes=(SettingsError,))
    from duoviz import options

    return run(options.parser(), arguments, mistakes=options.MISTAKES)


if __name__ == "__main__":
    sys.exit(main())
