"""What the commands are, and their options."""

import argparse
import sys
from pathlib import Path

from duoviz import __version__, recordings
from duoviz.command_line import Parser, number
from duoviz.decoding import METHODS
from duoviz.decoding.settings import ABOUT, DEFAULTS, MAX_WHOLE
from duoviz.lab.tasks import TASKS
from duoviz.models.registry import PAIRS

PAIR_HELP = f'one of: {", ".join(PAIRS)}; or any two models as "TARGET + DRAFT", each a folder or a hub id'
WITHOUT_DRAFT = ", ".join(id for id, method in METHODS.items() if not method.draft)
QUESTIONS = "Spec-Bench's question.jsonl, a data set's jsonl, or a text with a prompt on each line"
MOST_REPEATS = 1000
GOES_ON = "stopped; run the same command again to resume"


def parser() -> Parser:
    prog = "duoviz" if Path(sys.argv[0]).stem == "duoviz" else "python -m duoviz"
    top = Parser(prog=prog, description="DuoDecoding, run for real.")
    top.add_argument("--version", action="version", version=f"duoviz {__version__}")
    top.set_defaults(stopped="stopped")
    names = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, about: str, run: str = "", **defaults: str) -> argparse.ArgumentParser:
        """run: the function that does it, one of `duoviz.commands` with the command's name unless told."""
        made = names.add_parser(name, help=about)
        made.set_defaults(run=run or f"duoviz.commands:{name}", **defaults)
        return made

    add_serving(command("serve", "open the page (same as `python app.py`)", "duoviz.options:serve"))

    one = command("generate", "answer one prompt")
    one.add_argument("prompt", help="the prompt; -: read it from standard input")
    one.add_argument("--method", default="duodecoding", help=f"one of: {', '.join(METHODS)}; default: duodecoding")
    add_decoding_options(one)
    one.add_argument("--trace", type=Path, metavar="FILE", help="write the run's trace (.duoviz.json)")
    one.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    many = command("compare", "run several methods on the same prompts, alternating")
    many.add_argument("--prompts", required=True, metavar="FILE|PROMPT", help=f"{QUESTIONS}; or one prompt")
    names_of_methods = f"of: {', '.join(METHODS)}; vanilla, the baseline, always runs; default: duodecoding"
    many.add_argument("--methods", default="duodecoding", metavar="A,B", help=names_of_methods)
    about = "runs of each method a prompt; default: 3"
    many.add_argument("--repeats", type=number(1, MOST_REPEATS), default=3, metavar="R", help=about)
    add_decoding_options(many)
    many.add_argument("--trace", type=Path, metavar="DIR", help="write every run's trace (.duoviz.json) into it")
    many.add_argument("--csv", type=Path, metavar="FILE", help="write a table of the runs, a line each")
    many.add_argument("--json", action="store_true", help="print one JSON object as the last line")

    add_lab(command("bench", "measure the paper's tables and figures on this machine", stopped=GOES_ON))

    along = command("ship", "put a Lab run into the shipped results")
    along.add_argument(
        "results", type=Path, metavar="DIR|ZIP", help="a finished run of `bench --out DIR`, or a zip of it"
    )
    along.add_argument("--name", required=True, help="a name for the results, such as two-cores")
    folder = Path("assets/results")
    along.add_argument("--out", type=Path, default=folder, metavar="DIR", help=f"default: {folder}")

    seen = command("open", "show a trace, or the Lab's results, in the browser", "duoviz.file_commands:show")
    seen.add_argument("file", type=Path, metavar="FILE", help="a trace (.duoviz.json), or results: a folder or a zip")

    saved = command("export", "turn a trace into a page, a table or a timeline", "duoviz.file_commands:export")
    saved.add_argument("trace", type=Path, metavar="TRACE", help="a trace file (.duoviz.json)")
    kinds = ("html", "perfetto", "csv")
    saved.add_argument("--to", choices=kinds, required=True, help="html: replays the run without a server")
    about = "default: the trace's name with another ending, in this folder"
    saved.add_argument("--out", type=Path, metavar="FILE", help=about)

    tapes = command("record", "record one run of each method, as in assets/traces")
    tapes.add_argument("--out", type=Path, required=True, metavar="DIR")
    tapes.add_argument("--prompt", default=recordings.PROMPT)
    tapes.add_argument("--pair", default="embedded", help=PAIR_HELP)
    tapes.add_argument("--max-new-tokens", type=int, default=recordings.NEW_TOKENS)

    stores = command("datastore", "make a datastore for REST", "duoviz.file_commands:make_datastore")
    build = stores.add_subparsers(required=True).add_parser("build", help="from texts, or from corpora")
    build.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a text, or a corpus (.npz)")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    build.add_argument("--pair", default="embedded", help=PAIR_HELP)

    place = command("space", "put the page on a Hugging Face Space, or update it there", stopped=GOES_ON)
    place.add_argument("name", metavar="OWNER/NAME", help="OWNER: your name on the hub, or your organisation's")
    place.add_argument("--hardware", metavar="NAME", help="such as cpu-upgrade; default: unchanged")
    place.add_argument("--private", action="store_true", help="only you see it; default: unchanged")
    place.add_argument("--dry-run", action="store_true", help="list what would be sent, and send nothing")
    return top


def add_serving(page: argparse.ArgumentParser) -> None:
    about = "workers, so runs at once; auto: as the cores allow; default: DUOVIZ_PLACES, or 1"
    page.add_argument("--places", metavar="N|auto", help=about)
    page.add_argument("--host", metavar="ADDRESS", help="where the page is reached; default: 127.0.0.1")
    page.add_argument("--port", type=number(1, 65_535), metavar="N", help="default: the first free one from 7860 on")
    about = "run on the nodes of this Ray cluster, or on one started here"
    page.add_argument("--ray", metavar="ADDRESS|local", help=about)


def serve(options: argparse.Namespace) -> None:
    from duoviz.web.start import serve

    serve(options.places, options.ray, options.host, options.port)


def add_lab(lab: argparse.ArgumentParser) -> None:
    lab.add_argument(
        "--quick", action="store_true", help="two questions per task: fills every table, but allows no conclusion"
    )
    lab.add_argument("--tasks", default="", metavar="A,B", help=f"of: {', '.join(TASKS)}; default: all")
    lab.add_argument("--questions", type=Path, metavar="FILE", help=QUESTIONS)
    lab.add_argument("--methods", default="", metavar="A,B", help=f"of: {', '.join(METHODS)}; default: all")
    lab.add_argument("--max-new-tokens", type=int, metavar="N", help="default: 128; 48 with --quick")
    lab.add_argument("--repeats", type=number(1, MOST_REPEATS), default=1, metavar="R", help="default: 1")
    lab.add_argument("--each", type=number(1, MAX_WHOLE), metavar="N", help="questions per task; default: all")
    lab.add_argument(
        "--table-1", action="store_true", help="leave out Tables 2 and 3 and Figure 1: a third of the time"
    )
    lab.add_argument("--variants", action="store_true", help="add DuoTree in each of its two modes, and SpS with γ = 5")
    lab.add_argument("--pair", default="embedded", help=PAIR_HELP)
    lab.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the results; an existing one is continued"
    )
    lab.add_argument(
        "--beside", type=Path, nargs="+", default=[], metavar="DIR", help="other results to show in the report"
    )


def add_decoding_options(command: argparse.ArgumentParser) -> None:
    for name, default in DEFAULTS.items():
        kind = type(default)
        command.add_argument(f"--{name.replace('_', '-')}", type=kind, default=default, help=setting_help(name))
    command.add_argument("--pair", default="embedded", help=f"{PAIR_HELP}; the target alone for {WITHOUT_DRAFT}")
    raw = "no chat template: continue the text as it is, after the tokenizer's BOS if it adds one"
    command.add_argument("--raw", action="store_true", help=raw)


def setting_help(name: str) -> str:
    """What a setting does, what it may be, and which methods read it where not all do."""
    about, default = ABOUT[name], DEFAULTS[name]
    readers = [id for id, method in METHODS.items() if name in method.settings]
    words = [f"{word} (default)" if word == default else word for word in about.words]
    numbers = [] if about.low is None or about.high >= MAX_WHOLE else [f"{about.low:g} to {about.high:g}"]
    usual = "" if default in ("", *about.words) else f"default: {default:g}"
    told = "; ".join(filter(None, [about.info, " or ".join([*words, *numbers]), usual]))
    return f"{told} ({', '.join(readers)})" if readers else told
