"""JSON from outside is read within bounds, or refused in a few words before it costs anything."""

import json
import os
import random
import threading
import tracemalloc

import pytest

from duoviz.outside import (
    LIST,
    MAX_DEPTH,
    OBJECT,
    STRING,
    Reader,
    Refused,
    in_short,
    is_text,
    open_file,
    without_strings,
)

TRICKY = ['"', "\\", '\\"', "[{", "]}", ",", "é", "\u2028", "🦙", "1e999", "NaN", "\\ud800", "9" * 50, "\n"]


def refusal(text, **bounds):
    with pytest.raises(Refused) as error:
        Reader(**bounds).parse(text if isinstance(text, bytes) else text.encode())
    return str(error.value)


@pytest.mark.parametrize("ascii", [True, False])
def test_strings_are_told_from_what_stands_around_them(ascii):
    chance = random.Random(4)
    for _ in range(300):
        keys = ["".join(chance.choices(TRICKY, k=chance.randrange(5))) for _ in range(3)]
        value = {f"{key}{place}": [key] for place, key in enumerate(keys)}
        text = json.dumps(value, ensure_ascii=ascii).encode()
        assert without_strings(text) == (b"{: [], : [], : []}", 6)
        assert Reader().parse(b"\xef\xbb\xbf" + text) == value


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "is not JSON ("),
        ("[}", "is not JSON ("),
        ('"a\\', "is not JSON ("),
        ("[" * 9, "is not JSON ("),
        ("[NaN]", "is not JSON ("),
        ('{"a": -Infinity}', "is not JSON ("),
        ("[1, 2E+0308]", "is not JSON (number is infinity"),
        ("1" + "0" * 309, "is not JSON (number is infinity"),
        (r'["a\ud83d"]', "has an invalid character (an unpaired surrogate)"),
        (r'{"\udc00": 1}', "has an invalid character (an unpaired surrogate)"),
    ],
)
def test_what_is_no_json_has_infinite_numbers_or_half_a_character(text, reason):
    assert refusal(text).startswith(reason)


@pytest.mark.parametrize("begin, end", [("[", "]"), ('{"a":', "}"), ('{"[": [', "]}")])
def test_depth(begin, end):
    most = MAX_DEPTH // (2 if "[" in begin and "{" in begin else 1)
    text = "{}1{}".format
    assert Reader().parse(text(begin * most, end * most).encode()) is not None
    too_deep = f"is nested deeper than {MAX_DEPTH} levels"
    assert refusal(text(begin * (most + 1), end * (most + 1))) == too_deep
    assert refusal(text(begin * 100_000, end * 100_000)) == too_deep
    assert refusal(begin * 100_000) == too_deep


def test_values_are_counted_over_all_that_a_reader_reads():
    # Three commas, a list, an object and a string.
    reader = Reader(most_values=2 * (3 + LIST + OBJECT + STRING))
    for _ in range(2):
        assert reader.parse(b'[1, 2, "a,b,c,[[[", {}]') == [1, 2, "a,b,c,[[[", {}]
    with pytest.raises(Refused, match="has more than 32 values"):
        reader.parse(b"[]")


@pytest.mark.parametrize("wide", ["🦙", r"\ud83e\udd99", ""])
def test_a_string_counts_as_the_memory_that_its_widest_character_makes_it_take(wide):
    reader = Reader()
    reader.parse(f'["{"a" * 320_000}{wide}"]'.encode())
    assert reader.values_read == pytest.approx(40_000 if wide else 10_000, abs=10)


VALUES = ["[]", "{}", '{"a":1}', "1.5", '{"a":[{}]}', "12345", "[[],1]", "null", '"#"', '{"#":0}']


@pytest.mark.parametrize("value", VALUES)
def test_the_memory_of_what_is_read_is_bounded_whatever_its_values_are(value):
    most = 200_000
    one = Reader()
    one.parse(f"[{value},1]".encode())
    count = most // (one.values_read - LIST + 1)
    # No two strings are one.
    text = f"[{','.join(value.replace('#', f'{number:07}') for number in range(count))}]".encode()
    reader = Reader(most_values=most + LIST)
    tracemalloc.start()
    found = reader.parse(text)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(found) == count and held < 45 * most


def test_a_pipe_is_read_to_its_end_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open_file(tmp_path / "pipe") as file:
        assert file.read() == b""
        writer = os.open(tmp_path / "pipe", os.O_WRONLY)
        late = threading.Timer(0.1, lambda: (os.write(writer, b"late"), os.close(writer)))
        late.start()
        assert file.read() == b"late"


def test_values_in_a_sentence():
    assert [in_short(each) for each in (None, "a\ud800", 1.5, ["a"])] == ["None", r"'a\ud800'", "1.5", "['a']"]
    assert in_short(10**5000) == in_short(-(10**60)) == "a number of more than 60 digits"
    nested = []
    for _ in range(100_000):
        nested = [nested]
    for value in ("x" * 10**6, [[]] * 10**5, nested, ["x" * 10**6] * 10**4, {"x" * 10**6: [["x"] * 10**6]}):
        assert len(in_short(value)) <= 62 and ("..." in in_short(value) or in_short(value).endswith("…"))
    assert is_text("é🦙") and not is_text("a\udfff") and not is_text(None) and not is_text(b"a")
