"""Datastores of random sequences, and what a plain search finds in them."""

import random

from duoviz.decoding.datastore import build_datastore
from duoviz.models.tokenizers import fingerprint
from tests.tiny import VOCABULARY, DigitTokenizer


class NamedDigits(DigitTokenizer):
    """A tokenizer that also takes several texts."""

    def __call__(self, text, add_special_tokens=False):
        if isinstance(text, str):
            return super().__call__(text)
        return {"input_ids": [super(NamedDigits, self).__call__(part)["input_ids"] for part in text]}


def build(sequences, out, *, vocabulary=VOCABULARY, **options):
    build_datastore(sequences, out, vocabulary=vocabulary, tokenizer=fingerprint(NamedDigits().get_vocab()), **options)
    return out


def random_sequences(seed, *, tokens=4):
    chance = random.Random(seed)
    return [[chance.randrange(tokens) for _ in range(chance.randrange(12))] for _ in range(30)]


def searched(sequences, text, *, longest, shortest, depth):
    """The length of the match, 0 without any, and the continuations in their order, by trying every place."""
    for n in range(min(longest, len(text)), shortest - 1, -1):
        ends = [(row, end) for row in sequences for end in range(n, len(row)) if row[end - n : end] == text[-n:]]
        if ends:
            return n, [row[end : end + depth] for row, end in ends]
    return 0, []
