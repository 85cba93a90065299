"""Runs of transformers, with a real tokenizer and tiny models: its ids, its counts, a valid trace."""

import copy
import json

import pytest
import torch
from transformers import set_seed

from duoviz.adapters.transformers_runs import watch
from duoviz.errors import UserError
from duoviz.notebook import Run
from duoviz.trace.metrics import metrics
from duoviz.trace.reading import checked_trace
from tests.models.folders import llama, neox, tokenizer

PROMPTS = ["the cat sat", "a dog ran over the hill and saw the dog", "rivers flow into the sea and the sea and"]


def near(model, noise=0.05):
    """A copy that mostly agrees with the model."""
    torch.manual_seed(5)
    other = copy.deepcopy(model)
    for weights in other.parameters():
        weights.data += noise * weights.std() * torch.randn_like(weights)
    return other


PAIRS = {name: (make().eval(), near(make().eval())) for name, make in (("llama", llama), ("neox", neox))}
DRAFTS = {
    "assisted": lambda draft: {"assistant_model": draft},
    "prompt lookup": lambda draft: {"prompt_lookup_num_tokens": 4},
    "plain": lambda draft: {"stopping_criteria": None},
}


@pytest.mark.parametrize("sampling", [{"do_sample": False}, {"do_sample": True, "temperature": 0.7, "top_k": 20}])
@pytest.mark.parametrize("method", DRAFTS)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_ids_are_those_of_an_untouched_generate_and_the_trace_holds_them(pair, method, sampling):
    target, draft = PAIRS[pair]
    made, options = tokenizer(), {**DRAFTS[method](draft), **sampling, "max_new_tokens": 24, "pad_token_id": 0}

    def generated(seed, ids):
        set_seed(seed)
        return target.generate(input_ids=ids, **options)

    prompts = [made(prompt, return_tensors="pt")["input_ids"] for prompt in PROMPTS]
    untouched = [generated(seed, ids) for seed, ids in enumerate(prompts)]
    with watch(target, made) as traces:
        for seed, ids in enumerate(prompts):
            seen = generated(seed, ids)
            assert "generate" in vars(target) and torch.equal(seen, untouched[seed])
            new = seen[0, ids.shape[1] :].tolist()
            trace = checked_trace(json.loads(json.dumps(traces[-1])), "it")
            assert [token["id"] for each in trace["iterations"] for token in each["committed"]] == new
            figures = metrics(trace)
            assert figures["new_tokens"] == len(new) and 0 < figures["ttft"] <= figures["wall"]
            assert Run(trace).to_csv().count("\n") == len(trace["iterations"]) + 1
            assert trace["end"]["stopped"] == ("length" if len(new) == 24 else "eos")
            assert (
                trace["end"]["text"]
                == made.decode(seen[0], skip_special_tokens=True)[len(made.decode(ids[0], skip_special_tokens=True)) :]
            )
    assert len(traces) == len(PROMPTS) and "generate" not in vars(target)
    proposed = [trace for trace in traces if any(each["checked"][1:] for each in trace["iterations"])]
    assert bool(proposed) == (method != "plain")


@pytest.mark.parametrize("pair", PAIRS)
def test_accepted_and_probabilities_are_a_recount_from_the_engines_scores(pair):
    target, draft = PAIRS[pair]
    options = {"assistant_model": draft, "do_sample": False, "max_new_tokens": 24, "pad_token_id": 0}
    prompts = [torch.randint(3, 60, (1, 4 + seed), generator=torch.manual_seed(seed)) for seed in range(20)]
    untouched = [target.generate(ids, **options) for ids in prompts]
    with watch(target, tokenizer()) as traces:
        assert all(
            torch.equal(target.generate(ids, **options), own) for ids, own in zip(prompts, untouched, strict=True)
        )
    tested, kinds = 0, set()
    for ids, trace in zip(prompts, traces, strict=True):
        text = ids[0].tolist()
        for each in trace["iterations"]:
            chain = [node for node in each["checked"] if node["source"] == "draft"]
            logits = target(torch.tensor([text + [node["id"] for node in chain]])).logits[0, len(text) - 1 :]
            best = logits.argmax(-1).tolist()
            right = next((at for at, node in enumerate(chain) if node["id"] != best[at]), len(chain))
            # A text that ends within the chain has accepted no more of it.
            right = min(right, len(each["committed"]))
            kinds.add(each["verdict"]["outcome"])
            assert each["verdict"]["accepted"] == right == [node["status"] for node in chain].count("accepted")
            for at, node in enumerate(chain[: right + 1]):
                assert node["p"] == pytest.approx(logits[at].softmax(-1)[node["id"]].item(), abs=1e-4)
                assert 0 <= node["q"] <= 1
            tested += len(chain)
            text += [token["id"] for token in each["committed"]]
    assert tested > 200 and kinds >= {"hit", "rejection"}


@pytest.mark.parametrize("options", [{"num_beams": 2}, {"num_return_sequences": 2, "do_sample": True}, {}])
def test_what_is_not_one_run_is_refused_in_a_sentence(options):
    target, _ = PAIRS["llama"]
    ids = torch.ones(1 if options else 2, 3, dtype=torch.long)
    with watch(target, tokenizer()) as traces, pytest.raises(UserError, match="A trace shows one run"):
        target.generate(ids, **options)
    assert traces == []


def test_a_run_that_fails_leaves_what_it_wrote_and_the_next_one_is_seen():
    target, _ = PAIRS["llama"]
    ids = torch.ones(1, 3, dtype=torch.long)

    def fail(input_ids, scores, **options):
        if input_ids.shape[1] > 5:
            raise RuntimeError("no more")
        return torch.zeros(1, dtype=torch.bool)

    with watch(target, tokenizer()) as traces:
        with pytest.raises(RuntimeError, match="no more"):
            target.generate(ids, stopping_criteria=[fail], max_new_tokens=9, pad_token_id=0, eos_token_id=59)
        target.generate(ids, max_new_tokens=4, pad_token_id=0, eos_token_id=59)
    assert [metrics(trace)["new_tokens"] for trace in traces] == [2, 4]


def test_a_model_that_drafts_with_its_own_first_layers_is_one_run():
    target, ids = llama().eval(), torch.tensor([[5, 6, 7]])
    options = {"assistant_early_exit": 1, "max_new_tokens": 8, "pad_token_id": 0}
    untouched = target.generate(ids, **options)
    with watch(target, tokenizer()) as traces:
        assert torch.equal(target.generate(ids, **options), untouched)
    assert [metrics(trace)["new_tokens"] for trace in traces] == [8] and metrics(traces[0])["drafted"] > 0
    assert traces[0]["header"]["method"] == "transformers assisted"
