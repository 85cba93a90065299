"""Command line: generate, compare, calibrate, datastore, train."""

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn
from zipfile import BadZipFile

import numpy as np

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.budget import CONTEXTS, LiveCosts, cost_model, draft_budget
from duoviz.decoding.datastore import build_datastore, read_sequences
from duoviz.decoding.duodecoding import running_draft
from duoviz.decoding.settings import Settings, parse_number
from duoviz.models.embedded import embedded_target
from duoviz.models.linear import ROW_COUNTS
from duoviz.models.pairs import PAIRS, find_pair, find_target, fingerprint, load_pair, load_tokenizer, part_of

PAIR_HELP = f'one of: {", ".join(PAIRS)}; or any two models as "TARGET + DRAFT", each a folder or a hub id'
CORPUS = [Path("assets/draft/selfchat.npz"), Path("assets/draft/tasks.npz")]
# The settings of the methods that propose without a draft model.
OWN_SETTINGS = {
    "lookup_ngram": "prompt_lookup: the longest n-gram looked for; default: 3",
    "lookup_tokens": "prompt_lookup: how many tokens after it are proposed; default: 10",
    "lookup_occurrence": "prompt_lookup: first (default) or latest",
    "rest_datastore": "rest: a folder made by `datastore build`; default: the one that comes along",
    "rest_longest": "rest: the longest suffix looked for; default: 16",
    "rest_shortest": "rest: the shortest one; default: 2",
    "rest_tokens": "rest: how many tokens the tree may have; default: 64",
    "lookahead_window": "lookahead: W, how many places ahead are guessed; default: 7",
    "lookahead_ngram": "lookahead: N, the size of an n-gram; default: 5",
    "lookahead_guesses": "lookahead: G, how many n-grams are verified at once; default: 7",
}
BAD_QUESTIONS = "{} is not in the question format: each line needs a JSON object with a list of turns."


class UsageError(ValueError):
    """An argument cannot be used; the message is a sentence for the user."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 on success, 1 with one line on stderr on a user's mistake."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except (*runner.USER_ERRORS, UsageError) as error:
        print(f"duoviz: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("duoviz: stopped", file=sys.stderr)
        return 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"duoviz: {message} (see --help)\n")


def parser() -> Parser:
    top = Parser(prog="python -m duoviz", description="DuoDecoding, run for real.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("generate", help="answer one prompt")
    one.add_argument("prompt")
    one.add_argument("--method", default="duodecoding", help=f"one of: {', '.join(METHODS)}; default: duodecoding")
    add_decoding_options(one)
    one.add_argument("--trace", type=Path, metavar="FILE", help="write the run's trace (.duoviz.json)")
    one.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    one.set_defaults(run=generate)

    many = commands.add_parser("compare", help="run methods on prompts in alternation")
    many.add_argument("--prompts", required=True, metavar="FILE.jsonl|PROMPT", help="questions, or one prompt")
    many.add_argument("--methods", default="vanilla,duodecoding")
    many.add_argument("--repeats", type=int, default=3)
    add_decoding_options(many)
    many.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    many.set_defaults(run=compare)

    costs = commands.add_parser("calibrate", help="measure what target and draft cost on this machine")
    costs.add_argument("--pair", default="embedded", help=PAIR_HELP)
    costs.add_argument("--json", action="store_true")
    costs.set_defaults(run=calibrate)

    stores = commands.add_parser("datastore", help="make a datastore for REST").add_subparsers(required=True)
    build = stores.add_parser("build", help="of texts, or of corpora as `train corpus` writes them")
    build.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a text, or a corpus (.npz)")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    build.add_argument("--pair", default="embedded", help=PAIR_HELP)
    build.set_defaults(run=make_datastore)

    add_training(commands.add_parser("train", help="make the embedded draft").add_subparsers(required=True))
    return top


def add_training(steps: argparse._SubParsersAction) -> None:
    talk = steps.add_parser("corpus", help="let the embedded target write questions and answers")
    talk.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    talk.add_argument("--rows", type=int, default=12_000)
    talk.add_argument("--minutes", type=float, default=60.0, help="stop after this time; the same call goes on")
    talk.add_argument("--slots", type=int, default=192, help="how many texts are written at once")
    talk.add_argument("--seed", type=int, default=0)
    talk.set_defaults(run=write_corpus)

    draft = steps.add_parser(
        "draft", help="distil a draft from the embedded target; the same call goes on after a stop"
    )
    sweep = steps.add_parser("sweep", help="compare shapes and losses on a few tokens, then their costs")
    for each, tokens in ((draft, 3_000_000), (sweep, 30_000)):
        each.add_argument("--corpus", type=Path, nargs="+", default=CORPUS, metavar="FILE.npz")
        each.add_argument("--out", type=Path, required=True, metavar="DIR")
        each.add_argument("--tokens", type=int, default=tokens, help=f"answer tokens to train on; default {tokens:,}")
    draft.add_argument("--layers", type=int, default=2)
    draft.add_argument("--seed", type=int, default=0)
    draft.set_defaults(run=train_the_draft)
    sweep.set_defaults(run=train_the_sweep)


def add_decoding_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--max-new-tokens", type=int, default=256)
    command.add_argument("--temperature", type=float, default=0.0, help="0 (default): greedy; up to 2")
    command.add_argument("--top-k", type=int, default=0, help="draw from the k most probable tokens; 0 (default): all")
    command.add_argument("--top-p", type=float, default=1.0, help="draw from the tokens that reach this mass; 1: all")
    command.add_argument("--seed", type=int, default=0, help="the same seed gives the same text")
    command.add_argument(
        "--acceptance", default="coupled", help="coupled (default): vanilla's very text; rejection: the classical rule"
    )
    command.add_argument("--sequences", default="dynamic", help="k: dynamic (default) or 1 to 8")
    command.add_argument("--budget", default="auto", help="γ: auto (default) or 1 to 64")
    command.add_argument("--draft-mode", default="batched", help="batched (default) or paper")
    command.add_argument(
        "--cores", default="all", help="for methods that do not work in parallel: all (default) or target"
    )
    for name, help in OWN_SETTINGS.items():
        default = getattr(Settings, name)
        command.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=help)
    command.add_argument("--pair", default="embedded", help=PAIR_HELP)
    command.add_argument("--raw", action="store_true", help="no chat template: continue the text as it is")


def settings_of(options: argparse.Namespace) -> Settings:
    return Settings(
        max_new_tokens=options.max_new_tokens,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        seed=options.seed,
        acceptance=options.acceptance,
        sequences=parse_number("sequences", options.sequences, word="dynamic"),
        budget=parse_number("budget", options.budget, word="auto"),
        draft_mode=options.draft_mode,
        cores=options.cores,
        **{name: getattr(options, name) for name in OWN_SETTINGS},
    )


def tell(fraction: float, text: str) -> None:
    """Show loading progress on stderr."""
    print(f"{fraction:4.0%} {text}", file=sys.stderr, flush=True)


def generate(options: argparse.Namespace) -> int:
    """Stream one answer to stdout; the metrics follow, or one JSON object."""
    settings = settings_of(options)
    runner.check_method(options.method)
    if options.trace:
        check_writable(options.trace)
    pair = load_pair(options.pair, tell)
    trace = runner.new_trace()
    try:
        for event in runner.stream(pair, options.method, options.prompt, settings, raw=options.raw):
            runner.add_event(trace, event)
            if event["type"] == "iteration":
                print("".join(token["text"] for token in event["iteration"]["committed"]), end="", flush=True)
    finally:
        print()
        if trace["header"] and not trace["end"]:
            trace["end"] = runner.end(trace["iterations"], "stopped")
        if options.trace and trace["header"]:
            options.trace.write_text(json.dumps(trace, ensure_ascii=False))
    result = runner.summary(trace)
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
    elif result["metrics"]["new_tokens"]:
        print(metrics_line(result["metrics"]), file=sys.stderr)
    if trace["end"]["stopped"] == "error":
        print(f"duoviz: {trace['end']['message']}", file=sys.stderr)
        return 1
    return 0


def check_writable(file: Path) -> None:
    """Raise UsageError where the file cannot be written: before the run, so that no run is lost."""
    try:
        file.open("a").close()
    except OSError as error:
        raise UsageError(f"The trace cannot be written to {file}: {error.strerror}.") from error


def metrics_line(figures: dict) -> str:
    shown = [
        f"{figures['new_tokens']} tokens",
        f"{figures['tps']:.1f} tokens/s",
        f"first token {figures['ttft']:.2f} s",
        f"τ {figures['tau']:.2f}",
    ]
    if figures["acceptance"] is not None:
        shown.append(f"acceptance {figures['acceptance']:.2f}")
    if figures["overlap"] is not None:
        shown.append(f"overlap {figures['overlap']:.2f}")
    return ", ".join(shown)


def read_prompts(source: str) -> list[str]:
    """The first turn of each question in a .jsonl file, or the one prompt itself. Raises UsageError."""
    if not source.endswith(".jsonl"):
        return [source]
    try:
        lines = Path(source).read_text().splitlines()
        questions = [json.loads(line) for line in lines if line.strip()]
        prompts = [question["turns"][0] if isinstance(question["turns"], list) else None for question in questions]
    except OSError as error:
        raise UsageError(f"The prompts cannot be read: {error.strerror}: {source}.") from error
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError(BAD_QUESTIONS.format(source)) from error
    if not all(isinstance(prompt, str) for prompt in prompts):
        raise UsageError(BAD_QUESTIONS.format(source))
    return prompts


def compare(options: argparse.Namespace) -> int:
    """Alternate the methods and print a table of medians."""
    settings = settings_of(options)
    prompts = read_prompts(options.prompts)
    methods = list(dict.fromkeys(name.strip() for name in options.methods.split(",") if name.strip()))
    for method in methods:
        runner.check_method(method)
    if options.repeats < 1:
        raise UsageError("--repeats must be at least 1.")
    if not prompts:
        raise UsageError(f"There are no prompts in {options.prompts}.")
    pair = load_pair(options.pair, tell)
    rows = []
    for row in runner.compare(pair, prompts, runner.lanes(methods, settings), repeats=options.repeats, raw=options.raw):
        print(f"{row['method']:12} {row['cores']:6} {metrics_line(row['metrics'])}", file=sys.stderr, flush=True)
        rows.append(row)
    lines = runner.table(rows)
    print(f"{'method':12} {'cores':7} {'runs':>4} {'tokens/s':>9} {'TTFT s':>7} {'τ':>5} {'φ':>5} {'φ same cores':>13}")
    for line in lines:
        print(
            f"{line['method']:12} {line['cores']:7} {line['runs']:4} {line['tps']:9.2f} {line['ttft']:7.3f} "
            f"{line['tau']:5.2f} {line['phi']:5.2f} {line['phi_same_cores']:13.2f}"
        )
    if options.json:
        print(json.dumps({"table": lines, "versions": runner.versions(), "cores": str(pair.cores)}, ensure_ascii=False))
    return 0


def calibrate(options: argparse.Namespace) -> int:
    """Measure the cost model anew and print it."""
    pair = load_pair(options.pair, tell)
    with runner.target_on(pair, pair.cores.target):
        costs = cost_model(pair, running_draft(pair), fresh=True)
    if options.json:
        print(json.dumps({"contexts": CONTEXTS, "rows": ROW_COUNTS, "target": costs.target, "draft": costs.draft}))
        return 0
    print(f"target on {pair.target_device_label(pair.cores.target)}, draft on {pair.draft_device_label()}")
    for index, context in enumerate(CONTEXTS):
        print(f"context {context}, milliseconds")
        print(
            "  target, rows  "
            + "  ".join(f"{n}: {t * 1e3:.1f}" for n, t in zip(ROW_COUNTS, costs.target[index], strict=True))
        )
        print("  draft, k      " + "  ".join(f"{k}: {t * 1e3:.1f}" for k, t in enumerate(costs.draft[index], 1)))
        print(f"  γ with nothing pending: {draft_budget(LiveCosts(costs), rows=1, context=context)}")
    return 0


def make_datastore(options: argparse.Namespace) -> int:
    """Build a datastore; of the pair only the target's tokenizer is loaded."""
    tokenizer = load_tokenizer(find_target(find_pair(options.pair).target, tell))
    vocabulary = tokenizer.get_vocab()
    build_datastore(
        read_sequences(options.files, tokenizer, part_of(tell, 0.0, 0.3)),
        options.out,
        vocabulary=max(vocabulary.values()) + 1,
        tokenizer=fingerprint(vocabulary),
        report=part_of(tell, 0.3, 1.0),
    )
    return 0


def write_corpus(options: argparse.Namespace) -> int:
    from duoviz.training.selfchat import make_corpus

    if options.rows < 1 or options.slots < 1:
        raise UsageError("--rows and --slots must be at least 1.")
    make_corpus(
        embedded_target(tell),
        options.out,
        rows=options.rows,
        minutes=options.minutes,
        slots=options.slots,
        seed=options.seed,
    )
    return 0


def train_the_draft(options: argparse.Namespace) -> int:
    from duoviz.training.distillation import Recipe, train_draft

    check_training(options)
    if not 1 <= options.layers <= 8:
        raise UsageError(f"--layers must be a whole number from 1 to 8, not {options.layers}.")
    recipe = Recipe(tokens=options.tokens, layers=options.layers, seed=options.seed)
    train_draft(embedded_target(tell), options.corpus, options.out, recipe)
    return 0


def train_the_sweep(options: argparse.Namespace) -> int:
    from duoviz.training.sweep import measure, sweep

    check_training(options)
    sweep(embedded_target(tell), options.corpus, options.out, tokens=options.tokens)
    measure(load_pair("embedded", tell), options.out)
    print((options.out / "table.md").read_text())
    return 0


def check_training(options: argparse.Namespace) -> None:
    """Raise UsageError where the corpus or the number of tokens cannot be used: before anything is loaded."""
    from duoviz.training.corpus import ARRAYS

    if options.tokens < 1:
        raise UsageError("--tokens must be at least 1.")
    for file in options.corpus:
        if not file.is_file():
            raise UsageError(f"There is no corpus file {file}.")
        try:
            with np.load(file) as arrays:
                whole = set(ARRAYS) <= set(arrays)
        except (OSError, ValueError, EOFError, BadZipFile, TypeError):
            whole = False
        if not whole:
            raise UsageError(f"{file} is no corpus: it needs the arrays {', '.join(ARRAYS)}.")


if __name__ == "__main__":
    sys.exit(main())
