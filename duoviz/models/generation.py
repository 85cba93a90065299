"""What a model says of how texts are generated: which ids end one, and settings that duoviz does not apply."""

from pathlib import Path
from typing import Any

from duoviz.models.checkpoint import read_json
from duoviz.outside import in_short

# What the config of a model of several parts calls the one that writes.
WRITERS = ("decoder", "generator", "text_config")
# The settings of transformers' `generate` that change a greedy text, with the value at which each does nothing.
NEUTRAL: dict[str, Any] = {
    "bad_words_ids": [],
    "begin_suppress_tokens": [],
    "dola_layers": "",
    "exponential_decay_length_penalty": [],
    "forced_eos_token_id": [],
    "guidance_scale": 1,
    "min_length": 0,
    "min_new_tokens": 0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "penalty_alpha": 0,
    "repetition_penalty": 1,
    "sequence_bias": [],
    "stop_strings": [],
    "suppress_tokens": [],
    "token_healing": False,
    "watermarking_config": {},
}


def generation_config(folder: Path) -> dict:
    """What transformers' `generate` goes by: config.json only where there is no generation_config.json."""
    if (file := folder / "generation_config.json").is_file():
        return read_json(file)
    config = read_json(folder / "config.json")
    part = next((config[name] for name in WRITERS if isinstance(config.get(name), dict)), {})
    stated = {name: value for name, value in config.items() if value is not None}
    return {"eos_token_id": part.get("eos_token_id")} | stated


def end_tokens(folder: Path, tokenizer: Any) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that transformers finds."""
    stated = generation_config(folder).get("eos_token_id")
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(id for id in (*ids, tokenizer.eos_token_id) if isinstance(id, int))


def unapplied(folder: Path, label: str) -> str:
    """A sentence about the settings that duoviz does not apply; "" where the model has none."""
    stated = generation_config(folder)
    found = {name: stated[name] for name, neutral in NEUTRAL.items() if stated.get(name) not in (None, neutral)}
    listed = ", ".join(f"{name} {in_short(value)}" for name, value in found.items())
    return listed and f"{label} sets {listed} for transformers' generate(): duoviz does not apply this."
