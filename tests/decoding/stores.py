"""Datastores of random sequences, and pairs whose tokenizer has names."""

import random

from duoviz.decoding.datastore import build_datastore
from duoviz.models.tokenizers import fingerprint
from tests.tiny import VOCABULARY, DigitTokenizer, tiny_pair


class NamedDigits(DigitTokenizer):
    """A tokenizer with a vocabulary, which also takes several texts."""

    def get_vocab(self):
        return {f"<{id}>": id for id in range(VOCABULARY)}

    def __call__(self, text, add_special_tokens=False):
        if isinstance(text, str):
            return super().__call__(text)
        return {"input_ids": [super(NamedDigits, self).__call__(each)["input_ids"] for each in text]}


def named_pair(**options):
    pair = tiny_pair(**options)
    pair.tokenizer = NamedDigits()
    return pair


def build(sequences, out, *, vocabulary=VOCABULARY, **options):
    build_datastore(sequences, out, vocabulary=vocabulary, tokenizer=fingerprint(NamedDigits().get_vocab()), **options)
    return out


def random_sequences(seed, *, tokens=4):
    chance = random.Random(seed)
    return [[chance.randrange(tokens) for _ in range(chance.randrange(12))] for _ in range(30)]


def searched(sequences, text, *, longest, shortest, depth):
    """The length of the match, 0 without any, and the continuations, by trying every place."""
    for n in range(min(longest, len(text)), shortest - 1, -1):
        places = [(each, end) for each in sequences for end in range(n, len(each)) if each[end - n : end] == text[-n:]]
        if places:
            return n, sorted(each[end : end + depth] for each, end in places)
    return 0, []
