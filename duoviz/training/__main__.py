"""Training's command line, which made the embedded draft: draft, chances."""

import sys
from pathlib import Path

from duoviz.command_line import Parser, number, run
from duoviz.decoding.settings import MAX_WHOLE
from duoviz.folders import DRAFT_FOLDER

CORPUS = [DRAFT_FOLDER / f"{name}.npz" for name in ("selfchat", "tasks", "tasks-1", "tasks-2", "tasks-3", "tasks-4")]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with one line on stderr on a user's mistake."""
    return run(parser(), arguments)


def parser() -> Parser:
    top = Parser(prog="python -m duoviz.training", description="Make the embedded draft.")
    top.set_defaults(stopped="stopped")
    steps = top.add_subparsers(required=True, metavar="COMMAND")

    draft = steps.add_parser(
        "draft", help="distil a draft from the embedded target; the same call goes on after a stop"
    )
    draft.add_argument(
        "--tokens", type=number(1, MAX_WHOLE), default=3_000_000, help="how many to train on; default 3,000,000"
    )
    draft.add_argument("--peak", type=float, default=8e-4, help="highest learning rate; default 8e-4")
    draft.add_argument("--rows", type=number(1, 10_000), default=16, help="how many a step takes; default 16")
    draft.set_defaults(run="duoviz.training.distillation:make_draft")

    chances = steps.add_parser("chances", help="count how often a draft is right: what DuoTree chooses by")
    chances.add_argument("--draft", type=Path, metavar="DIR", help="another draft that was trained here")
    chances.set_defaults(run="duoviz.training.fitting:write_chances")

    for step in (draft, chances):
        step.add_argument("--corpus", type=Path, nargs="+", default=CORPUS, metavar="FILE.npz")
        step.add_argument("--out", type=Path, required=True, metavar="DIR")
    return top


if __name__ == "__main__":
    sys.exit(main())
