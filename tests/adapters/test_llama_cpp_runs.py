"""Runs of llama.cpp on tiny random models: the engine's own ids, and counts from its own calls."""

import json

import numpy as np
import pytest

from duoviz.trace.metrics import metrics
from duoviz.trace.reading import checked_trace
from tests.models.small_gguf import write_gguf

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed: it is no requirement")
speculative = pytest.importorskip("llama_cpp.llama_speculative")
watch = pytest.importorskip("duoviz.adapters.llama_cpp_runs").watch
PROMPT, TOKENS = [2, 3, 4, 5, 2, 3], 40


def model(file, noise=0.0, **options):
    """A random model; noise: how much its weights differ from those of the others."""
    same, other = np.random.default_rng(4), np.random.default_rng(5)

    def add(writer, name, rows):
        values = same.normal(0, 0.3, (rows, 32)) + noise * other.normal(0, 0.3, (rows, 32))
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))

    write_gguf(file, add)
    return llama_cpp.Llama(str(file), n_ctx=64, n_threads=1, verbose=False, **options)


class SmallModel(speculative.LlamaDraftModel):
    """Drafts with another model."""

    def __init__(self, llm):
        self.llm, self.drafts = llm, []

    def __call__(self, input_ids, /, **options):
        tokens = self.llm.generate(input_ids.tolist(), temp=0.0)
        self.drafts.append([next(tokens) for _ in range(3)])
        return np.array(self.drafts[-1], np.intc)


class Lookup(speculative.LlamaPromptLookupDecoding):
    """Prompt lookup that keeps what it found."""

    drafts: list

    def __call__(self, input_ids, /, **options):
        self.drafts.append((found := super().__call__(input_ids, **options)).tolist())
        return found


def written(llm, **options):
    tokens = llm.generate(PROMPT, **options)
    return [next(tokens) for _ in range(TOKENS)]


def drafter(kind, folder):
    if kind == "draft model":
        return SmallModel(model(folder / "small.gguf", noise=0.1))
    made = Lookup(num_pred_tokens=4, max_ngram_size=1) if kind == "prompt lookup" else None
    if made:
        made.drafts = []
    return made


@pytest.mark.parametrize("kind", ["plain", "prompt lookup", "draft model"])
def test_the_ids_are_the_engines_own_and_the_counts_those_of_its_calls(kind, tmp_path):
    alone = written(model(tmp_path / "alone.gguf"), temp=0.0)
    draft = drafter(kind, tmp_path)
    llm = model(tmp_path / "target.gguf", draft_model=draft)
    untouched = written(llm, temp=0.0)
    llm.reset()
    if draft:
        draft.drafts.clear()
    with watch(llm) as traces:
        assert written(llm, temp=0.0) == untouched == alone
    assert "eval" not in vars(llm) and llm.draft_model is draft
    trace = checked_trace(json.loads(json.dumps(traces[0])), "it")
    iterations = trace["iterations"]
    assert [token["id"] for each in iterations for token in each["committed"]] == alone
    assert trace["header"]["method"] == f"llama.cpp {kind}"
    # What the draft gave at each call, compared with what the target wrote from there on.
    place, accepted = 0, []
    for each, drafted in zip(iterations, [[], *(draft.drafts if draft else [[]] * TOKENS)], strict=False):
        nodes = [node for node in each["checked"] if node["source"] != "target"]
        assert [node["id"] for node in nodes] == drafted
        right = next((at for at, id in enumerate(drafted) if alone[place + at : place + at + 1] != [id]), len(drafted))
        accepted.append(right)
        assert each["verdict"]["accepted"] == right == [node["status"] for node in nodes].count("accepted")
        place += len(each["committed"])
    figures = metrics(trace)
    assert figures["accepted"] == sum(accepted) and figures["new_tokens"] == TOKENS
    assert {each["verdict"]["outcome"] for each in iterations} == ({"none", "hit", "rejection"} if draft else {"none"})


def test_a_sampled_completion_and_a_failed_one(tmp_path):
    llm = model(tmp_path / "target.gguf", draft_model=drafter("draft model", tmp_path))
    with watch(llm) as traces:
        made = llm(PROMPT, max_tokens=12, temperature=0.9, seed=3)
        with pytest.raises(ValueError, match="exceed context window"):
            llm([2] * 400, max_tokens=2)
    assert len(traces) == 1
    figures = metrics(checked_trace(json.loads(json.dumps(traces[0])), "it"))
    assert figures["new_tokens"] == made["usage"]["completion_tokens"] > 0 < figures["ttft"] < figures["wall"]
