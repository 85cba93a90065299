"""Training's command line, which made the embedded draft: corpus, draft, chances, assistant."""

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

    corpus = steps.add_parser("corpus", help="let the embedded target write questions and answers")
    corpus.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    corpus.add_argument("--rows", type=number(1, 10_000_000), default=12_000)
    corpus.add_argument("--minutes", type=float, default=60.0, help="stop after this time; the same call goes on")
    corpus.add_argument("--slots", type=number(1, 100_000), default=64, help="how many texts are written at once")
    corpus.add_argument("--seed", type=number(0, MAX_WHOLE), default=0)
    corpus.set_defaults(run="duoviz.training.selfchat:write_corpus")

    draft = steps.add_parser(
        "draft", help="distil a draft from the embedded target; the same call goes on after a stop"
    )
    draft.add_argument("--corpus", type=Path, nargs="+", default=CORPUS, metavar="FILE.npz")
    draft.add_argument("--out", type=Path, required=True, metavar="DIR")
    draft.add_argument(
        "--tokens", type=number(1, MAX_WHOLE), default=3_000_000, help="how many to train on; default 3,000,000"
    )
    draft.add_argument("--from", dest="start", type=Path, metavar="DIR", help="a draft to go on from")
    draft.add_argument("--peak", type=float, default=8e-4, help="highest learning rate; default 8e-4")
    draft.add_argument("--rows", type=number(1, 10_000), default=16, help="how many a step takes; default 16")
    draft.add_argument("--layers", type=number(1, 8), default=2)
    draft.add_argument("--seed", type=number(0, 2**32 - 1), default=0)
    draft.set_defaults(run="duoviz.training.distillation:make_draft")

    chances = steps.add_parser("chances", help="count how often a draft is right: what DuoTree chooses by")
    chances.add_argument("--corpus", type=Path, nargs="+", default=CORPUS, metavar="FILE.npz")
    chances.add_argument("--draft", type=Path, metavar="DIR", help="another draft that was trained here")
    chances.add_argument("--out", type=Path, required=True, metavar="DIR")
    chances.set_defaults(run="duoviz.training.fitting:write_chances")

    assistant = steps.add_parser("assistant", help="write the embedded draft as an assistant model for transformers")
    assistant.add_argument("--out", type=Path, required=True, metavar="DIR")
    assistant.set_defaults(run="duoviz.training.student:write_assistant")
    return top


if __name__ == "__main__":
    sys.exit(main())
