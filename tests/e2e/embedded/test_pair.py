"""The embedded pair: the right logits, and vanilla's text from DuoDecoding with its draft in a process."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.models.embedded import embedded_target
from duoviz.models.llama import load_llama
from tests.benchmarks.methods import questions
from tests.equality import judge, rounding_delta


def test_it_is_loaded_like_any_other(embedded_pair):
    assert embedded_pair.eos == {2} and embedded_pair.prompt_format is None
    assert embedded_pair.draft_label == "duoviz draft (int8)" and embedded_pair.target.context_limit == 8192
    assert embedded_pair.draft_version


def test_logits_equal_transformers_in_float32(embedded_pair):
    reference = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    ids = embedded_pair.encode("Name three rivers in Europe and the seas they flow into.")
    with torch.no_grad():
        expected = reference(torch.tensor([ids])).logits[0]
    model = embedded_pair.target
    model.crop(0)
    chunks = torch.cat([model.forward(ids[:20]), model.forward(ids[20:-1]), model.forward(ids[-1:])])
    assert (chunks - expected).abs().max() < 1e-3


@pytest.fixture(scope="module")
def exact():
    return load_llama(embedded_target(), precision="float64", label="exact", context_limit=1024)


@pytest.fixture(scope="module")
def delta(embedded_pair):
    return rounding_delta(embedded_pair.target, embedded_pair.encode("Tell me about the history of bread. " * 6))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(max_new_tokens=40),
        Settings(max_new_tokens=32, temperature=0.7, seed=1),
        Settings(max_new_tokens=32, temperature=1.3, top_k=50, top_p=0.9, seed=2),
    ],
)
def test_duodecoding_writes_vanillas_text(embedded_pair, exact, delta, settings):
    traces = []
    for prompt in questions(1)[1::3]:
        texts = []
        for method in ("vanilla", "duodecoding"):
            traces.append(runner.collect(runner.stream(embedded_pair, method, prompt, settings)))
            texts.append(runner.summary(traces[-1])["token_ids"])
        assert judge(exact, embedded_pair.encode(prompt), *texts, delta, settings.sampling) != "defect"
    accepted = sum(each["verdict"]["accepted"] for trace in traces for each in trace["iterations"])
    assert accepted > 5  # the draft is a real one


def test_the_same_seed_gives_the_same_text_whatever_the_timing(embedded_pair, exact, delta):
    settings, prompt = Settings(max_new_tokens=40, temperature=1.0, seed=6), "Tell me a story about a lighthouse."
    traces = [runner.collect(runner.stream(embedded_pair, "duodecoding", prompt, settings)) for _ in range(3)]
    texts = [runner.summary(trace)["token_ids"] for trace in traces]
    for text in texts[1:]:
        assert judge(exact, embedded_pair.encode(prompt), texts[0], text, delta, settings.sampling) != "defect"
    assert all(each["budget"] for trace in traces for each in trace["iterations"] if each["draft"])
