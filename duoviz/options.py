"""What the commands are, and their options."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duoviz import __version__, recordings
from duoviz.command_line import Parser, number
from duoviz.decoding import METHODS
from duoviz.decoding.settings import ABOUT, DEFAULTS, MAX_WHOLE
from duoviz.lab.tasks import TASKS
from duoviz.models.registry import PAIRS

PAIR: dict[str, Any] = {
    "default": "embedded",
    "help": f'one of: {", ".join(PAIRS)}; or any two models as "TARGET + DRAFT", each a folder or a hub id',
}
WITHOUT_DRAFT = ", ".join(id for id, method in METHODS.items() if not method.draft)
QUESTIONS = "Spec-Bench's question.jsonl, a data set's jsonl, or a text with a prompt on each line"
REPEATS = number(1, 1000)
GOES_ON = "stopped; run the same command again to resume"
RESULTS = Path("assets/results")


def parser() -> Parser:
    prog = "duoviz" if Path(sys.argv[0]).stem == "duoviz" else "python -m duoviz"
    top = Parser(prog=prog, description="DuoDecoding, run for real.")
    top.add_argument("--version", action="version", version=f"duoviz {__version__}")
    top.set_defaults(stopped="stopped")
    names = top.add_subparsers(required=True, metavar="COMMAND")
    methods = ", ".join(METHODS)

    def command(name: str, about: str, run: str = "", stopped: str = "stopped") -> Callable:
        """What adds an option to a new command. run: what does it, `duoviz.commands:NAME` unless told."""
        made = names.add_parser(name, help=about)
        made.set_defaults(run=run or f"duoviz.commands:{name}", stopped=stopped)
        return made.add_argument

    add = command("serve", "open the page (same as `python app.py`)", "duoviz.web.start:serve")
    about = "workers, so runs at once; auto: as the cores allow; default: DUOVIZ_PLACES, or 1"
    add("--places", metavar="N|auto", help=about)
    add("--host", metavar="ADDRESS", help="where the page is reached; default: 127.0.0.1")
    add("--port", type=number(1, 65_535), metavar="N", help="default: the first free one from 7860 on")
    add("--ray", metavar="ADDRESS|local", help="run on the nodes of this Ray cluster, or on one started here")

    add = command("generate", "answer one prompt")
    add("prompt", help="the prompt; -: read it from standard input")
    add("--method", default="duodecoding", help=f"one of: {methods}; default: duodecoding")
    add_decoding_options(add)
    add("--trace", type=Path, metavar="FILE", help="write the run's trace (.duoviz.json)")
    add("--json", action="store_true", help="print one JSON object as the last line")

    add = command("compare", "run several methods on the same prompts, alternating")
    add("--prompts", required=True, metavar="FILE|PROMPT", help=f"{QUESTIONS}; or one prompt")
    about = f"of: {methods}; vanilla, the baseline, always runs; default: duodecoding"
    add("--methods", default="duodecoding", metavar="A,B", help=about)
    add("--repeats", type=REPEATS, default=3, metavar="R", help="runs of each method a prompt; default: 3")
    add_decoding_options(add)
    add("--trace", type=Path, metavar="DIR", help="write every run's trace (.duoviz.json) into it")
    add("--csv", type=Path, metavar="FILE", help="write a table of the runs, a line each")
    add("--json", action="store_true", help="print one JSON object as the last line")

    add = command("bench", "measure the paper's tables and figures on this machine", stopped=GOES_ON)
    about = "two questions per task: fills every table, but allows no conclusion"
    add("--quick", action="store_true", help=about)
    add("--tasks", default="", metavar="A,B", help=f"of: {', '.join(TASKS)}; default: all")
    add("--questions", type=Path, metavar="FILE", help=QUESTIONS)
    add("--methods", default="", metavar="A,B", help=f"of: {methods}; default: all")
    add("--max-new-tokens", type=int, metavar="N", help="default: 128; 48 with --quick")
    add("--repeats", type=REPEATS, default=1, metavar="R", help="default: 1")
    add("--each", type=number(1, MAX_WHOLE), metavar="N", help="questions per task; default: all")
    add("--table-1", action="store_true", help="leave out Tables 2 and 3 and Figure 1: a third of the time")
    add(
        "--variants",
        action="store_true",
        help="add DuoTree in each of its two modes, SpS with γ = 5, and DuoDecoding as published",
    )
    add("--pair", **PAIR)
    about = "folder for the results; an existing one is continued"
    add("--out", type=Path, required=True, metavar="DIR", help=about)
    about = "other results to show in the report"
    add("--beside", type=Path, nargs="+", default=[], metavar="DIR", help=about)

    add = command("ship", "put a Lab run into the shipped results")
    add("results", type=Path, metavar="DIR|ZIP", help="a finished run of `bench --out DIR`, or a zip of it")
    add("--name", required=True, help="a name for the results, such as two-cores")
    add("--out", type=Path, default=RESULTS, metavar="DIR", help=f"default: {RESULTS}")

    add = command("open", "show a trace, or the Lab's results, in the browser", "duoviz.file_commands:show")
    add("file", type=Path, metavar="FILE", help="a trace (.duoviz.json), or results: a folder or a zip")

    add = command("export", "turn a trace into a page, a table or a timeline", "duoviz.file_commands:export")
    add("trace", type=Path, metavar="TRACE", help="a trace file (.duoviz.json)")
    kinds = ("html", "perfetto", "csv")
    add("--to", choices=kinds, required=True, help="html: replays the run without a server")
    about = "default: the trace's name with another ending, in this folder"
    add("--out", type=Path, metavar="FILE", help=about)

    add = command("record", "record one run of each method, as in assets/traces")
    add("--out", type=Path, required=True, metavar="DIR")
    add("--prompt", default=recordings.PROMPT)
    add("--pair", **PAIR)
    add("--max-new-tokens", type=int, default=recordings.NEW_TOKENS)

    stores = names.add_parser("datastore", help="make a datastore for REST").add_subparsers(required=True)
    build = stores.add_parser("build", help="from texts, or from corpora")
    build.set_defaults(run="duoviz.file_commands:make_datastore")
    build.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a text, or a corpus (.npz)")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    build.add_argument("--pair", **PAIR)

    add = command("space", "put the page on a Hugging Face Space, or update it there", stopped=GOES_ON)
    add("name", metavar="OWNER/NAME", help="OWNER: your name on the hub, or your organisation's")
    add("--hardware", metavar="NAME", help="such as cpu-upgrade; default: unchanged")
    add("--private", action="store_true", help="only you see it; default: unchanged")
    add("--dry-run", action="store_true", help="list what would be sent, and send nothing")
    return top


def add_decoding_options(add: Callable) -> None:
    for name, default in DEFAULTS.items():
        add(f"--{name.replace('_', '-')}", type=type(default), default=default, help=setting_help(name))
    add("--pair", default=PAIR["default"], help=f"{PAIR['help']}; the target alone for {WITHOUT_DRAFT}")
    about = "no chat template: continue the text as it is, after the tokenizer's BOS if it adds one"
    add("--raw", action="store_true", help=about)


def setting_help(name: str) -> str:
    """What a setting does, what it may be, and which methods read it where not all do."""
    about, default = ABOUT[name], DEFAULTS[name]
    readers = [id for id, method in METHODS.items() if name in method.settings]
    words = [f"{word} (default)" if word == default else word for word in about.words]
    numbers = [] if about.low is None or about.high >= MAX_WHOLE else [f"{about.low:g} to {about.high:g}"]
    usual = "" if default in ("", *about.words) else f"default: {default:g}"
    told = "; ".join(filter(None, [about.info, " or ".join([*words, *numbers]), usual]))
    return f"{told} ({', '.join(readers)})" if readers else told
