"""The registry, and loading pairs of tiny models from folders."""

import json
import shutil
from dataclasses import replace
from functools import partial

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from duoviz import runner
from duoviz.decoding.draft_worker import InlineDraft
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.models import hub, pairs
from duoviz.models.copying import Copying
from duoviz.models.embedded import DRAFT_FOLDER
from duoviz.models.loading import ModelUnavailable
from duoviz.models.pairs import PAIRS, Models, PromptError, UnknownPair, find_pair, load_pair
from tests.tiny import tiny_pair

TEXT = ["the cat sat on the mat", "a dog ran over the hill and saw the cat", "rivers flow into the sea", "sun and rain"]
TEMPLATE = "{% for message in messages %}user {{ message['content'] }} {% endfor %}"
SHAPE = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, initializer_range=0.3)


def tokenizer(*, words=50, template=TEMPLATE):
    """A real tokenizer, trained on a few lines."""
    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=words, special_tokens=["<unk>", "<s>", "</s>"]))
    made = hf.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    made.chat_template = template
    return made


def llama(seed=0, tokens=60, context=256):
    torch.manual_seed(seed)
    shape = SHAPE | dict(num_key_value_heads=2, max_position_embeddings=context)
    return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=tokens, **shape))


def neox(seed=0, tokens=60):
    torch.manual_seed(seed)
    return hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(vocab_size=tokens, **SHAPE, max_position_embeddings=256))


def bloom():
    torch.manual_seed(0)
    config = hf.BloomConfig(vocab_size=60, hidden_size=64, n_layer=2, n_head=4, initializer_range=0.3)
    return hf.BloomForCausalLM(config)


def folder(path, model, made=None):
    """A model's folder, as a download leaves it."""
    model.save_pretrained(path)
    (made or tokenizer()).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two models that share a tokenizer."""
    base = tmp_path_factory.mktemp("models")
    return folder(base / "target", llama(0)), folder(base / "draft", llama(1))


def ready(pair):
    """The pair with its draft in this thread and made-up costs."""
    made_up = tiny_pair()
    runtime(pair).draft = InlineDraft(pair.load_draft())
    runtime(pair).costs["costs"] = runtime(made_up).costs["costs"]
    return pair


def texts(pair, prompt, *, tokens=8):
    """The token ids that vanilla and DuoDecoding write."""
    settings = Settings(max_new_tokens=tokens)
    return [
        runner.summary(runner.collect(runner.stream(pair, method, prompt, settings)))["token_ids"]
        for method in ("vanilla", "duodecoding")
    ]


@pytest.mark.parametrize(
    "make_target, make_draft, precision",
    [
        (llama, partial(llama, 1), "int8"),
        (llama, partial(llama, 1, tokens=90), "int8"),
        (partial(llama, tokens=64), partial(llama, 1), "int8"),
        (neox, partial(neox, 0), "float32"),
        (llama, partial(neox, 1, tokens=90), "float32"),
        (bloom, bloom, "float32"),
    ],
    ids=["llama", "the draft knows more ids", "the draft knows fewer ids", "transformers", "mixed", "chains only"],
)
def test_any_two_folders_make_a_pair(make_target, make_draft, precision, tmp_path):
    target, draft = folder(tmp_path / "a", make_target()), folder(tmp_path / "b", make_draft())
    told = []
    pair = ready(load_pair(f"{target} + {draft}", lambda *update: told.append(update)))
    assert pair.target.precision == "float32" and pair.target.label == str(target)
    assert pair.draft_precision == precision and pair.draft_label == f"{draft} ({precision})"
    assert runtime(pair).draft.loop.model.vocab_size <= pair.target.vocab_size
    for prompt in TEXT[:3]:
        vanilla, duo = texts(pair, prompt)
        assert vanilla and vanilla == duo
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)


def test_a_draft_whose_config_has_weights_for_copying_copies(two, tmp_path):
    target, plain = two
    draft = shutil.copytree(plain, tmp_path / "draft")
    config = json.loads((draft / "config.json").read_text())
    (draft / "config.json").write_text(json.dumps(config | {"copying": [0.1, 0.6]}))
    pair = ready(load_pair(f"{target} + {draft}"))
    copying = runtime(pair).draft.loop.model
    assert isinstance(copying, Copying) and copying.weights == [[0.1, 0.6]] * 3
    assert not isinstance(pair.target, Copying)
    vanilla, duodecoding = texts(pair, "the cat sat on the mat")
    assert vanilla == duodecoding


def test_a_context_that_transformers_names_otherwise(tmp_path):
    config = hf.GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=4, n_positions=24)
    pair = load_pair(f"{folder(tmp_path / 'a', llama())} + {folder(tmp_path / 'b', hf.GPT2LMHeadModel(config))}")
    assert pair.target.context_limit == 24


@pytest.mark.parametrize("contexts", [(256, 24), (24, 256)])
def test_the_shorter_context_is_that_of_both(contexts, tmp_path):
    target, draft = (
        folder(tmp_path / name, llama(context=context)) for name, context in zip("ab", contexts, strict=True)
    )
    pair = ready(load_pair(f"{target} + {draft}"))
    pair.eos = frozenset()
    assert pair.target.context_limit == runtime(pair).draft.loop.model.context_limit == 24
    prompt = TEXT[0]
    vanilla, duo = texts(pair, prompt, tokens=100)
    assert vanilla == duo and len(pair.encode(prompt)) + len(duo) == 24


def test_the_cache_of_a_long_context_is_cut(tmp_path):
    long = folder(tmp_path / "long", llama(context=131_072))
    pair = load_pair(f"{long} + {long}")
    assert pair.target.context_limit == pair.load_draft().context_limit == pairs.CONTEXT_LIMIT == 8192


def test_the_registry():
    assert list(PAIRS)[0] == "embedded" and PAIRS["embedded"] == Models("embedded", "embedded", "float32")
    assert find_pair("qwen2.5-7b").gpu_precision == "bfloat16"
    assert find_pair("a/b + embedded") == Models("a/b", "embedded")


@pytest.mark.parametrize("name", ["nobody", "a + b + c", " + b", "a+b", ""])
def test_an_unknown_name_tells_what_can_be_named(name):
    with pytest.raises(UnknownPair, match=r"embedded, smollm2-1.7b, .*TARGET \+ DRAFT"):
        find_pair(name)


@pytest.mark.parametrize(
    "prompt_format, expected", [("USER: {prompt} ASSISTANT:", "USER: hi {x} ASSISTANT:"), (None, "")]
)
def test_a_pairs_own_prompt_format(prompt_format, expected):
    pair = replace(tiny_pair(), prompt_format=prompt_format)
    assert pair.encode("hi {x}") == pair.tokenizer(expected or "hi {x}")["input_ids"]
    assert pair.encode("hi {x}", raw=True) == pair.tokenizer("hi {x}")["input_ids"]


def test_a_base_model_goes_on_with_the_text(tmp_path):
    base = folder(tmp_path / "base", llama(), tokenizer(template=None))
    pair = load_pair(f"{base} + {base}")
    assert pair.encode("the cat") == pair.tokenizer("the cat")["input_ids"]


def test_a_chat_template_is_used(two):
    pair = load_pair(f"{two[0]} + {two[1]}")
    assert pair.encode("the cat") == pair.tokenizer("user the cat ", add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("named, expected", [(5, {2, 5}), ([5, 6], {2, 5, 6}), (None, {2})])
def test_what_ends_a_text(named, expected, tmp_path):
    base = folder(tmp_path / "base", llama())
    (base / "generation_config.json").write_text(json.dumps({"eos_token_id": named}))
    assert load_pair(f"{base} + {base}").eos == expected
    (base / "generation_config.json").unlink()
    assert load_pair(f"{base} + {base}").eos == {2}


def test_the_drafts_version_changes_with_its_weights(two, tmp_path):
    version = load_pair(f"{two[0]} + {two[1]}").draft_version
    assert version and load_pair(f"{two[0]} + {two[1]}").draft_version == version
    other = folder(tmp_path / "other", llama(7))
    assert load_pair(f"{two[0]} + {other}").draft_version != version


def test_tokenizers_that_differ(two, tmp_path):
    made = tokenizer()
    made.add_tokens(["<new>"])
    other = folder(tmp_path / "other", llama(), made)
    last = len(made) - 1
    with pytest.raises(
        ModelUnavailable, match=f"differ \\(id {last} is no token in the first and '<new>' in the second"
    ):
        load_pair(f"{two[0]} + {other}")
    short = folder(tmp_path / "short", llama(), tokenizer(words=40))
    with pytest.raises(ModelUnavailable, match="differ .id 40 is '.*' in the first and no token in the second"):
        load_pair(f"{two[0]} + {short}")


def test_drafts_that_were_trained_here_want_the_embedded_tokenizer(two, tmp_path):
    own = shutil.copytree(DRAFT_FOLDER, tmp_path / "own")
    for draft, label in (("embedded", "duoviz draft"), (own, own)):
        with pytest.raises(ModelUnavailable, match=f"{label} knows SmolLM2's tokenizer only"):
            load_pair(f"{two[0]} + {draft}")


def test_drafts_that_were_trained_here_draft_for_a_target_with_their_vocabulary(two, monkeypatch, tmp_path):
    monkeypatch.setattr(pairs, "EMBEDDED_VOCABULARY", pairs.fingerprint(tokenizer().get_vocab()))
    own = shutil.copytree(DRAFT_FOLDER, tmp_path / "own")
    for draft, folder, label in (("embedded", DRAFT_FOLDER, "duoviz draft"), (own, own, own)):
        pair = load_pair(f"{two[0]} + {draft}")
        assert pair.draft_label == f"{label} (int8)"
        known = pair.load_draft().known
        # Of the ids that its head knows, those that the target has.
        assert pair.load_draft.args == (folder,) and len(known) > 0 and known.max() < 60


def test_a_tokenizer_with_more_ids_than_the_weights(tmp_path):
    base = folder(tmp_path / "base", llama(tokens=30))
    with pytest.raises(ModelUnavailable, match="has the id 49, and they know 30 tokens"):
        load_pair(f"{base} + {base}")


def spoil(base, fault):
    """Damage a model's folder."""
    weights = base / "model.safetensors"
    match fault:
        case "no config":
            (base / "config.json").unlink()
        case "damaged config":
            (base / "config.json").write_text("{")
        case "nested config":
            (base / "config.json").write_text('{"a":' * 100_000)
        case "many kinds":
            (base / "config.json").write_text('{"model_type": ["llama"]}')
        case "unknown kind":
            (base / "config.json").write_text('{"model_type": "abacus"}')
        case "impossible config":
            (base / "config.json").write_text('{"model_type": "llama", "hidden_size": "wide"}')
        case "no words":
            config = json.loads((base / "config.json").read_text())
            del config["vocab_size"]
            (base / "config.json").write_text(json.dumps(config | {"model_type": "vit"}))
        case "quantised":
            config = json.loads((base / "config.json").read_text())
            (base / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": "gptq"}}))
        case "no weights":
            weights.rename(base / "pytorch_model.bin")
        case "cut short":
            weights.write_bytes(weights.read_bytes()[:-100])
        case "damaged weights":
            weights.write_bytes(b"\0" * 1000)
        case "a file of several is missing":
            (base / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1-of-2.safetensors"}}')
        case "weights of another width":
            config = json.loads((base / "config.json").read_text())
            (base / "config.json").write_text(json.dumps(config | {"head_dim": 24}))
        case "a table of another width" | "fewer words than the config says":
            tensors = load_file(weights)
            table = "model.embed_tokens.weight" if fault == "a table of another width" else "lm_head.weight"
            tensors[table] = tensors[table][:, :-1] if fault == "a table of another width" else tensors[table][:-1]
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, weights)
        case "heads that cannot be shared":
            config = json.loads((base / "config.json").read_text())
            (base / "config.json").write_text(json.dumps(config | {"num_key_value_heads": 3}))
        case "no tokenizer":
            for file in base.glob("tokenizer*"):
                file.unlink()
        case "damaged tokenizer":
            (base / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize("side", ["target", "draft"])
@pytest.mark.parametrize(
    "fault, sentence",
    [
        ("no config", "There is no model in .*config.json"),
        ("damaged config", "config.json is damaged"),
        ("nested config", "config.json is damaged"),
        ("many kinds", "does not know: \\['llama'\\]"),
        ("unknown kind", "transformers .* does not know: abacus"),
        ("impossible config", "config.json cannot be used"),
        ("no words", "is no language model|cannot load .* for this kind of AutoModel"),
        ("quantised", "are quantised"),
        ("no weights", "has no safetensors weights"),
        ("cut short", "are cut short or damaged"),
        ("damaged weights", "are cut short or damaged"),
        ("a file of several is missing", "cannot be read"),
        ("weights of another width", "do not fit its config.json"),
        ("a table of another width", "do not fit its config.json"),
        ("fewer words than the config says", "do not fit its config.json"),
        ("heads that cannot be shared", "do not fit its config.json"),
        ("no tokenizer", "has no tokenizer that can be read"),
        ("damaged tokenizer", "has no tokenizer that can be read"),
    ],
)
def test_a_folder_with_a_fault_is_refused(fault, sentence, side, two, tmp_path):
    spoilt = folder(tmp_path / "spoilt", llama())
    spoil(spoilt, fault)
    name = f"{spoilt} + {two[1]}" if side == "target" else f"{two[0]} + {spoilt}"
    with pytest.raises(ModelUnavailable, match=sentence) as refused:
        load_pair(name).load_draft()
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def test_a_model_that_cannot_take_tokens_back(two, tmp_path):
    config = hf.MambaConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, state_size=8)
    with pytest.raises(ModelUnavailable, match="cannot take tokens back"):
        load_pair(f"{folder(tmp_path / 'mamba', hf.MambaForCausalLM(config))} + {two[1]}")


NO_FOLDERS = ["/nowhere/at/all", "./here", "~/models/mine", "~nobody-of-this-name/mine", "a/b/c", "/" + "a" * 300]


@pytest.mark.parametrize("name", NO_FOLDERS)
def test_a_folder_that_is_not_there(name, two):
    with pytest.raises(ModelUnavailable, match=f"There is no folder {name}"):
        load_pair(f"{name} + {two[1]}")


def test_ids_are_fetched_from_the_hub_and_the_progress_ends_it(two, monkeypatch):
    class Enough(Exception):
        pass

    asked = []

    def fetch(model_id, progress):
        asked.append(model_id)
        progress(0.5, "half of it")
        return two[0]

    monkeypatch.setattr(hub, "fetch", fetch)
    told = []
    pair = load_pair("them/model + them/draft", lambda *update: told.append(update))
    assert asked == ["them/model", "them/draft"] and told[:2] == [(0.4, "half of it"), (0.88, "half of it")]
    assert pair.target.label == "them/model" and pair.name == "them/model + them/draft"

    def stop(fraction, text):
        raise Enough

    with pytest.raises(Enough):
        load_pair("them/model + them/draft", stop)


def test_models_that_do_not_fit_in_memory(two, monkeypatch):
    monkeypatch.setattr(pairs, "free_memory", lambda device: 100_000)
    with pytest.raises(ModelUnavailable, match="target and .*draft need .* GB of memory, and .* has 0.0 GB free"):
        load_pair(f"{two[0]} + {two[1]}")
    monkeypatch.setattr(pairs, "free_memory", lambda device: None)
    assert load_pair(f"{two[0]} + {two[1]}")


def test_on_a_gpu_the_pair_names_the_precision_and_each_side_has_its_own_memory(two, monkeypatch):
    loaded, checked = [], []

    def record(folder, **options):
        loaded.append(options)
        return load_model(folder, **(options | {"device": "cpu"}))

    load_model = pairs.load_model
    monkeypatch.setattr(pairs, "load_model", record)
    monkeypatch.setattr(pairs, "target_device", lambda: "cuda")
    monkeypatch.setattr(pairs, "check_fit", lambda needs: checked.append(needs))
    pair = load_pair(f"{two[0]} + {two[1]}")
    assert (loaded[0]["precision"], loaded[0]["device"]) == ("bfloat16", "cuda")
    half = 2 * sum(p.numel() for p in llama().parameters())
    assert [[size for _, size in checked[0][device]] for device in ("cuda", "cpu")] == [[half, half], [half // 2]]
    pair.load_draft()
    assert loaded[1].get("device", "cpu") == "cpu"


def test_what_will_be_given_back_counts_as_free(two, monkeypatch):
    pair = load_pair(f"{two[0]} + {two[1]}")
    needed = pair.memory["cpu"]
    # The target in float32, and the draft in int8 twice.
    assert needed == (4 + 2 * 1) * sum(p.numel() for p in llama().parameters())
    monkeypatch.setattr(pairs, "free_memory", lambda device: needed - 1000)
    with pytest.raises(ModelUnavailable, match="need .* GB of memory"):
        pairs.check_room(f"{two[0]} + {two[1]}", {"cpu": 999})
    pairs.check_room(f"{two[0]} + {two[1]}", {"cpu": 1000})
    pairs.check_room("embedded")


@pytest.mark.parametrize("name", ["them/model + them/draft", "them/model + embedded"])
def test_a_pair_that_is_too_large_is_refused_before_its_weights_are_fetched(name, monkeypatch):
    monkeypatch.setattr(hub, "from_cache", lambda model: None)
    monkeypatch.setattr(hub, "outline", lambda model: (llama().config.to_dict(), 70_000_000_000))
    monkeypatch.setattr(hub, "fetch", lambda *arguments: pytest.fail("it was fetched"))
    with pytest.raises(ModelUnavailable, match="them/model and .* need .* GB of memory, and this machine has"):
        pairs.check_room(name)


def test_a_copy_of_a_hubs_model_is_looked_into_without_the_hub(two, monkeypatch):
    monkeypatch.setattr(hub, "from_cache", lambda model: two[0])
    monkeypatch.setattr(hub, "outline", lambda model: pytest.fail("the hub was asked"))
    pairs.check_room("them/model + them/draft")


def test_which_pairs_need_the_hub(two):
    assert not pairs.needs_the_hub("embedded") and not pairs.needs_the_hub(f"{two[0]} + {two[1]}")
    assert not pairs.needs_the_hub("./here + ~/there")
    assert pairs.needs_the_hub("smollm2-1.7b") and pairs.needs_the_hub(f"{two[0]} + them/draft")


def test_what_was_fetched_is_loaded_without_the_hub(two, monkeypatch):
    sources = pairs.fetch_pair(f"{two[0]} + {two[1]}")
    monkeypatch.setattr(pairs, "fetch_pair", lambda *arguments: pytest.fail("it was fetched again"))
    assert load_pair("them/model + them/draft", sources=sources).name == "them/model + them/draft"


def test_a_prompt_of_too_many_characters_is_refused_before_its_tokens_are_counted(two, monkeypatch):
    pair = load_pair(f"{two[0]} + {two[1]}")
    longest = max(len(token) for token in pair.tokenizer.get_vocab())
    most = pair.longest_prompt
    assert most == pair.target.context_limit * longest
    with pytest.raises(PromptError, match="too long: .* tokens"):
        pair.encode("a" * most, raw=True)
    monkeypatch.setattr(pair, "tokenizer", None)
    for prompt, before in (("a" * (most + 1), ()), ("a", [("a" * (most - 1), "a")])):
        with pytest.raises(PromptError, match=f"{most + 1:,} characters, and the model reads {most:,} at most"):
            pair.encode(prompt, before=before)
