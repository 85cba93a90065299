"""The registry of (target, draft) pairs, and loading one."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import torch

from duoviz.models.checkpoint import (
    OUR_KIND,
    Checkpoint,
    first_line,
    one_sentence,
    read_config,
    read_json,
    weight_files,
)
from duoviz.models.copying import Copying
from duoviz.models.cores import Cores, available_cores, core_label, share_cores
from duoviz.models.embedded import DRAFT_FOLDER, TARGET_LABEL, embedded_target, sha256
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import load_llama
from duoviz.models.llama_config import LlamaConfig, is_lean
from duoviz.models.loading import ModelUnavailable, Progress, no_progress, part_of
from duoviz.models.memory import free_memory
from duoviz.outside import in_short, is_text

# In place of a model's name: the model that this project brings along.
EMBEDDED = "embedded"
OUR_DRAFT = "duoviz draft"
# sha256 of the vocabulary that the embedded draft was trained with; see `fingerprint`.
EMBEDDED_VOCABULARY = "33b7dd0ab4327c920591a9b8d479821d62d9585690dabe107eff2c8b8892cf23"
# The longest text, in tokens: a cache for all that a long-context model can read would fill the memory.
CONTEXT_LIMIT = 8192
# The most characters of a prompt for models that are not loaded: the longest token of most tokenizers has about 100.
LONGEST_PROMPT = CONTEXT_LIMIT * 256
VICUNA = "USER: {prompt} ASSISTANT:"
# Bytes of memory for each number of a model.
BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}


class PromptError(ValueError):
    """The prompt cannot be used; the message is a sentence for the user."""


def check_characters(count: int, most: int) -> None:
    """Raise PromptError for a prompt of more characters than any that can be read: to count its tokens takes long."""
    if count > most:
        raise PromptError(f"The prompt is too long: {count:,} characters, and the model reads {most:,} at most.")


class UnknownPair(ValueError):
    """There is no pair of this name; the message lists those that are."""


@dataclass(frozen=True)
class Models:
    """Which models make a pair: each the id of a model on the hub, a local folder, or `embedded`.

    gpu_precision: of the target on a GPU; on the CPU it is float32. prompt_format: how a user turn is
    written for a target whose tokenizer has no chat template; a base model goes on with the text.
    """

    target: str
    draft: str
    gpu_precision: str = "bfloat16"
    prompt_format: str = "{prompt}"


PAIRS: dict[str, Models] = {
    "embedded": Models(EMBEDDED, EMBEDDED, gpu_precision="float32"),
    "smollm2-1.7b": Models("HuggingFaceTB/SmolLM2-1.7B-Instruct", EMBEDDED),
    "smollm2-1.7b-135m": Models("HuggingFaceTB/SmolLM2-1.7B-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    "qwen2.5-7b": Models("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    "qwen2.5-1.5b": Models("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"),
    "llama-2-7b": Models("meta-llama/Llama-2-7b-hf", "double7/vicuna-68m"),
    "vicuna-7b": Models("lmsys/vicuna-7b-v1.5", "double7/vicuna-68m", prompt_format=VICUNA),
}


def find_pair(name: object) -> Models:
    """The pair of this name: one of PAIRS, or any two models as "TARGET + DRAFT". Raises UnknownPair."""
    is_name = is_text(name) and "\0" not in name
    if is_name and name in PAIRS:
        return PAIRS[name]
    models = [part.strip() for part in name.split(" + ")] if is_name else []
    if len(models) != 2 or not all(models):
        raise UnknownPair(
            f"There is no pair named {in_short(name)}; there are: {', '.join(PAIRS)}; any two models can be named as "
            '"TARGET + DRAFT", each the id of a model on the hub or a folder.'
        )
    return Models(*models)


def check_prompt(prompt: object, longest: int = LONGEST_PROMPT) -> None:
    """Raise PromptError for what is no text, a text of more than `longest` characters, or one without words."""
    if not isinstance(prompt, str):
        raise PromptError(f"The prompt must be a text, not {in_short(prompt)}.")
    if not is_text(prompt):
        raise PromptError("The prompt has half a character in it (a lone surrogate): type that character anew.")
    check_characters(len(prompt), longest)
    if not prompt.strip():
        raise PromptError("The prompt is empty: type something for the model to answer.")


class LoadDraft(Protocol):
    """Loads a pair's draft, on the CPU in its own precision unless it is told otherwise."""

    def __call__(self, *, device: str = ..., precision: str = ...) -> LanguageModel: ...


@dataclass
class Pair:
    """A loaded target, its tokenizer, and how to load its draft.

    load_draft: picklable, because the draft is loaded where it runs. draft_version: changes with the draft's
    weights. draft_folder: where they lie, None for a model made in memory. prompt_format: None where the tokenizer
    has a chat template, else see Models. memory: bytes that it was to take, by device. runtime: what decoding
    keeps with the pair (see `duoviz.decoding.runtime`).
    """

    name: str
    target: LanguageModel
    tokenizer: Any
    eos: frozenset[int]
    load_draft: LoadDraft
    draft_label: str
    draft_precision: str
    cores: Cores
    draft_version: str = ""
    draft_folder: Path | None = None
    prompt_format: str | None = None
    memory: dict[str, int] = field(default_factory=dict)
    runtime: Any = None

    @cached_property
    def longest_prompt(self) -> int:
        """How many characters a prompt may have: with more it has more tokens than the context holds."""
        return self.target.context_limit * max(map(len, self.tokenizer.get_vocab()))

    def encode(self, prompt: str, *, raw: bool = False, before: Sequence[tuple[str, str]] = ()) -> list[int]:
        """Token ids of a user turn, in the chat template or the pair's format, or of raw text. Raises PromptError.

        before: the conversation's earlier turns, as (what the user said, the answer).
        """
        check_prompt(prompt, self.longest_prompt)
        check_characters(len(prompt) + sum(len(said) + len(answer) for said, answer in before), self.longest_prompt)
        if self.prompt_format is not None and not raw:
            turns = [f"{self.prompt_format.format(prompt=said)} {answer}" for said, answer in before]
            ids = self.tokenizer(" ".join([*turns, self.prompt_format.format(prompt=prompt)]))["input_ids"]
        elif raw:
            text = "".join(said + answer for said, answer in before) + prompt
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        else:
            turns = [text for turn in before for text in turn] + [prompt]
            chat = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(turns)]
            ids = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"]
        limit = self.target.context_limit
        if len(ids) >= limit:
            raise PromptError(f"The prompt is too long: {len(ids):,} tokens, and the model's context holds {limit:,}.")
        return ids

    def target_device_label(self, cores: tuple[int, ...]) -> str:
        """What the target runs on, as the page calls it."""
        return core_label(cores) if self.target.device == "cpu" else torch.cuda.get_device_name(self.target.device)

    def draft_device_label(self) -> str:
        return core_label(self.cores.draft)


def target_device() -> str:
    """Where targets run: on the GPU where there is one. A draft runs there only where the two take turns."""
    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder, looked into: what it is called, its config, how many numbers its weights are."""

    label: str
    folder: Path
    config: dict
    parameters: int


def look_into(folder: Path, label: str) -> ModelFiles:
    """See ModelFiles. Raises ModelUnavailable for what shows before the weights are read."""
    config = read_config(folder)
    if "quantization_config" in config:
        raise ModelUnavailable(f"The weights of {label} are quantised, and only plain ones can be read.")
    if not weight_files(folder):
        raise ModelUnavailable(f"{label} has no safetensors weights, and no other kind is read.")
    with one_sentence(label):
        return ModelFiles(label, folder, config, Checkpoint(folder).parameters())


def local_folder(model: str) -> Path:
    """The folder of this name. Raises ModelUnavailable."""
    folder = os.path.expanduser(model)
    if not os.path.isdir(folder):
        raise ModelUnavailable(f"There is no folder {model}.")
    return Path(folder)


def find_files(model: str, progress: Progress) -> ModelFiles:
    """A model's files, fetched from the hub if need be. Raises ModelUnavailable."""
    if not is_on_hub(model):
        return look_into(local_folder(model), model)
    from duoviz.models.hub import fetch

    return look_into(fetch(model, progress), model)


def find_target(model: str, progress: Progress) -> ModelFiles:
    """The target's files; see `find_files`."""
    return look_into(embedded_target(progress), TARGET_LABEL) if model == EMBEDDED else find_files(model, progress)


def find_draft(model: str, progress: Progress) -> ModelFiles:
    """The draft's files; see `find_files`."""
    return look_into(DRAFT_FOLDER, OUR_DRAFT) if model == EMBEDDED else find_files(model, progress)


def fetch_pair(name: str, progress: Progress = no_progress) -> tuple[ModelFiles, ModelFiles]:
    """The files of a pair's target and draft, fetched if need be. Raises UnknownPair and ModelUnavailable."""
    models = find_pair(name)
    target = find_target(models.target, part_of(progress, 0.0, 0.8))
    return target, find_draft(models.draft, part_of(progress, 0.8, 0.96))


def context_of(source: ModelFiles) -> int:
    """How many tokens a model can read, CONTEXT_LIMIT at most."""
    if is_lean(source.config):
        return min(CONTEXT_LIMIT, LlamaConfig.from_dict(source.config).context_limit)
    known = source.config.get("max_position_embeddings") or source.config.get("n_positions")
    return min(CONTEXT_LIMIT, known or CONTEXT_LIMIT)


def vocabulary_of(source: ModelFiles) -> int:
    """How many tokens a model knows. Raises ModelUnavailable for what is no language model."""
    config = source.config.get("text_config") or source.config
    if "vocab_size" not in config:
        raise ModelUnavailable(f"{source.label} is no language model: its config names no vocab_size.")
    return config["vocab_size"]


def load_model(folder: Path, **options: Any) -> LanguageModel:
    """The model in a folder: by the lean decoder where it can, else by transformers.

    options: of `load_llama` and `load_transformers`, which take the same. A draft whose config has weights
    for `copying` copies too. Raises ModelUnavailable.
    """
    config = read_config(folder)
    if is_lean(config):
        model = load_llama(folder, **options)
        return Copying(model, config["copying"]) if "copying" in config else model
    from duoviz.models.transformers_model import load_transformers

    return load_transformers(folder, **options)


def tokenizer_class(folder: Path) -> Any:
    """transformers' class for the tokenizer in a folder."""
    try:
        named = read_json(folder / "tokenizer_config.json").get("tokenizer_class")
    except ModelUnavailable:
        named = None
    if named == "TokenizersBackend":
        # What AutoTokenizer would find for it, after an import that takes seconds.
        from transformers import TokenizersBackend

        return TokenizersBackend
    from transformers import AutoTokenizer

    return AutoTokenizer


def load_tokenizer(source: ModelFiles) -> Any:
    """The tokenizer in a model's folder. Raises ModelUnavailable."""
    try:
        return tokenizer_class(source.folder).from_pretrained(
            source.folder, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # a tokenizer's files are read by several libraries, each with errors of its own
        raise ModelUnavailable(f"{source.label} has no tokenizer that can be read ({first_line(error)}).") from error


def fingerprint(vocabulary: dict[str, int]) -> str:
    """sha256 of a tokenizer's vocabulary, added tokens included."""
    return hashlib.sha256(json.dumps(vocabulary, sort_keys=True).encode()).hexdigest()


def check_tokenizers(tokenizer: Any, target: ModelFiles, draft: ModelFiles) -> None:
    """Raise ModelUnavailable unless every id means the same token to both models."""
    mine = tokenizer.get_vocab()
    if draft.config.get("model_type") == OUR_KIND:
        if fingerprint(mine) != EMBEDDED_VOCABULARY:
            raise ModelUnavailable(
                f"{draft.label} knows SmolLM2's tokenizer only, and that of {target.label} is another one."
            )
        return
    theirs = load_tokenizer(draft).get_vocab()
    if mine != theirs:
        pairs = {(id, token) for token, id in mine.items()} ^ {(id, token) for token, id in theirs.items()}
        first = min(id for id, _ in pairs)
        tokens = [next((token for token, id in each.items() if id == first), None) for each in (mine, theirs)]
        told = ["no token" if token is None else repr(token) for token in tokens]
        raise ModelUnavailable(
            f"The tokenizers of {target.label} and {draft.label} differ (id {first} is {told[0]} in the first and "
            f"{told[1]} in the second), so the one cannot draft for the other."
        )


def end_tokens(target: ModelFiles, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text, by generation_config.json and by the tokenizer."""
    file = target.folder / "generation_config.json"
    named = read_json(file).get("eos_token_id") if file.is_file() else None
    several = named if isinstance(named, list) else [named]
    return frozenset(id for id in (*several, tokenizer.eos_token_id) if id is not None)


def version_of(draft: ModelFiles) -> str:
    """What changes with a draft's weights: the hash of a small file, the names, sizes and dates of large ones."""
    files = weight_files(draft.folder)
    if draft.folder == DRAFT_FOLDER:
        return sha256(*files, draft.folder / "config.json")[:16]
    seen = repr([(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def precisions(models: Models, draft: ModelFiles, device: str) -> tuple[str, str]:
    """The precision of the target and of the draft."""
    return "float32" if device == "cpu" else models.gpu_precision, "int8" if is_lean(draft.config) else "float32"


def memory_needs(models: Models, target: ModelFiles, draft: ModelFiles) -> dict[str, list[tuple[str, int]]]:
    """For each device the models that it is to hold, with the bytes that each needs.

    There are two of the draft: beside the target, and on the target's device for the methods that take turns.
    """
    device = target_device()
    precision, draft_precision = precisions(models, draft, device)
    need, beside = target.parameters * BYTES[precision], draft.parameters * BYTES[draft_precision]
    if device == "cpu":
        return {"cpu": [(target.label, need), (draft.label, 2 * beside)]}
    in_turn = draft.parameters * BYTES[precision]
    return {device: [(target.label, need), (draft.label, in_turn)], "cpu": [(draft.label, beside)]}


def check_fit(needs: Mapping[str, Sequence[tuple[str, int]]], spare: Mapping[str, int] | None = None) -> None:
    """Raise ModelUnavailable unless the models on each device, with the bytes that each needs, fit there together.

    spare: bytes on each device that will be given back before they are loaded.
    """
    for device, models in needs.items():
        labels, sizes = zip(*models, strict=True)
        free = free_memory(device)
        if free is not None and sum(sizes) > (free := free + (spare or {}).get(device, 0)):
            verb, where = "needs" if len(labels) == 1 else "need", "this machine" if device == "cpu" else "the GPU"
            raise ModelUnavailable(
                f"{' and '.join(labels)} {verb} {sum(sizes) / 1e9:.1f} GB of memory, and {where} has "
                f"{free / 1e9:.1f} GB free: choose a pair of smaller models."
            )


def outline(model: str) -> ModelFiles:
    """What a model is, before its weights are fetched. Raises ModelUnavailable."""
    if not is_on_hub(model):
        return look_into(local_folder(model), model)
    from duoviz.models import hub

    folder = hub.from_cache(model)
    return look_into(folder, model) if folder else ModelFiles(model, Path(), *hub.outline(model))


def check_room(name: str, spare: Mapping[str, int] | None = None) -> None:
    """Raise ModelUnavailable for a pair that does not exist or does not fit, before its weights are fetched.

    spare: the bytes on each device that will be given back before it is loaded. Raises UnknownPair.
    """
    models = find_pair(name)
    if models.target != EMBEDDED:
        draft = look_into(DRAFT_FOLDER, OUR_DRAFT) if models.draft == EMBEDDED else outline(models.draft)
        check_fit(memory_needs(models, outline(models.target), draft), spare)


def is_on_hub(model: str) -> bool:
    """Whether a name can only be that of a model on the hub."""
    looks_like_a_folder = re.match(r"[./~\\]", model) or model.count("/") > 1
    return model != EMBEDDED and not looks_like_a_folder and not os.path.isdir(os.path.expanduser(model))


def needs_the_hub(name: str) -> bool:
    """Whether a pair's models come from the hub. Raises UnknownPair."""
    models = find_pair(name)
    return is_on_hub(models.target) or is_on_hub(models.draft)


def load_pair(
    name: str = "embedded",
    progress: Progress = no_progress,
    sources: tuple[ModelFiles, ModelFiles] | None = None,
    *,
    begin: Callable[[LoadDraft, tuple[int, ...]], Any] | None = None,
) -> Pair:
    """Load a pair of the registry, or any two models named as "TARGET + DRAFT".

    The context of both is the shorter one of theirs, CONTEXT_LIMIT at most. An exception that
    `progress` raises ends the loading. sources: what `fetch_pair` gave, where it was called before.
    begin: gets `load_draft` and the draft's cores before the target is read, so that both load at once; what it
    gives, which has a `close()`, is the pair's runtime. Raises UnknownPair and ModelUnavailable.
    """
    models = find_pair(name)
    target, draft = sources or fetch_pair(name, progress)
    device = target_device()
    precision, draft_precision = precisions(models, draft, device)
    needs = memory_needs(models, target, draft)
    check_fit(needs)
    cores = share_cores(available_cores(), target_on_gpu=device != "cpu")
    limit = min(context_of(target), context_of(draft))
    options = {"precision": draft_precision, "label": f"{draft.label} ({draft_precision})", "context_limit": limit}
    load_draft = partial(load_model, draft.folder, **options, vocabulary=vocabulary_of(target))
    with ExitStack() as undo:
        runtime = begin and begin(load_draft, cores.draft)
        if runtime:
            undo.callback(runtime.close)
        progress(0.92, "Loading the tokenizer")
        tokenizer = load_tokenizer(target)
        check_tokenizers(tokenizer, target, draft)
        progress(0.94, "Loading the target model")
        loaded = load_model(target.folder, precision=precision, device=device, label=target.label, context_limit=limit)
        if (last := max(tokenizer.get_vocab().values())) >= loaded.vocab_size:
            raise ModelUnavailable(
                f"The tokenizer of {loaded.label} does not belong to its weights: it has the id {last}, "
                f"and they know {loaded.vocab_size:,} tokens."
            )
        undo.pop_all()
    return Pair(
        name=name,
        target=loaded,
        tokenizer=tokenizer,
        eos=end_tokens(target, tokenizer),
        load_draft=load_draft,
        draft_label=options["label"],
        draft_precision=draft_precision,
        cores=cores,
        draft_version=version_of(draft),
        draft_folder=draft.folder,
        prompt_format=None if tokenizer.chat_template else models.prompt_format,
        memory={device: sum(size for _, size in each) for device, each in needs.items()},
        runtime=runtime,
    )
