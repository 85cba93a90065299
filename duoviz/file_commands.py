"""Commands that make files of files, and show one."""

import argparse
import time
import webbrowser
from pathlib import Path

from duoviz import notebook
from duoviz.command_line import tell
from duoviz.decoding.datastore import build_datastore, read_sequences
from duoviz.errors import UserError, check_write
from duoviz.lab.files import plain_name
from duoviz.models.cache import cache_folder
from duoviz.models.files import find_files
from duoviz.models.progress import Course
from duoviz.models.registry import find_pair
from duoviz.models.tokenizers import fingerprint, load_tokenizer
from duoviz.trace.reading import read_trace

# Seconds for which a page stays that was opened.
DAY = 24 * 3600
ENDINGS = {"html": ".html", "perfetto": ".perfetto.json", "csv": ".csv"}


def show(options: argparse.Namespace) -> None:
    """Open a trace as its replay, or results as their report, in the browser; print the page, which stays for a day."""
    shown = notebook.open(options.file)
    if isinstance(shown, notebook.Race):
        raise UserError(f"{options.file} is a race: load it in the Compare tab (Files, Load).")
    folder = cache_folder() / "opened"
    page = folder / f"{plain_name(options.file.name)}.html"
    with check_write(page):
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if time.time() - other.stat().st_mtime > DAY:
                other.unlink()
        page.write_text(shown.to_html(), encoding="utf-8", errors="replace")
    webbrowser.open(page.as_uri())
    print(page)


def export(options: argparse.Namespace) -> None:
    """Write a trace in another form, and print where."""
    run, ending = notebook.Run(read_trace(options.trace)), ENDINGS[options.to]
    out = options.out or Path(options.trace.name.removesuffix(".json").removesuffix(".duoviz") + ending)
    if out.exists() and out.samefile(options.trace):
        raise UserError("--out would overwrite the trace: choose another file.")
    run.write(out, ending)
    print(out)


def make_datastore(options: argparse.Namespace) -> None:
    """Build a datastore; of the pair only the target's tokenizer is loaded."""
    tokenizer = load_tokenizer(find_files(find_pair(options.pair).target, tell))
    vocabulary, course = tokenizer.get_vocab(), Course(tell)
    build_datastore(
        read_sequences(options.files, tokenizer, course.until(0.1)),
        options.out,
        vocabulary=max(vocabulary.values()) + 1,
        tokenizer=fingerprint(vocabulary),
        report=course.until(1.0),
    )
