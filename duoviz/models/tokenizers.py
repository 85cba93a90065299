"""The tokenizer of a pair: loading it, and whether the draft has the same."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from duoviz.errors import UserError
from duoviz.models import bounds
from duoviz.models.files import ModelFiles, read_json
from duoviz.models.llama_config import OUR_KIND
from duoviz.outside import is_text

# sha256 of the vocabulary that the embedded draft was trained with; see `fingerprint`.
EMBEDDED_VOCABULARY = "33b7dd0ab4327c920591a9b8d479821d62d9585690dabe107eff2c8b8892cf23"

# So many of the last texts of tokens are kept: runs write the same ones again.
KEPT = 4096

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def tokenizer_class(folder: Path) -> Any:
    """transformers' class for the tokenizer in a folder."""
    import transformers

    file = folder / "tokenizer_config.json"
    name = read_json(file).get("tokenizer_class") if file.exists() else None
    # What AutoTokenizer would find for it, after an import that takes seconds.
    return transformers.TokenizersBackend if name == "TokenizersBackend" else transformers.AutoTokenizer


class Tokenizer:
    """One of transformers' tokenizers, as far as it is used here; what it does stays within `bounds`.

    Whatever fails in it raises UserError.
    """

    def __init__(self, inner: Any, label: str):
        self.inner, self.label = inner, label
        self.text_of = lru_cache(KEPT)(self.decode_anew)
        self.eos_token_id: int | None = inner.eos_token_id
        self.has_template = bool(inner.chat_template)
        # The tokens that stand for single bytes, where the vocabulary has such.
        ids = zip(BYTES, inner.convert_tokens_to_ids(BYTES), strict=True)
        self.byte_ids = frozenset(id for name, id in ids if id is not None and inner.convert_ids_to_tokens(id) == name)

    def get_vocab(self) -> dict[str, int]:
        return self.inner.get_vocab()

    def last_id(self) -> int:
        """The highest id that a text can have which names no added token."""
        added = self.inner.get_added_vocab()
        return max((id for token, id in self.get_vocab().items() if token not in added), default=-1)

    def __call__(self, text: str | list[str], *, add_special_tokens: bool = True) -> Any:
        """As the tokenizer's own call; only a text that names the BOS itself gets no second one."""
        with bounds.bounded(bounds.TEXT, f"The tokenizer of {self.label} cannot read this text"):
            read = self.inner(text, add_special_tokens=add_special_tokens)
        if add_special_tokens and read["input_ids"][:2] == [self.inner.bos_token_id] * 2:
            del read["input_ids"][0]
        return read

    def render(self, chat: Sequence[dict[str, str]]) -> str:
        """The chat's text in the model's template, up to where the answer begins.

        Some templates take a message's content as a list of parts alone.
        """
        parts = [message | {"content": [{"type": "text", "text": message["content"]}]} for message in chat]
        with bounds.bounded(bounds.TEXT, f"The chat template of {self.label} cannot be used"):
            for messages in (chat, parts):
                with suppress(Exception):
                    if chat[-1]["content"].strip() in (text := self.fill(messages)):
                        return text
            return self.fill(chat)

    def fill(self, messages: Sequence[dict[str, Any]]) -> str:
        """The template's text for these messages, where it is one."""
        text = self.inner.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        if not text.strip():
            raise ValueError("it writes nothing")
        if not is_text(text):
            raise ValueError("it writes an invalid character")
        return text

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        return self.text_of(tuple(ids), **options)

    def decode_anew(self, ids: tuple[int, ...], **options: Any) -> str:
        # Called for each token of a run: to bound its memory too would take longer than the call.
        with bounds.bounded(bounds.TEXT, f"The tokenizer of {self.label} cannot write its tokens", memory=False):
            # Where spaces before punctuation went, a token would change the text before it.
            return self.inner.decode(ids, clean_up_tokenization_spaces=False, **options)


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """The tokenizer in a model's folder. Raises UserError."""
    with bounds.bounded(bounds.LOADING, f"{files.label} has no tokenizer that can be read"):
        kind = tokenizer_class(files.folder)
        inner = kind.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
        if not inner.get_vocab():
            raise ValueError("it has no tokens")
        return Tokenizer(inner, files.label)


def fingerprint(vocabulary: dict[str, int]) -> str:
    """sha256 of a tokenizer's vocabulary, added tokens included, in hexadecimal."""
    return hashlib.sha256(json.dumps(vocabulary, sort_keys=True).encode()).hexdigest()


def known_tokens(tokenizer: Any, model: ModelFiles) -> dict[str, int]:
    """A tokenizer's vocabulary without the ids that the model has no logits for, such as that of an added [PAD]."""
    most = model.vocabulary
    return {token: id for token, id in tokenizer.get_vocab().items() if id < most}


def check_tokenizers(tokenizer: Any, target: ModelFiles, draft: ModelFiles) -> None:
    """Raise UserError unless every id of the target means the same token to both models; tokenizer: its."""
    mine = known_tokens(tokenizer, target)
    if draft.config.get("model_type") == OUR_KIND:
        if fingerprint(mine) != EMBEDDED_VOCABULARY:
            raise UserError(
                f"{draft.label} works only with SmolLM2's tokenizer, which {target.label} does not have: "
                "choose another draft."
            )
        return
    if mine != known_tokens(load_tokenizer(draft), target):
        raise UserError(
            f"The tokenizers of {target.label} and {draft.label} differ: choose a draft with the target's tokenizer."
        )
