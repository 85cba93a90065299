"""JSON from outside is read within bounds, or refused in a few words before it costs anything."""

import io
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


def random_value(chance, depth=0):
    kind = chance.randrange(6 if depth < 5 else 4)
    if kind == 0:
        return "".join(chance.choices(TRICKY, k=chance.randrange(5)))
    if kind == 1:
        return chance.choice([0, -3, 2**53, 1.5, -1e-300, 1e99, 0.1])
    if kind in (2, 3):
        return chance.choice([None, True, False, ""])
    values = [random_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return values if kind == 4 else {"".join(chance.choices(TRICKY, k=2)) + str(i): v for i, v in enumerate(values)}


@pytest.mark.parametrize("options", [{}, {"indent": 1}, {"ensure_ascii": False, "separators": (",", ":")}])
def test_what_is_json_is_read_as_it_is(options):
    chance = random.Random(3)
    for _ in range(300):
        value = random_value(chance)
        assert Reader().parse(json.dumps(value, **options).encode()) == value


def test_strings_are_told_from_what_stands_around_them():
    chance = random.Random(4)
    for _ in range(300):
        keys = ["".join(chance.choices(TRICKY, k=chance.randrange(5))) for _ in range(3)]
        text = json.dumps(
            {f"{key}{place}": [key] for place, key in enumerate(keys)}, ensure_ascii=chance.random() < 0.5
        )
        assert without_strings(text.encode()) == (b"{: [], : [], : []}", 6)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1,]", "[1 2]", '"open', '"a\\', "'a'", "tru", "]", "[}", '{"a":}', b"\xff", '"a\nb"', '["[[[["',
        "[" * 9,
    ],
)  # fmt: skip
def test_what_is_no_json(text):
    assert refusal(text) == "is not JSON"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("[NaN]", "has NaN for a number"),
        ('{"a": -Infinity}', "has -Infinity for a number"),
        ("1e999", "has a number that is too large"),
        ("[1, 2E+0308]", "has a number that is too large"),
        (f"[-{'9' * 39}00e{'2' * 3}, 1e308, -1e309]", "has a number that is too large"),
        ("1" + "0" * 309, "has a number that is too large"),
        ("9" * 10_000, "has a number that is too large"),
        (r'["a\ud83d"]', "has an invalid character (an unpaired surrogate)"),
        (r'{"\udc00": 1}', "has an invalid character (an unpaired surrogate)"),
    ],
)
def test_numbers_are_finite_and_texts_whole(text, reason):
    assert refusal(text) == reason


def test_large_numbers_are_read_as_they_are():
    values = [10**300, -1.5e300, float(f"0.{'3' * 40}"), 1e-320, 7]
    assert Reader().parse(json.dumps(values).encode()) == values
    assert Reader().parse(f"0.{'3' * 40}".encode()) == values[2]


def test_a_number_in_a_string_is_none():
    text = r'["1e999", "NaN", "\"1e999", "\\ud800", "\ud83e\udd99"]'
    assert Reader().parse(text.encode()) == ["1e999", "NaN", '"1e999', "\\ud800", "🦙"]
    assert Reader(refuse_surrogates=False).parse(rb'"\ud800"') == "\ud800"


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


def test_a_text_of_many_values_is_refused_before_they_are_made():
    text = b"[" + b"{}," * 3_000_000 + b"{}]"
    tracemalloc.start()
    assert refusal(text, most_values=1_000_000) == "has more than 1,000,000 values"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # As objects they would take 64 bytes each, and 8 in the list.
    assert peak < 10 * len(text)


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


def test_files_and_lines_have_a_size():
    reader = Reader(most_bytes=20, most_lines=3)
    assert reader.file(io.BytesIO(b" " * 16 + b"true")) is True
    with pytest.raises(Refused, match="has more than 20 bytes"):
        reader.file(io.BytesIO(b" " * 17 + b"true"))
    assert list(reader.lines(io.BytesIO("[1]\n\u2028\nx".encode()))) == [b"[1]\n", b"\xe2\x80\xa8\n", b"x"]
    with pytest.raises(Refused, match="has more than 3 lines"):
        next(reader.lines(io.BytesIO(b"1\n")))
    with pytest.raises(Refused, match="has a line of more than 20 bytes"):
        next(Reader(most_bytes=20).lines(io.BytesIO(b"x" * 10**6)))


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
