"""The datastore: sorted and searched as by brute force, made whole or not at all, opened only where it fits."""

import json
import os
import random
import zipfile

import numpy as np
import pytest

from duoviz import file_commands
from duoviz.__main__ import main
from duoviz.decoding import datastore as module
from duoviz.decoding.datastore import open_datastore, read_sequences
from duoviz.errors import UserError
from tests.decoding.stores import NamedDigits, build, random_sequences, searched
from tests.tiny import VOCABULARY, tiny_engine


def opened(sequences, out):
    return opened_at(build(sequences, out))


def opened_at(folder):
    return open_datastore(folder, tiny_engine().pair)


def up_to_the_end(rows, vocabulary=VOCABULARY):
    """Each row up to where its sequence ends."""
    lists = [row.tolist() for row in rows]
    return [row[: next((i for i, number in enumerate(row) if number >= vocabulary), len(row))] for row in lists]


@pytest.mark.parametrize("seed", range(6))
def test_the_longest_match_and_its_continuations_are_those_of_brute_force(tmp_path, seed):
    sequences, chance = random_sequences(seed), random.Random(seed)
    datastore = opened(sequences, tmp_path / "store")
    hits = 0
    for _ in range(150):
        text = [chance.randrange(5) for _ in range(chance.randrange(1, 9))]
        shortest = chance.randrange(1, 4)
        sizes = {"longest": shortest + chance.randrange(6), "shortest": shortest, "depth": chance.randrange(1, 7)}
        matched, expected = searched(sequences, text, **sizes)
        length, rows = datastore.continuations(text, **sizes)
        assert (length, sorted(up_to_the_end(rows))) == (matched, sorted(expected))
        hits += len(expected) > 1
    assert hits > 30


def test_nothing_crosses_the_end_of_a_sequence(tmp_path):
    datastore = opened([[5, 6], [7, 8, 9], [], [3, 5, 6]], tmp_path / "store")
    # What ends its sequence everywhere has no continuation, nor is it looked for across two sequences; and a target may
    # know ids that its tokenizer does not, the number of the end among them.
    for text in ([6], [5, 6], [6, 7], [9, 3], [6, 65535]):
        assert len(datastore.continuations(text, longest=4, shortest=len(text), depth=3)[1]) == 0


def test_of_many_occurrences_evenly_spread_ones_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_READ", 10)
    datastore = opened([[1, 2 + number % 20] for number in range(200)], tmp_path / "store")
    _, rows = datastore.continuations([1], longest=1, shortest=1, depth=1)
    assert rows[:, 0].tolist() == [2 + 2 * number for number in range(10)]


@pytest.mark.parametrize("vocabulary, kind", [(65_535, np.uint16), (65_536, np.uint32), (150_000, np.uint32)])
def test_any_size_of_vocabulary(tmp_path, vocabulary, kind):
    pair = tiny_engine().pair
    pair.target.vocab_size = vocabulary
    last = vocabulary - 1
    datastore = open_datastore(build([[1, last], [last, last, 3]], tmp_path / "store", vocabulary=vocabulary), pair)
    assert datastore.tokens.dtype == kind
    _, rows = datastore.continuations([last], longest=1, shortest=1, depth=2)
    assert up_to_the_end(rows, vocabulary) == [[3], [last, 3]]


def test_building_reports_its_progress_and_replaces_the_datastore(tmp_path):
    reports = []
    opened([[1, 2, 3]], tmp_path / "store")
    # What a build leaves that was killed.
    (tmp_path / "store.part" / "new").mkdir(parents=True)
    build(random_sequences(1), tmp_path / "store", report=lambda fraction, text: reports.append((fraction, text)))
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0 and len(reports) >= 4
    assert "Sorting" in reports[0][1] and "Writing" in reports[-2][1]
    assert json.loads((tmp_path / "store" / "header.json").read_text())["sequences"] > 1
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_a_build_that_fails_leaves_the_old_datastore(tmp_path):
    out = build([[1, 2, 3]], tmp_path / "store")
    for ids in ([1, 40], [-1]):
        with pytest.raises(UserError, match="outside the vocabulary of 40"):
            build([[4], ids], out)
    assert opened_at(out).tokens.tolist() == [1, 2, 3, 65535]
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "home.txt").write_text("dear")
    (tmp_path / "mixed").mkdir()
    for name in ("header.json", "tokens.npy", "suffixes.npy", "home.txt"):
        (tmp_path / "mixed" / name).write_text("{}")
    for out in (tmp_path / "letters", tmp_path / "mixed"):
        with pytest.raises(UserError, match="is not a datastore"):
            build([[1]], out)
    for out in (tmp_path / "letters" / "home.txt", tmp_path / "letters" / "home.txt" / "store"):
        with pytest.raises(UserError, match="cannot be written to"):
            build([[1]], out)
    assert (tmp_path / "letters" / "home.txt").read_text() == "dear"
    (tmp_path / "empty").mkdir()
    assert len(opened([[1]], tmp_path / "empty").tokens) == 2


def shorten(file):
    file.write_bytes(file.read_bytes()[:-1])


def change_header(**changes):
    def change(file):
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))

    return change


@pytest.mark.parametrize(
    "name, damage, part",
    [
        ("tokens.npy", shorten, "cannot be used"),
        ("tokens.npy", lambda file: file.write_bytes(file.read_bytes().replace(b"'shape'", b"(sha'pe")), "cannot be"),
        ("tokens.npy", lambda file: np.save(file, np.zeros(4, dtype=np.uint32)), "damaged or has another version"),
        ("suffixes.npy", lambda file: np.save(file, np.zeros(4, dtype=np.int64)), "damaged or has another version"),
        ("header.json", os.remove, "No such file"),
        ("header.json", lambda file: file.write_text("{"), "cannot be used"),
        ("header.json", change_header(vocabulary="many"), "cannot be used"),
        ("header.json", change_header(format="duoviz datastore 2"), "damaged or has another version"),
        ("header.json", change_header(tokens=4), "damaged or has another version"),
        ("header.json", change_header(tokenizer="other"), "does not have the tokenizer of"),
        ("header.json", change_header(vocabulary=VOCABULARY + 1), "does not have the tokenizer of"),
    ],
)
def test_a_datastore_that_cannot_be_used_is_refused_in_a_sentence(tmp_path, name, damage, part):
    out = build([[1, 2, 3]], tmp_path / "store")
    damage(out / name)
    with pytest.raises(UserError, match=part) as error:
        opened_at(out)
    assert "`python -m duoviz datastore build FILE… --out DIR --pair tiny`." in str(error.value)
    assert str(out) in str(error.value) and len(str(error.value).splitlines()) == 1


def test_the_paragraphs_of_texts_and_the_rows_of_corpora(tmp_path):
    text, corpus = tmp_path / "a.txt", tmp_path / "b.npz"
    text.write_text("one\ntwo\n\nthree\n\n  four\n\n\n\nfive")
    np.savez(corpus, flat=np.arange(6, dtype=np.uint16), length=np.array([2, 0, 4]))
    parts = ["one\ntwo\n\n", "three\n\n  four\n\n\n\n", "five"]
    expected = [NamedDigits()(part)["input_ids"] for part in parts] + [[0, 1], [], [2, 3, 4, 5]]
    fractions = []
    sequences = read_sequences([text, corpus], NamedDigits(), lambda fraction, text: fractions.append(fraction))
    assert [list(ids) for ids in sequences] == expected
    assert fractions == [0.0, 0.5]


@pytest.fixture
def digits(monkeypatch):
    monkeypatch.setattr(file_commands, "find_files", lambda model, progress: None)
    monkeypatch.setattr(file_commands, "load_tokenizer", lambda target: NamedDigits())


def test_the_command_builds_a_datastore(tmp_path, digits, capsys):
    file, out = tmp_path / "texts.txt", tmp_path / "store"
    file.write_text("hello hello")
    assert main(["datastore", "build", str(file), "--out", str(out)]) == 0
    written = capsys.readouterr()
    assert f"100% The datastore is in {out}" in written.err and not written.out
    ids = NamedDigits()("hello hello")["input_ids"]
    assert opened_at(out).tokens[:-1].tolist() == ids


NO_CORPUS = "a corpus (.npz) with `flat` and `length`"


def rows(**arrays):
    """Writes a corpus."""
    return lambda file: np.savez(file, **arrays)


def write_a_huge_shape(file):
    with zipfile.ZipFile(file, "w") as out, out.open("flat.npy", "w") as part:
        np.lib.format.write_array_header_1_0(part, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})


@pytest.mark.parametrize(
    "name, write, arguments, part",
    [
        ("texts.txt", lambda file: None, [], "cannot be read (No such file"),
        ("texts.txt", lambda file: file.write_bytes(b"\n \n"), [], "has no text"),
        ("texts.txt", lambda file: file.write_bytes(b"\xff\xfe"), [], "name a text in UTF-8, or a corpus"),
        ("texts.txt", lambda file: file.write_bytes(b"hello"), ["--pair", "nobody"], "no pair named 'nobody'"),
        ("texts.txt", lambda file: file.write_bytes(b"hello"), ["--out", "/dev/null/store"], "cannot be written to"),
        ("corpus.npz", lambda file: file.write_bytes(b"PK\x03\x04"), [], NO_CORPUS),
        ("corpus.npz", rows(flat=[1, 2], length=[3]), [], NO_CORPUS),
        ("corpus.npz", rows(flat=[[1, 2]], length=[1]), [], NO_CORPUS),
        ("corpus.npz", rows(flat=[1, 2], length=[-1, 3]), [], NO_CORPUS),
        ("corpus.npz", rows(flat=[{}], length=[1]), [], NO_CORPUS),
        ("corpus.npz", write_a_huge_shape, [], NO_CORPUS),
    ],
)
def test_the_commands_mistakes_are_one_line(tmp_path, digits, capsys, name, write, arguments, part):
    write(tmp_path / name)
    out = ["--out", str(tmp_path / "store")]
    assert main(["datastore", "build", str(tmp_path / name), *out, *arguments]) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("duoviz: ")]
    assert len(errors) == 1 and part in errors[0]
    assert not (tmp_path / "store").exists()
