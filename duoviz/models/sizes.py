"""How large the embedded pair's models are, and what the draft learnt from, in words."""

import json
from math import prod

from duoviz import __version__
from duoviz.folders import ASSETS
from duoviz.models.embedded import TARGET_LABEL

DRAFT = ASSETS / "draft"
OUR_DRAFT = "duoviz draft"
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
        f"{numbers / 1e6:.0f} million parameters in {config['num_hidden_layers']} layers, distilled from the target "
        f"on {tokens / 1e6:.0f} million tokens of the target's own text"
    )


def pair_in_words() -> str:
    """Both models of the embedded pair."""
    return (
        f"The target is SmolLM2-135M-Instruct, in float32 (converted from 4-bit weights): {target_size()}. "
        f"The draft is ours, in int8: {draft_size()}."
    )


def sizes_in_words(environment: dict) -> list[str]:
    """Of results the embedded models' sizes; of another version's draft is known only that it is another one."""
    models, version = environment["models"], environment["versions"].get("duoviz")
    said = [f"The target has {target_size()}."] if models["target"] == TARGET_LABEL else []
    if models["draft"].startswith(OUR_DRAFT):
        draft = f"has {draft_size()}" if version == __version__ else f"is that of duoviz {version}"
        said.append(f"The draft {draft}.")
    return said
