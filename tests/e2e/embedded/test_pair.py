"""The embedded pair: the right logits, and vanilla's text from every method."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from duoviz import runner
from duoviz.comparison import agreed
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.models.embedded import embedded_target
from duoviz.models.sizes import LAYERS, PARAMETERS
from tests.benchmarks.harness import questions


def test_logits_equal_transformers_in_float32(embedded_engine):
    reference = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    assert (reference.num_parameters(), reference.config.num_hidden_layers) == (PARAMETERS, LAYERS)
    ids = embedded_engine.pair.encode("Name three rivers in Europe and the seas they flow into.")
    with torch.no_grad():
        expected = reference(torch.tensor([ids])).logits[0]
    model = embedded_engine.pair.target
    model.crop(0)
    chunks = torch.cat([model.forward(ids[:20]), model.forward(ids[20:-1]), model.forward(ids[-1:])])
    assert (chunks - expected).abs().max() < 1e-3


def run(engine, method, prompt, settings):
    trace = runner.collect(runner.stream(engine, method, prompt, settings))
    return runner.row(trace, method, 0)


SAMPLED = Settings(max_new_tokens=24, temperature=1.3, top_k=50, top_p=0.9, seed=2)
REPEATS = "Repeat after me, word for word: one two three four one two three four one two"


@pytest.mark.parametrize("settings", [Settings(max_new_tokens=24), SAMPLED])
def test_every_method_writes_vanillas_text(embedded_engine, settings):
    duo = []
    for prompt in (REPEATS, questions(1)[5]):
        vanilla, *others = (run(embedded_engine, method, prompt, settings) for method in METHODS)
        for row in others:
            assert agreed(embedded_engine, vanilla, row)["verdict"] in ("equal", "tie"), row["method"]
            duo += row["trace"]["iterations"] if row["method"] == "duodecoding" else []
    accepted, tested = (sum(each["verdict"][name] for each in duo) for name in ("accepted", "tested"))
    # The draft is a real one; on a busy machine most tokens may be there before it has read the prompt.
    assert accepted > 0.1 * tested or tested < 20
