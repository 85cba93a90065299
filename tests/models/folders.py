"""Folders of tiny models, as a download leaves them, and pairs of two of them that can decode."""

import json
from functools import partial

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from duoviz import runs
from duoviz.decoding.engine import Engine
from duoviz.decoding.placement import Placement
from duoviz.models.files import look_into
from duoviz.models.load import load_model
from tests.callers_draft import CallersDraft
from tests.tiny import give_costs, tiny_engine, traced

TEXT = ["the cat sat on the mat", "a dog ran over the hill and saw the cat", "rivers flow into the sea", "sun and rain"]
TEMPLATE = "{% for message in messages %}user {{ message['content'] }} {% endfor %}"
SHAPE = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
             max_position_embeddings=256)  # fmt: skip
SHORT = dict(n_layer=2, n_head=4)


def tokenizer(*, words=50, template=TEMPLATE):
    """A real tokenizer, trained on a few lines."""
    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=words, special_tokens=["<unk>", "<s>", "</s>"]))
    made = hf.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    made.chat_template = template
    return made


def model(config, seed=0, **shape):
    """A model of a kind of config, with random weights."""
    torch.manual_seed(seed)
    return hf.AutoModelForCausalLM.from_config(config(**dict(vocab_size=60, initializer_range=0.3) | shape))


llama = partial(model, hf.LlamaConfig, **SHAPE, num_key_value_heads=2)
neox = partial(model, hf.GPTNeoXConfig, **SHAPE)
bloom = partial(model, hf.BloomConfig, hidden_size=64, **SHORT)
gpt2 = partial(model, hf.GPT2Config, n_embd=64, n_positions=256, **SHORT)


def folder(path, model, made=None):
    """A model's folder."""
    model.save_pretrained(path)
    (made or tokenizer()).save_pretrained(path)
    return path


def loaded(path, precision="float32", **options):
    """The model in a folder."""
    return load_model(look_into(path, "tiny"), precision=precision, **options)


def set_config(base, **changes):
    """Change fields of a folder's config.json."""
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(json.dumps(config | changes))


def ready(pair):
    """An engine of the pair, with its draft in this thread and made-up costs."""
    engine, tiny = Engine(pair, draft=CallersDraft(pair.draft.load())), tiny_engine()
    give_costs(engine, tiny.known_costs(Placement(True, tiny.pair.cores.target)).model)
    return engine


def texts(engine, prompt, *, tokens=8):
    """The token ids that vanilla and DuoDecoding write."""
    methods = ("vanilla", "duodecoding")
    return [runs.summary(traced(engine, method, prompt, max_new_tokens=tokens))["token_ids"] for method in methods]
