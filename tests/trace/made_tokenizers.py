"""Tokenizers of every kind of decoder, made from a few tokens."""

import os

import transformers as hf
from tokenizers import AddedToken, Tokenizer, decoders, models
from transformers.convert_slow_tokenizer import bytes_to_unicode

from duoviz.models import tokenizers

SPECIAL = ["<s>", "</s>", "<tool>"]
WORDS = [*"a the cat n v r s t m ve ' n't テキスト é \ufffd . , ?".split(), "\n"]
SENTENCEPIECE = [*WORDS, *("▁" + word for word in WORDS), "▁", "▁▁▁", "a▁"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
TEXT = "Tom said: 'ကမ္ဘာ テキスト 😀 né' can't. "


def byte_level():
    """Tokens of any one to four bytes of a text, so that most begin and end within characters."""
    signs, data = bytes_to_unicode(), TEXT.encode()
    slices = [data[at : at + length] for at in range(len(data)) for length in (1, 2, 3, 4)]
    return ["".join(signs[byte] for byte in each) for each in [*slices, b"\xff", b"\xf0", b"\xc3("]]


def llama_2():
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    return decoders.Sequence(parts)


KINDS = {
    "byte-level": (models.BPE, byte_level(), decoders.ByteLevel(), {}),
    "bytes as in Llama 2": (models.BPE, [*SENTENCEPIECE, *BYTES], llama_2(), {}),
    "bytes alone": (models.BPE, BYTES, llama_2(), {}),
    "bytes, Metaspace": (
        models.BPE, [*SENTENCEPIECE, *BYTES],
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")]), {},
    ),
    "Metaspace": (models.BPE, SENTENCEPIECE, decoders.Metaspace(), {}),
    "Unigram": (models.Unigram, SENTENCEPIECE, decoders.Metaspace(), {"clean_up_tokenization_spaces": True}),
    "WordPiece": (models.WordPiece, [*WORDS, *("##" + word for word in WORDS)], decoders.WordPiece(), {}),
    "suffixes": (models.BPE, [*WORDS, *(word + "</w>" for word in WORDS)], decoders.BPEDecoder(), {}),
    "no decoder": (models.WordLevel, WORDS, None, {}),
    "bytes, in Python": (),
}  # fmt: skip


def made(kind):
    """Our tokenizer of this kind."""
    if not KINDS[kind]:
        return tokenizers.Tokenizer(hf.ByT5Tokenizer(), kind)
    model, words, decoder, options = KINDS[kind]
    words = list(dict.fromkeys(words))
    if model is models.Unigram:
        inner = Tokenizer(model([(word, 0.0) for word in words], unk_id=None))
    else:
        vocabulary = {word: id for id, word in enumerate(words)}
        inner = Tokenizer(model(vocabulary, merges=[]) if model is models.BPE else model(vocabulary, unk_token="the"))
    if decoder:
        inner.decoder = decoder
    # Tokenizers have special tokens that transformers does not list.
    inner.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
    return tokenizers.Tokenizer(hf.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>", **options), kind)


def added(tokenizer, prompt, ids):
    """What the ids add to the prompt's text."""
    before, after = (tokenizer.decode(each, skip_special_tokens=True) for each in (prompt, prompt + ids))
    return after[len(os.path.commonprefix([before, after])) :]
