"""What transformers computes, to compare with."""

import random

import torch
import transformers as hf

from duoviz.models.llama_config import context_of
from duoviz.models.transformers_model import TransformersModel
from tests.tiny import VOCABULARY, exact

TOLERANCE = 1e-9

SHAPE = dict(
    vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.35,
)  # fmt: skip

YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 64}

LLAMA3 = {"rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0, "original_max_position_embeddings": 32}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}

LINEAR = {"rope_type": "linear", "rope_theta": 10_000.0, "factor": 2.0}

# Matrices of several panels, the last of which is not full, and heads of more than one panel.
UNEVEN = dict(hidden_size=112, intermediate_size=72, num_attention_heads=10, num_key_value_heads=2, head_dim=40)

FAMILIES = {
    "llama": hf.LlamaConfig(**SHAPE),
    "llama with biases": hf.LlamaConfig(**SHAPE, attention_bias=True, mlp_bias=True),
    "llama, tied": hf.LlamaConfig(**SHAPE, tie_word_embeddings=True),
    "llama, llama3 rotary": hf.LlamaConfig(**SHAPE, rope_parameters=LLAMA3),
    "llama, linear rotary": hf.LlamaConfig(**SHAPE, rope_parameters=LINEAR),
    "mistral": hf.MistralConfig(**SHAPE, head_dim=16, sliding_window=None),
    "qwen2": hf.Qwen2Config(**SHAPE),
    "qwen2, yarn": hf.Qwen2Config(**SHAPE, rope_parameters=YARN),
    "qwen3": hf.Qwen3Config(**SHAPE, head_dim=16),
    "qwen3, uneven": hf.Qwen3Config(**SHAPE | UNEVEN),
}

TOKENS = dict(vocab_size=VOCABULARY, initializer_range=0.3, bos_token_id=0, eos_token_id=1)
HIDDEN = dict(**TOKENS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)

# Families that the lean decoder does not do.
OTHERS = {
    "gpt-neox": hf.GPTNeoXConfig(**HIDDEN, max_position_embeddings=64),
    "gpt-2": hf.GPT2Config(**TOKENS, n_embd=32, n_layer=2, n_head=4, n_positions=64),
}


def exact_model(family):
    """A tiny model of transformers in float64."""
    torch.manual_seed(3)
    model = exact(hf.AutoModelForCausalLM.from_config(FAMILIES[family]))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                parameter += 0.3 * torch.randn_like(parameter)
    return model


def other_model(config):
    torch.manual_seed(0)
    return hf.AutoModelForCausalLM.from_config(config).double().eval()


def wrapped(reference, **options):
    return TransformersModel(
        reference, precision="float64", label="tiny", context_limit=context_of(reference.config.to_dict()), **options
    )


def expected(reference, ids):
    with torch.no_grad():
        return reference(torch.tensor([ids])).logits[0]


def random_ids(count):
    return torch.randint(2, VOCABULARY, (count,), generator=torch.Generator().manual_seed(0)).tolist()


def close(a, b):
    return torch.allclose(a, b, rtol=0, atol=TOLERANCE)


def wander(model, follows, text, *, seed):
    """Let random trees grow on a text; of each a path is kept with what grows below it, or the text's end is cropped.

    follows: whether these logits are right after a path, while so much of it is a chain.
    """
    chance = random.Random(seed)
    for _ in range(6):
        root = model.length - 1
        paths, slots = {root: text}, {root: []}
        for _ in range(3):
            parents, start = [chance.choice(list(paths)) for _ in range(2)], model.length
            tokens = [chance.randrange(2, 6) for _ in parents]
            for slot, logits in enumerate(model.forward(tokens, parents=parents), start):
                token, parent = tokens[slot - start], parents[slot - start]
                paths[slot], slots[slot] = [*paths[parent], token], [*slots[parent], slot]
                assert follows(logits, text, paths[slot])
        if chance.random() < 0.5:
            kept = chance.choice([slot for slot in paths if slot != root])
            below = [slot for slot in paths if kept in slots[slot] and slot != kept]
            model.keep(slots[kept], below)
            text = paths[kept]
            for slot, old in enumerate(below, len(text)):
                assert follows(model.forward([3], parents=[slot])[0], text, [*paths[old], 3])
        else:
            text = text[: len(text) - chance.randrange(3)]
        model.crop(len(text))
        text = [*text, 3]
        assert follows(model.forward([3])[0], text, text)
