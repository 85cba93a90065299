"""What each command of training's command line does, and what it checks before anything is loaded."""

import argparse
import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from duoviz.command_line import check_write, tell
from duoviz.decoding.acceptance_table import FILE
from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.checkpoint import read_config
from duoviz.models.embedded import embedded_target
from duoviz.models.llama_config import OUR_KIND
from duoviz.models.load import load_pair
from duoviz.training.corpus import ARRAYS, Row, load_corpus, sample
from duoviz.training.distillation import HELD_OUT, Recipe, train_draft
from duoviz.training.fitting import fit_chances
from duoviz.training.selfchat import make_corpus
from duoviz.training.student import export_assistant

# So many of the held-out rows are counted for the chances.
COUNTED = 400


def write_corpus(options: argparse.Namespace) -> None:
    """Write rows of questions and answers, for as long as asked for."""
    if not 0 < options.minutes < inf:
        raise UserError("--minutes must be a number above 0.")
    if options.out.suffix != ".npz":
        raise UserError(f"--out {options.out} must end in .npz.")
    with check_write(options.out):
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.with_suffix(".jsonl").open("ab").close()
    how = {name: getattr(options, name) for name in ("rows", "minutes", "slots", "seed")}
    make_corpus(embedded_target(tell), options.out, **how)


def train_the_draft(options: argparse.Namespace) -> None:
    """Distil a draft from the embedded target."""
    if not 0 < options.peak < 1:
        raise UserError("--peak must be above 0 and below 1.")
    if options.start and read_config(options.start).get("model_type") != OUR_KIND:
        raise UserError(f"--from {options.start} is no draft that `duoviz.training draft` made.")
    if all(row.held_out for row in checked_corpus(options.corpus)):
        raise UserError(f"The last {HELD_OUT} rows of each corpus are for testing: it needs more to train on.")
    make_folder(options.out)
    how = {name: getattr(options, name) for name in ("tokens", "layers", "peak", "batch_tokens", "seed")}
    recipe = Recipe(start=options.start and str(options.start), **how)
    train_draft(embedded_target(tell), options.corpus, options.out, recipe)


def write_chances(options: argparse.Namespace) -> None:
    """Count on held-out rows how often a draft is right."""
    corpus = checked_corpus(options.corpus)
    make_folder(options.out)
    pair = load_pair(f"embedded + {options.draft or 'embedded'}", tell)
    rows = sample([row for row in corpus if row.held_out], COUNTED)
    chances = fit_chances(pair.target, pair.draft.load(), rows)
    (options.out / FILE).write_text(json.dumps(vars(chances)) + "\n")


def write_assistant(options: argparse.Namespace) -> None:
    """Write the embedded draft as transformers reads it."""
    make_folder(options.out)
    export_assistant(DRAFT_FOLDER, embedded_target(tell), options.out)
    print(f"{options.out} holds the draft for transformers' generate(assistant_model=…).")


def make_folder(folder: Path) -> None:
    with check_write(folder):
        folder.mkdir(parents=True, exist_ok=True)


def checked_corpus(files: Sequence[Path]) -> list[Row]:
    """The corpus in these files. Raises UserError for a file that holds none."""
    for file in files:
        if not file.is_file():
            raise UserError(f"There is no corpus file {file}.")
        try:
            with np.load(file) as arrays:
                is_corpus = set(ARRAYS) <= set(arrays)
        except (OSError, ValueError, EOFError, BadZipFile, TypeError):
            is_corpus = False
        if not is_corpus:
            raise UserError(f"{file} is no corpus: it needs the arrays {', '.join(ARRAYS)}.")
    return load_corpus(files, held_out=HELD_OUT)
