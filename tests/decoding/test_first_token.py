"""Who reads the prompt when: nothing delays the first token."""

import pytest
import torch

from duoviz.decoding import METHODS
from duoviz.decoding.iteration import PREFILL_CHUNK
from duoviz.decoding.runtime import runtime
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores
from tests.decoding.proposals import check_first
from tests.decoding.watching import PROMPT, watched
from tests.tiny import CORE, tiny_pair

BESIDE = ["duodecoding", "duotree"]


@pytest.mark.parametrize("method", ["speculative", "prompt_lookup", "lookahead", *BESIDE])
def test_the_target_reads_the_prompt_before_anything_is_proposed(method):
    pair = tiny_pair()
    events = watched(pair)
    first = next(METHODS[method].decode(pair, PROMPT, Settings(overlap="beside", max_new_tokens=9)))
    check_first(first, PROMPT)
    assert [event[:2] for event in events] == [("target", PREFILL_CHUNK), ("target", len(PROMPT) - PREFILL_CHUNK)]


@pytest.mark.parametrize("method", BESIDE)
def test_a_target_beside_its_draft_has_all_cores_for_the_prompt_and_its_share_after(method):
    pair = tiny_pair()
    pair.cores = Cores(target=(CORE,), draft=(CORE + 1,))
    events = watched(pair)
    run = METHODS[method].decode(pair, PROMPT, Settings(overlap="beside", max_new_tokens=9))
    next(run)
    first = next(place for place, event in enumerate(events) if event[0] == "target")
    assert events[first : first + 2] == [("target", 128, 2), ("target", 52, 2)]
    list(run)
    assert {event[2] for event in events[first + 2 :] if event[0] == "target"} == {1}
    assert ("draft", 128) in events[first + 2 :]


@pytest.mark.parametrize("method", BESIDE)
def test_a_draft_beside_another_device_reads_the_prompt_at_once(method, monkeypatch):
    pair = tiny_pair()
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    pair.target.device = "cuda"
    target, draft, events = pair.target, runtime(pair).draft, []
    told = "submit" if method == "duodecoding" else "grow"
    forward, tell = target.forward, getattr(draft, told)

    def on_the_processor(ids, **options):
        events.append("target")
        target.device = "cpu"
        logits = forward(ids, **options)
        target.device = "cuda"
        return logits

    def watched_tell(request):
        events.append(getattr(request, "new_tokens", None) or request.tokens)
        return tell(request)

    target.forward = on_the_processor
    setattr(draft, told, watched_tell)
    next(METHODS[method].decode(pair, PROMPT, Settings(overlap="beside", max_new_tokens=9)))
    assert events[: events.index("target")] == [tuple(PROMPT)]
