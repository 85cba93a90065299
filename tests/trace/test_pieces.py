"""A run's texts, token by token: joined, they are what the tokenizer makes of all tokens."""

import random

import pytest
from transformers.convert_slow_tokenizer import bytes_to_unicode

from duoviz.trace.record import BROKEN, WINDOW, TextPieces
from tests.trace.made_tokenizers import KINDS, added, made


def drawn(chance, most, tokens):
    """Random ids, of which some come often, and some many times in a row."""
    often = [chance.randrange(most) for _ in range(3)]
    ids = []
    while len(ids) < tokens:
        id = chance.choice(often) if chance.random() < 0.3 else chance.randrange(most)
        ids += [id] * (chance.randrange(1, 2 * WINDOW) if chance.random() < 0.05 else 1)
    return ids[:tokens]


def runs(tokenizer, *, seeds):
    """Random prompts and answers."""
    # Models have ids that no token has; only Python's tokenizers mind.
    most = len(tokenizer.get_vocab()) + 2 * tokenizer.inner.is_fast
    for chance in map(random.Random, range(seeds)):
        yield tuple(drawn(chance, most, chance.randrange(tokens)) for tokens in (40, 200))


@pytest.mark.parametrize("kind", KINDS)
def test_the_pieces_are_what_all_tokens_add_to_the_prompt(kind):
    tokenizer = made(kind)
    for prompt, ids in runs(tokenizer, seeds=25):
        pieces = TextPieces(tokenizer, prompt)
        texts = [pieces.push(id) for id in ids]
        assert "".join([*texts, pieces.flush()]) == added(tokenizer, prompt, ids), (prompt, ids)


class Counting:
    """A tokenizer that notes how many tokens it is given to decode."""

    def __init__(self, inner):
        self.inner, self.counts = inner, []

    def decode(self, ids, **options):
        self.counts.append(len(ids))
        return self.inner.decode(ids, **options)


@pytest.mark.parametrize("kind", ["byte-level", "Metaspace", "WordPiece"])
def test_only_a_broken_end_waits_and_few_tokens_are_decoded(kind):
    tokenizer = Counting(made(kind))
    for prompt, ids in runs(tokenizer.inner, seeds=3):
        pieces, text = TextPieces(tokenizer, prompt), ""
        for count, id in enumerate(ids, 1):
            text += pieces.push(id)
            assert added(tokenizer.inner, prompt, ids[:count]) in (text, text + BROKEN)
    assert sum(tokenizer.counts) / len(tokenizer.counts) < WINDOW and max(tokenizer.counts) < 8 * WINDOW


def test_tokens_that_end_one_character_and_begin_the_next():
    tokenizer = made("byte-level")
    signs, data = bytes_to_unicode(), "ကမ္ဘာ".encode()
    parts = [data[:2], *(data[at : at + 3] for at in range(2, len(data) - 1, 3)), data[-1:]]
    ids = tokenizer.inner.convert_tokens_to_ids(["".join(signs[byte] for byte in part) for part in parts])
    pieces = TextPieces(tokenizer)
    assert [pieces.push(id) for id in ids] == ["", *"ကမ္ဘာ"]


SPACES = {
    "bytes as in Llama 2": (["▁the", "<0x0A>"], ["▁▁▁", "▁cat", "</s>", "<tool>", "▁the"]),
    "bytes, Metaspace": (["▁the", "<0x0A>"], ["▁▁▁", "▁cat", "</s>", "<tool>", "▁the"]),
    "Metaspace": (["▁the", "\n"], ["▁▁▁", "▁cat", "</s>", "<tool>", "▁the"]),
}


@pytest.mark.parametrize("kind", SPACES)
def test_no_space_is_dropped_within_a_text(kind):
    tokenizer = made(kind)
    prompt, ids = (tokenizer.inner.convert_tokens_to_ids(names) for names in SPACES[kind])
    pieces = TextPieces(tokenizer, prompt)
    assert [pieces.push(id) for id in ids] == ["   ", " cat", "", "", " the"]
    # Nor after a prompt that is long, or of special tokens alone.
    pieces = TextPieces(tokenizer, 9 * prompt + 20 * ids[2:4])
    assert [pieces.push(id) for id in ids] == ["   ", " cat", "", "", " the"]


@pytest.mark.parametrize("kind, prompt, ids, texts", [
    ("bytes as in Llama 2", ["▁cat", "<0xE3>"], ["<0x83>", "<0x86>", "."], ["", "", "テ."]),
    ("bytes as in Llama 2", ["▁cat", "<0xC3>", "<0xA9>"], ["<0xFF>", "."], ["", 3 * BROKEN + "."]),
    ("Unigram, cleaned", ["▁cat", "▁"], [".", "▁the"], [".", " the"]),
])  # fmt: skip
def test_where_the_prompts_text_goes_on_otherwise_both_differ(kind, prompt, ids, texts):
    tokenizer = made(kind)
    prompt, ids = map(tokenizer.inner.convert_tokens_to_ids, (prompt, ids))
    pieces = TextPieces(tokenizer, prompt)
    assert [pieces.push(id) for id in ids] == texts
    assert "".join(texts) == added(tokenizer, prompt, ids)


class ByteTokenizer:
    """Token n is the byte n; broken characters decode to U+FFFD, 0 is special."""

    def decode(self, ids, skip_special_tokens=True):
        return bytes(id for id in ids if id or not skip_special_tokens).decode(errors="replace")


def pieces(data):
    maker = TextPieces(ByteTokenizer())
    texts = [maker.push(byte) for byte in data]
    return [*texts, maker.flush()]


def test_split_characters_belong_to_the_token_that_completes_them():
    assert pieces("aé€😀b".encode()) == ["a", "", "é", "", "", "€", "", "", "", "😀", "b", ""]


def test_broken_bytes_and_an_unfinished_end_lose_nothing():
    for data in (b"a\xff\xfe\xfd\xfc\xfbz", b"ab\xe2\x82", b"\xe2\x82a\xff", b""):
        assert "".join(pieces(data)) == data.decode(errors="replace")


def test_special_tokens_have_no_text():
    assert pieces(b"a\0b") == ["a", "", "b", ""]
