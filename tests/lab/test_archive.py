"""A zip of results may be anyone's: what is not as such a zip is, is refused in one sentence, before it costs much."""

import json
import random
import struct
import zipfile

import pytest

from duoviz.errors import UserError
from duoviz.lab import results
from duoviz.lab.results import load

REFUSAL = "bad.zip holds no Lab results, or damaged ones"
FORWARDS_ROW = '{"length": 1, "draft": [1], "target": [1]}\n'
FAILED_ROW = '{"question_id": 1, "model_id": "m", "task": "t", "repeat": 0, "message": ""}\n'


@pytest.fixture
def bad(finished, tmp_path):
    """A function that zips an environment, a plan and these files; of content in parts, one after the other."""
    file = tmp_path / "bad.zip"

    def make(others=()):
        needed = {each: (finished / each).read_text() for each in ("environment.json", "plan.json")}
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
            for name, content in (needed | dict(others)).items():
                with out.open(name, "w") as part:
                    for piece in [content] if isinstance(content, str) else content:
                        part.write(piece.encode())
        return file

    return make


def refusal(file):
    with pytest.raises(UserError) as error:
        load(file)
    assert str(error.value).startswith(REFUSAL) and str(error.value).endswith(".")
    return str(error.value).removeprefix(REFUSAL)


@pytest.mark.parametrize(
    "name, content, reason",
    [
        ("environment.json", "{}", 'lacks "date", or has a wrong one'),
        ("plan.json", "{}" + " " * 200_000, "has more than 200,000 bytes"),
        ("answers/x.jsonl", "[]\n", "is not a JSON object"),
        ("answers/x.jsonl", r'{"a": "\ud800"}' + "\n", "has an invalid character (an unpaired surrogate)"),
        ("answers/x.jsonl", " " * 5_000_000 + "\n", "has a line of more than 4,000,000 bytes"),
        ("answers/x.jsonl", '{"model_id": "x", "question_id": 1}\n', 'lacks "task", or has a wrong one'),
        ("failed.jsonl", FAILED_ROW.replace("1", "true"), 'lacks "question_id", or has a wrong one'),
        ("forwards.jsonl", FORWARDS_ROW.replace("1", '"many"', 1), 'lacks "length", or has a wrong one'),
        ("forwards.jsonl", '{"length": 1, "draft": [], "target": [1]}\n', 'lacks "draft", or has a wrong one'),
    ],
)
def test_a_damaged_file_is_told_by_name(bad, name, content, reason):
    assert refusal(bad({name: content})).startswith(f": it has a file {name} that {reason}")


def test_what_one_has_measured_oneself_may_be_more_than_a_zip_of_anyones(bad, finished, tmp_path, monkeypatch):
    file = bad(
        {"failed.jsonl": FAILED_ROW * 1_500, "answers/v.jsonl": (finished / "answers" / "vanilla.jsonl").read_text()}
    )
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "own")
    turns = sum(len(row["measured"]) for row in load(file).rows)
    for limit, most, words in (
        ("ZIP_TURNS", turns - 1, f"it has more than {turns - 1} turns."),
        ("ZIP_LINES", 1_000, "it has a file failed.jsonl that has more than 1,000 lines"),
        ("ZIP_VALUES", 10_000, "that has more than 10,000 values"),
    ):
        monkeypatch.setattr(results, limit, most)
        assert words in refusal(file)
        assert len(load(tmp_path / "own").failed) == 1_500
        monkeypatch.undo()


@pytest.mark.parametrize(
    "name, row, field, most, what",
    [
        ("failed.jsonl", FAILED_ROW, "task", 50, "tasks"),
        ("failed.jsonl", FAILED_ROW, "model_id", 50, "methods"),
        ("forwards.jsonl", FORWARDS_ROW, "", 100, "lengths in forwards.jsonl"),
    ],
)
def test_more_than_tables_and_figures_can_show(bad, name, row, field, most, what):
    rows = [json.dumps(json.loads(row) | {field: str(number)}) + "\n" for number in range(most + 1)]
    assert refusal(bad({name: "".join(rows)})) == f": it has more than {most} {what}."
    load(bad({name: "".join(rows[1:])}))


def test_too_many_files_or_bytes(bad, tmp_path):
    assert refusal(bad({f"{number}.csv": "" for number in range(1_000)})) == ": it has more than 1,000 files."
    with (tmp_path / "bad.zip").open("wb") as large:
        large.truncate(100_000_001)
    assert refusal(tmp_path / "bad.zip") == ": it has more than 100 MB."


def test_what_is_packed_in_an_unusual_way_or_locked_is_not_unpacked(bad, finished, tmp_path):
    reason = "has environment.json encrypted, or packed with an unknown method"
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_BZIP2) as out:
        out.write(finished / "environment.json", "x/environment.json")
    assert reason in refusal(tmp_path / "bad.zip")
    file = bad()
    content = bytearray(file.read_bytes())
    # The flags of the first file, in the list at the end.
    place = content.index(b"PK\1\2") + 8
    struct.pack_into("<H", content, place, struct.unpack_from("<H", content, place)[0] | 1)
    file.write_bytes(content)
    assert reason in refusal(file)


def test_no_zip_and_no_results(tmp_path, bad):
    file = bad()
    whole = file.read_bytes()
    for content in (b"nothing", whole[:-1]):
        file.write_bytes(content)
        assert refusal(file) == "."
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("a.txt", "")
    assert refusal(file) == ": it has no environment.json."
    with pytest.raises(
        UserError, match=r"nowhere holds no Lab results, or damaged ones: it has no environment\.json\."
    ):
        load(tmp_path / "nowhere")
    # What a page is told, it can show.
    with pytest.raises(UserError, match="^no_where_ holds no Lab results"):
        load(tmp_path / "no\nwhere\udcff")


def test_damaged_zips_are_read_or_refused(finished, tmp_path):
    file, chance, read = tmp_path / "bad.zip", random.Random(8), 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name in ("environment.json", "plan.json", "failed.jsonl", "forwards.jsonl"):
            out.write(finished / name, name)
    whole = file.read_bytes()
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        file.write_bytes(content)
        try:
            load(file)
            read += 1
        except UserError as error:
            assert str(error).startswith(REFUSAL)
    assert 0 < read < 270
