"""How large the embedded pair's models are, and what the draft learnt from, in words."""

import json
from math import prod

from duoviz import __version__
from duoviz.folders import ASSETS
from duoviz.models.embedded import TARGET_LABEL

DRAFT = ASSETS / "draft"
OUR_DRAFT, TARGET = "duoviz draft", "SmolLM2-135M-Instruct"
FEWER_BITS = "A target in int8 is faster without a draft than one in float32 with it."
# Of the target, which is fetched when it is first needed.
PARAMETERS, LAYERS = 134_515_008, 30


def target_size() -> str:
    return f"{PARAMETERS / 1e6:.0f} million parameters in {LAYERS} layers"


def draft_size() -> str:
    """Its size and its training, from its own files."""
    config, part = (json.loads((DRAFT / f"{name}.json").read_text()) for name in ("config", "training"))
    with (DRAFT / "model.safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    numbers = sum(prod(tensor["shape"]) for name, tensor in header.items() if name.endswith(".weight"))
    tokens = 0
    while part:
        tokens, part = tokens + part["recipe"]["tokens"], part.get("before")
    return (
        f"{numbers / 1e6:.0f} million parameters in {config['num_hidden_layers']} layers, distilled on "
        f"{tokens / 1e6:.0f} million tokens of the target's text"
    )


def pair_in_words() -> str:
    """Both models of the embedded pair."""
    return models_in_words(TARGET_LABEL, OUR_DRAFT, {"target": "float32", "draft": "int8"}, __version__)


def models_in_words(target: str, draft: str, precision: dict[str, str], version: str | None) -> str:
    """Both models by their labels, with sizes where they are the embedded ones; of another version's draft is known
    only that it is another one."""
    if target == TARGET_LABEL:
        target, stored, size = TARGET, " (unpacked from 4 bits)", f", {target_size()}"
    else:
        stored = size = ""
    if draft.startswith(OUR_DRAFT):
        draft = f"ours, {draft_size()}" if version == __version__ else f"that of duoviz {version}"
    return f"Target: {target} in {precision['target']}{stored}{size}. Draft: {draft}, in {precision['draft']}."
