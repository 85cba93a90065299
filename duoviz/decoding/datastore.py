"""REST's datastore: token sequences in one array, and a suffix array to look them up."""

import json
import os
import re
import shlex
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from duoviz.errors import UserError, first_line
from duoviz.folders import ASSETS
from duoviz.models.pair import Pair
from duoviz.models.progress import Progress, no_progress
from duoviz.models.tokenizers import fingerprint
from duoviz.outside import DAMAGED_ZIP

# The shipped one, for SmolLM2's tokenizer.
DATASTORE_FOLDER = ASSETS / "datastore"
HEADER, TOKENS, SUFFIXES = "header.json", "tokens.npy", "suffixes.npy"
FORMAT = "duoviz datastore 1"
# Most occurrences read in one look-up, as published; of more, evenly spread ones are read.
MOST_READ = 5_000


@dataclass(frozen=True)
class Datastore:
    """Token sequences with their suffix array.

    tokens: uint16 or uint32 [positions], each sequence followed by an end (`end_of_sequence`); suffixes: uint32
    [positions], the suffix array; vocabulary: all tokens are below it, the end is not.
    """

    tokens: np.ndarray
    suffixes: np.ndarray
    vocabulary: int

    def continuations(self, text: Sequence[int], *, longest: int, shortest: int, depth: int) -> tuple[int, np.ndarray]:
        """Continuations of the longest suffix of the text (longest ≥ n ≥ shortest tokens) that has any.

        Returns n, or 0, and the occurrences' next tokens [occurrences, depth], sorted. A row ends at its first number
        that is not in the vocabulary.
        """
        size, ranks = 0, range(0)
        for n in range(shortest, min(longest, len(text)) + 1):
            matches = self.find(text[-n:])
            # A longer suffix occurs only where a shorter one does.
            if not matches:
                break
            size, ranks = n, matches
        read = min(len(ranks), MOST_READ)
        chosen = ranks.start + np.arange(read) * len(ranks) // max(1, read)
        places = self.suffixes[chosen].astype(np.int64) + size
        return size, self.tokens[np.minimum(places[:, None] + np.arange(depth), len(self.tokens) - 1)]

    def find(self, ngram: Sequence[int]) -> range:
        """The range of `suffixes` that begin with the n-gram and go on in the same sequence."""
        if max(ngram) >= self.vocabulary:
            return range(0)
        # Occurrences at the end of a sequence come last, because the end is the largest number.
        return range(self.rank(list(ngram)), self.rank([*ngram, end_of_sequence(self.vocabulary)]))

    def rank(self, numbers: list[int]) -> int:
        """The number of suffixes before those that begin with these numbers."""
        size = len(numbers)
        return bisect_left(self.suffixes, numbers, key=lambda place: self.tokens[place : place + size].tolist())


def token_type(vocabulary: int) -> type:
    """The smallest type for tokens and the end."""
    return np.uint16 if vocabulary <= np.iinfo(np.uint16).max else np.uint32


def end_of_sequence(vocabulary: int) -> int:
    """The number after each sequence: the type's largest, which is no token."""
    return int(np.iinfo(token_type(vocabulary)).max)


def open_datastore(folder: Path, pair: Pair) -> Datastore:
    """The datastore in a folder, memory-mapped. Raises UserError if it is missing, damaged, or not for the pair.

    Its contents are not checked: a damaged number ends a continuation or is never accepted.
    """
    try:
        header = json.loads((folder / HEADER).read_bytes())
        # Without numpy's own class for a mapped array, which is slow to cut into parts.
        tokens, suffixes = (
            np.asarray(np.lib.format.open_memmap(folder / name, mode="r")) for name in (TOKENS, SUFFIXES)
        )
        vocabulary, positions = header["vocabulary"], header["tokens"] + header["sequences"]
        types = tokens.dtype == token_type(vocabulary) and suffixes.dtype == np.uint32
        if header["format"] != FORMAT or not types or not tokens.shape == suffixes.shape == (positions,):
            raise ValueError("it is damaged or has another version")
        if header["tokenizer"] != fingerprint(pair.tokenizer.get_vocab()) or vocabulary > pair.target.vocab_size:
            raise ValueError(f"it does not have the tokenizer of {pair.target.label}")
    except Exception as error:  # a damaged file fails in the parsers of json and of numpy, with errors of their own
        raise UserError(
            f"The datastore in {folder} cannot be used ({first_line(error)}): build "
            f"one with `python -m duoviz datastore build FILE… --out DIR --pair {shlex.quote(pair.name)}`."
        ) from error
    return Datastore(tokens, suffixes, vocabulary)


def build_datastore(
    sequences: Iterable[Sequence[int] | np.ndarray],
    out: Path,
    *,
    vocabulary: int,
    tokenizer: str,
    report: Progress = no_progress,
) -> None:
    """Make a datastore of token sequences in the folder `out`, replacing one that is there.

    vocabulary: all token ids are below it; tokenizer: its `fingerprint`. Atomic: made in `out` with the suffix `.part`,
    which the next build removes if this one was killed. Raises UserError for an id outside the vocabulary, and for
    a folder that cannot be written or holds something else.
    """
    out = Path(os.path.abspath(out))
    part = out.with_name(out.name + ".part")
    try:
        if out.exists() and {file.name for file in out.iterdir()} not in (set(), {HEADER, TOKENS, SUFFIXES}):
            raise UserError(f"{out} exists and is not a datastore: choose another folder.")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        tokens = joined(sequences, vocabulary)
        suffixes = suffix_array(tokens, lambda done, text: report(0.1 + 0.8 * done, text))
        report(0.9, "Writing the datastore")
        np.save(part / TOKENS, tokens)
        np.save(part / SUFFIXES, suffixes.astype(np.uint32))
        ends = int((tokens == end_of_sequence(vocabulary)).sum())
        header = {"format": FORMAT, "vocabulary": vocabulary, "tokenizer": tokenizer}
        header |= {"sequences": ends, "tokens": len(tokens) - ends}
        (part / HEADER).write_text(json.dumps(header, indent=1))
        if out.exists():
            shutil.rmtree(out)
        os.replace(part, out)
    except OSError as error:
        raise UserError(f"The datastore cannot be written to {out} ({first_line(error)}).") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    report(1.0, f"The datastore is in {out}")


def suffix_array(values: np.ndarray, report: Progress = no_progress) -> np.ndarray:
    """The suffix array of whole numbers [n]: all positions, ordered by what begins there, int64 [n].

    Prefix doubling (Manber and Myers 1993): positions in the order of their first w numbers are put in that of their
    first 2w by sorting pairs: a position's rank and that of the one w further on. One sort for each doubling up to the
    longest repeat.
    """
    size = len(values)
    order, rank = np.arange(size), np.unique(values, return_inverse=True)[1]
    width, distinct = 1, 0
    while distinct < size:
        report(distinct / size, f"Sorting {size:,} places")
        following = np.zeros(size, dtype=np.int64)
        # 0 is left for the end of the sequence, which comes before every number.
        following[:-width] = rank[width:] + 1
        pairs = rank * (size + 1) + following
        order = np.argsort(pairs)
        ordered = pairs[order]
        rank[order] = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
        width, distinct = 2 * width, int(rank[order[-1]]) + 1
    return order


def joined(sequences: Iterable[Sequence[int] | np.ndarray], vocabulary: int) -> np.ndarray:
    """The sequences that are not empty, each with an end after it. Raises UserError."""
    kind = token_type(vocabulary)
    parts = [np.empty(0, kind)]
    for ids in filter(len, sequences):
        if not 0 <= np.min(ids) <= np.max(ids) < vocabulary:
            raise UserError(
                f"A token id is outside the vocabulary of {vocabulary:,}: the texts have another tokenizer."
            )
        parts.append(np.append(ids, end_of_sequence(vocabulary)).astype(kind))
    return np.concatenate(parts)


def read_sequences(
    files: Sequence[Path], tokenizer: Any, report: Progress = no_progress
) -> Iterator[Sequence[int] | np.ndarray]:
    """The rows of each corpus (.npz, as in assets/draft) and the paragraphs of each text, as token ids.

    Raises UserError for a file that is neither, or empty.
    """
    for index, file in enumerate(files):
        report(index / len(files), f"Reading {file}")
        try:
            sequences = read_rows(file) if file.suffix == ".npz" else read_paragraphs(file, tokenizer)
            if not sequences:
                raise ValueError("it has no text")
        except (*DAMAGED_ZIP, LookupError, TypeError, MemoryError) as error:
            raise UserError(
                f"{file} cannot be read ({first_line(error)}): name a text in UTF-8, "
                "or a corpus (.npz) with `flat` and `length`."
            ) from error
        yield from sequences


def read_rows(file: Path) -> list[np.ndarray]:
    """The rows of a corpus, token ids each."""
    with np.load(file) as corpus:
        flat, length = corpus["flat"], corpus["length"]
    numbers = {flat.dtype.kind, length.dtype.kind} <= {"i", "u"}
    if not numbers or flat.shape != (length.sum(),) or length.min(initial=0) < 0:
        raise ValueError("the rows do not add up")
    return np.split(flat, np.cumsum(length)[:-1])


def read_paragraphs(file: Path, tokenizer: Any) -> list[list[int]]:
    """The paragraphs of a text, token ids each, the blank line after a paragraph included."""
    parts = [part for part in re.split(r"(?<=\n\n)(?=\S)", file.read_text(encoding="utf-8")) if part.strip()]
    return tokenizer(parts, add_special_tokens=False)["input_ids"] if parts else []
