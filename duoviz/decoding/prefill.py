"""The prefill: the target reads the prompt."""

from collections.abc import Sequence
from contextlib import nullcontext

from torch import Tensor

from duoviz.decoding.iteration import Span, timed_prefill
from duoviz.decoding.runtime import runtime
from duoviz.models.cores import on_cores
from duoviz.models.pair import Pair


def target_prefill(pair: Pair, prompt_ids: Sequence[int]) -> tuple[Tensor, Span]:
    """The logits [1, vocab] after the prompt, and when they were computed. Raises Stopped.

    A target on the processor reads with all cores, whatever its share of them is from then on: nobody drafts yet,
    and everybody waits for the first token.
    """
    target = pair.target
    with on_cores(pair.cores.all) if target.device == "cpu" else nullcontext():
        target.crop(0)
        return timed_prefill(target, prompt_ids, stopped=runtime(pair).stopped)
