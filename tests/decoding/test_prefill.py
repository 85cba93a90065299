"""On which cores the target reads the prompt."""

import pytest
import torch

from duoviz.decoding import METHODS
from duoviz.decoding.prefill import target_prefill
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores, on_cores
from tests.decoding.watching import PROMPT, watched
from tests.tiny import CORE, tiny_pair


@pytest.mark.parametrize("method", ["vanilla", "speculative", "prompt_lookup", "duotree"])
def test_a_target_that_keeps_to_its_share_has_all_cores_for_the_prompt_too(method):
    pair = tiny_pair()
    pair.cores = Cores(target=(CORE,), draft=(CORE + 1,))
    events = watched(pair)
    settings = Settings(overlap="beside", cores="target", max_new_tokens=9)
    with on_cores(pair.cores.target):
        list(METHODS[method].decode(pair, PROMPT, settings))
    target = [event[1:] for event in events if event[0] == "target"]
    assert target[:2] == [(128, 2), (52, 2)] and {threads for _, threads in target[2:]} == {1}


def test_the_prefill_forgets_what_was_read_before():
    pair = tiny_pair()
    alone, span = target_prefill(pair, PROMPT)
    assert torch.equal(target_prefill(pair, PROMPT)[0], alone) and pair.target.length == span.tokens == len(PROMPT)
