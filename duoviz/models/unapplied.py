"""What a model sets for transformers' `generate` that changes its greedy text, and that is not applied here."""

from pathlib import Path
from typing import Any

from duoviz.models.checkpoint import read_json
from duoviz.outside import in_short

# Each such setting with the value at which it does nothing, besides none at all.
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


def unapplied(folder: Path, label: str) -> str:
    """A sentence about these settings of a model; "" where it has none.

    transformers reads config.json only where there is no generation_config.json.
    """
    files = (folder / name for name in ("generation_config.json", "config.json"))
    stated = read_json(next(file for file in files if file.is_file()))
    found = {name: stated[name] for name, neutral in NEUTRAL.items() if stated.get(name) not in (None, neutral)}
    listed = ", ".join(f"{name} {in_short(value)}" for name, value in found.items())
    return listed and f"{label} sets {listed} for transformers' generate(): duoviz does not apply this."
