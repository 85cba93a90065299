"""The tokenizer of a pair: loading it, and whether the draft has the same."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duoviz.errors import first_line
from duoviz.models import bounds
from duoviz.models.checkpoint import OUR_KIND, read_json
from duoviz.models.files import ModelFiles
from duoviz.models.progress import ModelUnavailable

# What the config of a model of several parts calls the one that writes.
WRITERS = ("decoder", "generator", "text_config")
# sha256 of the vocabulary that the embedded draft was trained with; see `fingerprint`.
EMBEDDED_VOCABULARY = "33b7dd0ab4327c920591a9b8d479821d62d9585690dabe107eff2c8b8892cf23"


def tokenizer_class(folder: Path) -> Any:
    """transformers' class for the tokenizer in a folder."""
    import transformers

    try:
        name = read_json(folder / "tokenizer_config.json").get("tokenizer_class")
    except ModelUnavailable:
        name = None
    # What AutoTokenizer would find for it, after an import that takes seconds.
    return transformers.TokenizersBackend if name == "TokenizersBackend" else transformers.AutoTokenizer


class Tokenizer:
    """One of transformers' tokenizers, as far as it is used here; what it does stays within `bounds`.

    Whatever fails in it raises ModelUnavailable.
    """

    def __init__(self, inner: Any, label: str):
        self.inner, self.label = inner, label
        self.eos_token_id: int | None = inner.eos_token_id
        self.has_template = bool(inner.chat_template)

    def get_vocab(self) -> dict[str, int]:
        return self.inner.get_vocab()

    def __call__(self, text: str | list[str], **options: Any) -> Any:
        with unless_broken(f"The tokenizer of {self.label} cannot read this text"), bounds.bounded(bounds.TEXT):
            return self.inner(text, **options)

    def render(self, chat: Sequence[dict[str, str]]) -> str:
        """The chat's text in the model's template, up to where the answer begins."""
        with unless_broken(f"The chat template of {self.label} cannot be used"), bounds.bounded(bounds.TEXT):
            return self.inner.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)

    def decode(self, ids: Sequence[int], **options: Any) -> str:
        # Called for each token of a run: to bound its memory too would take longer than the call.
        with unless_broken(f"The tokenizer of {self.label} cannot write its tokens"), bounds.timed(bounds.TEXT):
            return self.inner.decode(ids, **options)


@contextmanager
def unless_broken(sentence: str) -> Iterator[None]:
    """Raise ModelUnavailable, with the sentence and the reason, for whatever goes wrong in others' code."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # of several libraries, each with errors of its own; a panic is no Exception
        reason = "it takes too much memory" if isinstance(error, MemoryError) else first_line(error)
        raise ModelUnavailable(f"{sentence} ({reason}): choose another model.") from error


def load_tokenizer(files: ModelFiles) -> Tokenizer:
    """The tokenizer in a model's folder. Raises ModelUnavailable."""
    with unless_broken(f"{files.label} has no tokenizer that can be read"), bounds.bounded(bounds.LOADING):
        kind = tokenizer_class(files.folder)
        inner = kind.from_pretrained(files.folder, trust_remote_code=False, local_files_only=True)
    return Tokenizer(inner, files.label)


def fingerprint(vocabulary: dict[str, int]) -> str:
    """sha256 of a tokenizer's vocabulary, added tokens included, in hexadecimal."""
    return hashlib.sha256(json.dumps(vocabulary, sort_keys=True).encode()).hexdigest()


def check_tokenizers(tokenizer: Any, target: ModelFiles, draft: ModelFiles) -> None:
    """Raise ModelUnavailable unless every id means the same token to both models; tokenizer: the target's."""
    mine = tokenizer.get_vocab()
    if draft.config.get("model_type") == OUR_KIND:
        if fingerprint(mine) != EMBEDDED_VOCABULARY:
            raise ModelUnavailable(
                f"{draft.label} works only with SmolLM2's tokenizer, which {target.label} does not have: "
                "choose another draft."
            )
        return
    theirs = load_tokenizer(draft).get_vocab()
    if mine != theirs:
        first = min(id for _, id in mine.items() ^ theirs.items())
        one, other = (
            next((repr(token) for token, id in vocabulary.items() if id == first), "no token")
            for vocabulary in (mine, theirs)
        )
        raise ModelUnavailable(
            f"The tokenizers of {target.label} and {draft.label} differ (id {first} is {one} in the first and "
            f"{other} in the second), so they cannot be combined: choose another draft."
        )


def end_tokens(target: ModelFiles, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that transformers finds, which reads config.json only where
    there is no generation_config.json."""
    file = target.folder / "generation_config.json"
    if file.is_file():
        stated = read_json(file).get("eos_token_id")
    else:
        config = read_json(target.folder / "config.json")
        part = next((config[name] for name in WRITERS if isinstance(config.get(name), dict)), {})
        stated = part.get("eos_token_id") if config.get("eos_token_id") is None else config["eos_token_id"]
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(id for id in (*ids, tokenizer.eos_token_id) if isinstance(id, int))
